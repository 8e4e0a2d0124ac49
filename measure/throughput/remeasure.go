package throughput

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/mat"

	"github.com/topocast/topocast/measure/harness"
	"github.com/topocast/topocast/measure/pingpong"
	"github.com/topocast/topocast/model"
	"github.com/topocast/topocast/model/fit"
	"github.com/topocast/topocast/mpi"
	"github.com/topocast/topocast/topology"
	"github.com/topocast/topocast/topology/latencyfit"
)

// RemeasureSettings of Remeasure. Those of rank 0 count; other ranks may pass nil.
type RemeasureSettings struct {
	harness.Control // half of the budget is for latencies; Progress counts the steps of a part

	// Network is what is to be measured again. Its ranks are those of the communicator, in
	// their order: model.Network.View makes it so.
	Network *model.Network

	// LatencySamples are those of each measurement of a latency. Default 100: few pairs are measured, so each
	// may take longer than when the network was made.
	LatencySamples int

	// Sizes in bytes of the messages that are timed alone, besides the one that gave the network's
	// latencies. Default 64 KiB and 1 MiB.
	Sizes []int

	// Switches and Load are what rates are measured, and how, as in Settings.
	Switches bool
	Load

	// Measured is kept in the network, see fit.Remeasurement.
	Measured model.Metadata
}

// A Remeasured is a network with what was measured anew.
type Remeasured struct {
	Network   *model.Network
	Latencies []fit.Observation // of single messages, half round trips
	Rates     *Result
	Steps     int             // of latencies
	Stopped   harness.Stopped // why it ended early, or ""
	Warnings  []string        // what is weak; in the network, too
}

const (
	remeasureSamples = 100
	budgetShare      = 2 // of the budget, that latencies may take
)

// Remeasure measures the latencies and rates of a known network again, along its
// wiring (Bufe 2014, section 2.5): few pairs, longer each, and only such at once as do
// not meet. Links between hosts are measured in the rounds of their edges; hosts of one switch
// one pair after the other, around a ring of odd length, which determines their
// links (section 2.4); links between switches by one pair each. The latencies of links come of
// least squares over all these. It is collective; the settings of rank 0 count, and the
// result is nil on other ranks.
//
// The end of the context or of the budget ends it early: what was not measured stays as it
// was. The fit takes 8 bytes per pair of ranks on rank 0.
func Remeasure(ctx context.Context, comm mpi.Communicator, settings *RemeasureSettings) (*Remeasured, error) {
	s := *cmp.Or(settings, &RemeasureSettings{})
	return harness.Conduct(ctx, comm, s.Silence, func(c *harness.Conductor) (*Remeasured, error) { return remeasure(c, &s) })
}

// latencyPlan is what all ranks need to know.
type latencyPlan struct {
	Sizes   []int `json:"sizes_B"`
	Samples int   `json:"samples"`
}

func remeasure(c *harness.Conductor, s *RemeasureSettings) (*Remeasured, error) {
	left := harness.Remaining(c.Comm, s.Budget)
	own := &harness.Settings{Control: s.Control}
	p, err := harness.Share(c.Comm, c, func() (p latencyPlan, err error) {
		if err = s.validate(c.Comm.Size()); err == nil {
			own.Chosen, err = contentionFree(s.Network.Graph())
		}
		return latencyPlan{s.Sizes, s.LatencySamples}, err
	})
	if err != nil {
		return nil, err
	}
	var latencies []fit.Observation
	own.Budget = (s.Budget + 1) / budgetShare
	own.Deliver = func(rows []harness.Row, _ harness.Progress) {
		for _, row := range rows {
			for x := range slices.Chunk(row.Values, 2) {
				if bytes, seconds := x[0], x[1]; seconds > 0 {
					latencies = append(latencies, fit.Observation{
						Transfers: []model.Transfer{{Src: row.From, Dst: row.To, Bytes: int64(bytes)}},
						Seconds:   []float64{seconds},
					})
				}
			}
		}
	}
	outcome, err := c.AllPairs(latencyTest(pingpong.New(c.Comm, slices.Max(p.Sizes), p.Samples), p.Sizes), own)
	if err != nil {
		return nil, fmt.Errorf("throughput: latencies: %w", err)
	}
	rates := &Settings{Control: s.Control, Switches: s.Switches, Load: s.Load}
	if outcome != nil { // on rank 0
		rates.wiring = s.Network.Graph()
	}
	rates.Budget = left(1)
	found, err := measure(c, rates)
	if err != nil {
		return nil, err
	}
	var r *Remeasured
	if outcome != nil {
		r = &Remeasured{Latencies: latencies, Rates: found, Steps: outcome.Rounds, Stopped: cmp.Or(outcome.Stopped, found.Stopped), Warnings: found.Warnings}
		err = r.put(s)
	}
	if err := harness.Agree(c.Comm, err); err != nil {
		return nil, err
	}
	return r, nil
}

