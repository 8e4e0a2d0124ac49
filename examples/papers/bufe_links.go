package main

import (
	"context"
	"fmt"
	"math"

	"gonum.org/v1/gonum/floats"

	"gonum.org/v1/gonum/mat"

	"github.com/topocast/topocast/internal/cli"
	"github.com/topocast/topocast/internal/outcome"
	"github.com/topocast/topocast/internal/quantity"
	"github.com/topocast/topocast/internal/stats"
	"github.com/topocast/topocast/measure"
	"github.com/topocast/topocast/measure/throughput"
	"github.com/topocast/topocast/mpi"
	"github.com/topocast/topocast/topology"
	"github.com/topocast/topocast/topology/clique"
	"github.com/topocast/topocast/topology/latencyfit"
	"github.com/topocast/topocast/topology/linkage"
)

// bufeLinks are latencies of messages of two sizes, in s, and the wiring found in the shorter ones, with what its links carry.
type bufeLinks struct {
	short, long *mat.Dense
	bytes       int64
	found       *topology.Result
	rated       *topology.Graph
	rates       []float64 // B/s, of the links that were measured
	truth       []float64 // s between the ranks; nil: not known
}

// readLinks measures two sizes, finds the wiring and measures what its links carry. It is collective; others than rank 0
// get nil. Of real ranks, whose readings are seldom quiet enough for cliques, the wiring is that of package linkage.
func (o *bufeOptions) readLinks(ctx context.Context, comm mpi.Communicator) (*bufeLinks, error) {
	r, err := measure.Run(ctx, comm, &measure.Settings{Sizes: []int{bufeShort, int(o.long)}, Repetitions: repeats, Samples: o.samples, Seed: 1, Budget: o.budget.next()})
	if err != nil {
		return nil, err
	}
	var l *bufeLinks
	s := &throughput.Settings{What: throughput.NodeNode | throughput.NodeSwitch | throughput.SwitchSwitch, Budget: o.budget.next()}
	if comm.Rank() == 0 {
		l = &bufeLinks{bytes: o.long, truth: o.truth}
		if l.short, err = r.Typical(measure.Median, 0); err == nil {
			l.long, err = r.Typical(measure.Median, 1)
		}
		var method topology.Reconstructor = &clique.Switches{Epsilon: o.eps}
		if !o.quiet {
			method = &linkage.Robust{}
		}
		if err == nil && math.IsNaN(middleOf(l.short)) {
			err = fmt.Errorf("no pair was measured in the time that there was: want a larger --budget")
		}
		if err == nil {
			l.found, err = method.Reconstruct(l.short)
		}
		if err == nil {
			s.Topology = l.found
		}
	}
	if err := cli.Agree(comm, "bufe: wiring", err); err != nil {
		return nil, err // others of several experiments go on, if it is input
	}
	carried, err := throughput.Measure(ctx, comm, s)
	if err != nil || comm.Rank() != 0 {
		return nil, err
	}
	// The network that is measured along has no switches of weak groups.
	arcs := append([]topology.Arc{}, carried.Graph.Arcs()...)
	for i, link := range carried.Links {
		if arcs[i].Bandwidth = link.Rate; !math.IsNaN(link.Rate) {
			l.rates = append(l.rates, link.Rate)
		}
	}
	l.rated, err = carried.Graph.WithArcs(arcs)
	return l, err
}

// report is the table of both corrections beside none.
func (l *bufeLinks) report(s *outcome.Section, what string) error {
	s.Say("Of %s: messages of %s, whose time on the links is taken out before those are fitted (equations 1.3 and 2.8): over the slowest link of the path (cut-through), or over each of its links (store-and-forward). Links carry %s in the median. Medians of the residuals, and, as a check that needs no truth, of what corrected latencies are off those of %d B. R2 is low where all latencies are alike: there is nothing to explain.",
		what, quantity.Bytes(l.bytes), quantity.Rate(stats.MiddleMedian(append([]float64{}, l.rates...))), bufeShort)
	columns := []outcome.Column{outcome.Text("taken out"), outcome.Number("R2", "%"), outcome.Number("residual", "%"), outcome.Number("off short", "%")}
	if l.truth != nil {
		columns = append(columns, outcome.Number("off truth", "%"), outcome.Number("worst", "%"))
	}
	t := s.Table("corrections", columns...)
	for _, way := range []struct {
		name     string
		delay    func(perLink []float64) float64 // s
		settings latencyfit.Settings
	}{
		{"cut-through", cutThrough, latencyfit.Settings{Bytes: float64(l.bytes)}},
		{"store-and-forward", floats.Sum, latencyfit.Settings{Bytes: float64(l.bytes), StoreAndForward: true}},
		{"none", func([]float64) float64 { return 0 }, latencyfit.Settings{}},
	} {
		fitted, err := latencyfit.Latencies(l.rated, nil, l.long, &way.settings)
		if err != nil {
			return err
		}
		off, err := l.offShort(way.delay)
		if err != nil {
			return err
		}
		cells := []any{way.name, percent(fitted.Fit.R2), 100 * fitted.Fit.Residual, 100 * off}
		if l.truth != nil {
			median, most := apart(fitted.Graph.HostDistances(), l.truth)
			cells = append(cells, 100*median, 100*most)
		}
		t.Row(cells...)
		if way.name == "cut-through" && len(fitted.Undetermined) > 0 {
			s.Say("Of %d directions of links only sums with others are known.", len(fitted.Undetermined))
		}
	}
	return nil
}

// percent is a coefficient of determination, without a sign of what is nothing.
func percent(x float64) float64 {
	if x = 100 * x; math.Abs(x) < 0.005 {
		return 0
	}
	return x
}

// cutThrough is what a message takes on a path whose switches cut through: its time on the slowest link, in s.
func cutThrough(perLink []float64) float64 {
	most := 0.0
	for _, seconds := range perLink {
		most = math.Max(most, seconds)
	}
	return most
}

// offShort is the median share by which long messages, corrected, differ from short ones. What a message takes on the
// links is taken out of its time, as delay says, and at least nothing is left (Bufe 2014, eq. 1.3 and section 2.4).
func (l *bufeLinks) offShort(delay func(perLink []float64) float64) (float64, error) {
	routes, err := topology.NewRoutes(l.rated, topology.ChooseLowest)
	if err != nil {
		return 0, err
	}
	var off, perLink []float64
	var path []int32
	for i := range l.rated.Hosts() {
		for j := range l.rated.Hosts() {
			long, short := l.long.At(i, j), l.short.At(i, j)
			if path, err = routes.AppendRoute(path[:0], i, j); i == j || err != nil || math.IsNaN(long) || math.IsNaN(short) {
				continue
			}
			perLink = perLink[:0]
			for _, arc := range path {
				if rate := l.rated.Arcs()[arc].Bandwidth; !math.IsNaN(rate) {
					perLink = append(perLink, float64(l.bytes)/rate)
				}
			}
			off = append(off, math.Abs(math.Max(0, long-delay(perLink))-short)/short)
		}
	}
	return stats.MiddleMedian(off), nil
}

// apart is by what share distances differ from others, in the median and at most.
func apart(found, truth []float64) (median, most float64) {
	var off []float64
	for i, v := range truth {
		if v > 0 && !math.IsInf(v, 1) {
			d := math.Abs(found[i]-v) / v
			off, most = append(off, d), max(most, d)
		}
	}
	return stats.MiddleMedian(off), most
}

// regressions are those of the printed tables, whose bandwidths nobody knows.
func (o *bufeOptions) regressions(s *outcome.Section, tables []modelled) error {
	s.Say("The printed tables, by least squares over the wiring that cliques give (equations 2.4 and 2.8). The source prints no R2 of them.")
	t := s.Table("regressions", outcome.Text("latencies"), outcome.Number("links", ""), outcome.Number("R2 of cliques", "%"), outcome.Number("R2 by regression", "%"), outcome.Number("median residual", "%"))
	for _, x := range tables {
		r, err := (&clique.Switches{Epsilon: o.eps}).Reconstruct(x.latencies)
		if err != nil {
			return err
		}
		fitted, err := latencyfit.Latencies(r.Graph, r.Hierarchy, x.latencies, &latencyfit.Settings{Plain: true})
		if err != nil {
			return fmt.Errorf("%s: %w", x.what, err)
		}
		t.Row(x.what, r.Graph.NumArcs()/2, percent(r.Fit.R2), percent(fitted.Fit.R2), 100*fitted.Fit.Residual)
	}
	return nil
}