// validate fills in defaults.
func (s *RemeasureSettings) validate(ranks int) error {
	if s.Network == nil {
		return fmt.Errorf("throughput: RemeasureSettings.Network: nil: want the network to measure")
	}
	s.LatencySamples = cmp.Or(s.LatencySamples, remeasureSamples)
	if s.Sizes == nil {
		s.Sizes = []int{64 << 10, 1 << 20}
	}
	short := s.Network.Measured().Bytes
	s.Sizes = append([]int{int(short)}, slices.DeleteFunc(slices.Clone(s.Sizes), func(x int) bool { return int64(x) == short })...)
	for _, x := range s.Sizes {
		if x < 0 || x > maxSize {
			return fmt.Errorf("throughput: RemeasureSettings.Sizes: %d: want in [0, %d]", x, maxSize)
		}
	}
	switch {
	case s.Network.Ranks() != ranks:
		return fmt.Errorf("throughput: RemeasureSettings.Network: of %d ranks, the job has %d: take a view of it", s.Network.Ranks(), ranks)
	case s.LatencySamples < 1 || s.LatencySamples > maxMessages:
		return fmt.Errorf("throughput: RemeasureSettings.LatencySamples: %d: want in [1, %d]", s.LatencySamples, maxMessages)
	case s.Budget < 0:
		return fmt.Errorf("throughput: RemeasureSettings.Budget: %v: want at least 0", s.Budget)
	}
	return s.Load.validate()
}

// latencyTest measures single messages of some sizes: of each the lower quartile of half round trips, which disturbances
// do not reach. It appends sizes and times. Each pair warms up by itself.
func latencyTest(probe *pingpong.Probe, sizes []int) *harness.Test {
	return &harness.Test{
		WarmUp: func(int) error { return nil },
		Exchange: func(found []float64, peer, _ int) ([]float64, error) {
			if err := probe.WarmUp(peer, sizes[:1]); err != nil {
				return nil, err
			}
			for _, size := range sizes {
				s, err := probe.Pair(peer, size)
				if err != nil {
					return nil, err
				}
				found = append(found, float64(size), s.Q1)
			}
			return found, nil
		},
	}
}

// contentionFree are rounds of pairs for the latencies of all links. Where the wiring tells of none, all pairs are measured.
func contentionFree(g *topology.Graph) ([][][2]int, error) {
	c, err := newCampaign(&Settings{wiring: g})
	if err != nil {
		return nil, err
	}
	rounds := c.edgeRounds()
	for _, batch := range apart(c.fans(2)) {
		rounds = append(rounds, roundsOfAll(batch, func(f fan) [][][2]int { return oneByOne(oddRing(f.hosts)) })...)
	}
	var pairs [][2]int
	for _, x := range findCrossings(g, 1) {
		pairs = append(pairs, slices.Concat(x.Pairs, x.Other)...)
	}
	return append(rounds, harness.Greedy(pairs, func(p [2]int) []int { return c.needs([][2]int{p}) })...), nil
}

// oddRing pairs the hosts of a switch around a ring, of odd length, or else the first with the third, too: sums
// around an even ring leave their parts open (Bufe 2014, section 2.4, equation 2.7).
func oddRing(hosts []int) [][2]int {
	n := len(hosts)
	var pairs [][2]int
	for i := range n - 1 {
		pairs = append(pairs, [2]int{hosts[i], hosts[i+1]})
	}
	if n > 2 {
		pairs = append(pairs, [2]int{hosts[0], hosts[n-1]})
	}
	if n > 2 && n%2 == 0 {
		pairs = append(pairs, [2]int{hosts[0], hosts[2]})
	}
	return pairs
}

// put makes the network with what was measured.
func (r *Remeasured) put(s *RemeasureSettings) error {
	n := s.Network
	links, err := r.links(n, s.Sizes[0])
	if err != nil {
		return err
	}
	for i, l := range r.Rates.Links {
		old := n.Graph().Arcs()[i].Bandwidth
		if l.Rate > 0 && !(l.AtLeast && old > l.Rate) {
			links[i].Bandwidth = l.Rate
		}
	}
	r.Network, err = fit.Update(n, &fit.Remeasurement{
		Observations: r.Latencies, Links: links, Warnings: r.Warnings, Measured: s.Measured,
	})
	return err
}

// links are the arcs of the network with the latencies that explain the readings
// best, and no bandwidth.
func (r *Remeasured) links(n *model.Network, short int) ([]topology.Arc, error) {
	ranks := n.Ranks()
	measured := mat.NewDense(ranks, ranks, slices.Repeat([]float64{math.NaN()}, ranks*ranks))
	read := false
	for _, o := range r.Latencies {
		if t := o.Transfers[0]; int(t.Bytes) == short {
			measured.Set(t.Src, t.Dst, o.Seconds[0])
			read = true
		}
	}
	links := slices.Clone(n.Graph().Arcs())
	for i := range links {
		links[i].Latency, links[i].Bandwidth = math.NaN(), math.NaN()
	}
	if !read {
		return links, nil
	}
	fitted, err := latencyfit.Latencies(n.Graph(), nil, measured, nil)
	if err != nil {
		return nil, fmt.Errorf("throughput: remeasure: %w", err)
	}
	for i, a := range fitted.Graph.Arcs() {
		links[i].Latency = a.Latency
	}
	r.Warnings = append(r.Warnings, fitted.Warnings...)
	return links, nil
}
