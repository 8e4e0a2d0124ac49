package main

import (
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"

	"github.com/topocast/topocast/internal/cli"
	"github.com/topocast/topocast/internal/jsonfile"
	"github.com/topocast/topocast/measure"
	"github.com/topocast/topocast/measure/concurrent"
	"github.com/topocast/topocast/measure/harness"
	"github.com/topocast/topocast/model"
	"github.com/topocast/topocast/model/contention"
	"github.com/topocast/topocast/model/fit"
	"github.com/topocast/topocast/mpi"
	"github.com/topocast/topocast/topology"
)

// zhuSeed is that of the random patterns.
const zhuSeed = 1

// leastHosts is how many hosts the experiment wants: those of the exchange.
const leastHosts = 4

// wantHosts refuses ranks on fewer hosts. It is collective.
func wantHosts(comm mpi.Communicator) error {
	places, err := mpi.GatherPlaces(comm)
	if err != nil {
		return err
	}
	if comm.Rank() == 0 {
		hosts := make(map[string]bool)
		for _, p := range places {
			hosts[p.Host] = true
		}
		if len(hosts) < leastHosts {
			err = fmt.Errorf("%d hosts: want %d at least; --sim simulates some", len(hosts), leastHosts)
		}
	}
	return cli.Agree(comm, "zhu: hosts", err)
}

// A zhuExperiment is what is to be measured of a discovered machine, and what was.
type zhuExperiment struct {
	o       *zhuOptions
	found   *measure.Discovery
	ranksOf [][]int // of each host
	random  *rand.Rand
	fit     [][]model.Transfer
	single  []zhuSweep
	rows    []zhuRow
	held    []zhuPattern

	order []zhuTurn // in which they are measured
}

// A zhuPattern is held out of the fit.
type zhuPattern struct {
	row       int
	transfers []model.Transfer
}

// design makes the patterns.
func (o *zhuOptions) design(found *measure.Discovery) (*zhuExperiment, error) {
	z := &zhuExperiment{o: o, found: found, ranksOf: hostsInTurn(found)}
	hosts := len(z.ranksOf)
	nodes := o.nodes
	if len(nodes) == 0 {
		nodes = []int{hosts}
	}
	z.fit = concurrent.ForDiscover(found.Topology, o.bytes, o.fit, zhuSeed)
	z.single = z.sweeps()
	z.random = rand.New(rand.NewPCG(zhuSeed, 3))
	for _, d := range o.degrees {
		for _, n := range nodes {
			if n > hosts {
				return nil, fmt.Errorf("%d hosts: there are %d", n, hosts)
			}
			z.draw(len(z.rows), n, d, o.trials)
			z.rows = append(z.rows, zhuRow{Hosts: n, Degree: d})
		}
	}
	// 1 to 6 units: as large in the mean as the others.
	const meanUnits = 3
	z.held = append(z.held, zhuPattern{len(z.rows), concurrent.Alltoallv(z.neighbours(), max(1, o.bytes/meanUnits))})
	z.rows = append(z.rows, zhuRow{Hosts: leastHosts, Exchange: true})
	// If time runs out, all rows have something.
	z.random.Shuffle(len(z.held), func(i, j int) { z.held[i], z.held[j] = z.held[j], z.held[i] })
	z.deal()
	return z, nil
}

// draw adds random patterns of a row, with more transfers than that.
func (z *zhuExperiment) draw(row, hosts, d, transfers int) {
	for n := 0; n <= transfers; {
		p := concurrent.RandomPattern(z.random, z.ranksOf[:hosts], d, z.o.bytes)
		n += len(p)
		z.held = append(z.held, zhuPattern{row, p})
	}
}

// hostsInTurn are the ranks of each host, the hosts taken in turn from the parts of the machine,
// so that the first n are of as many racks, as evenly, as can be.
func hostsInTurn(found *measure.Discovery) [][]int {
	h := found.Topology.Hierarchy.Firm(topology.FirmSupport)
	index := make(map[string]int)
	var hosts [][]int
	for rank, name := range found.Latencies.Hosts {
		i, known := index[name]
		if !known {
			i = len(hosts)
			index[name] = i
			hosts = append(hosts, nil)
		}
		hosts[i] = append(hosts[i], rank)
	}
	// The parts are the root's groups that hold more than one host, and the rest.
	groups := h.Groups()
	parts := make([][][]int, len(groups[0].Children)+1)
	for _, ranks := range hosts {
		part := slices.IndexFunc(groups[0].Children, func(c int) bool { return slices.Contains(groups[c].Hosts, ranks[0]) })
		if part < 0 || len(groups[groups[0].Children[part]].Hosts) <= len(ranks) {
			part = len(parts) - 1
		}
		parts[part] = append(parts[part], ranks)
	}
	var all [][]int
	for k := 0; len(all) < len(hosts); k++ {
		for _, part := range parts {
			if k < len(part) {
				all = append(all, part[k])
			}
		}
	}
	return all
}

// neighbours are the ranks of four hosts of one rack, if one has four.
func (z *zhuExperiment) neighbours() [leastHosts][]int {
	groups := z.found.Topology.Hierarchy.Firm(topology.FirmSupport).Groups()
	for i := len(groups) - 1; i >= 0; i-- { // the smallest last, all hosts first
		var within [][]int
		for _, own := range z.ranksOf {
			if slices.Contains(groups[i].Hosts, own[0]) {
				within = append(within, own)
			}
		}
		if len(within) >= leastHosts {
			return [leastHosts][]int(within)
		}
	}
	return [leastHosts][]int(z.ranksOf)
}

// A zhuLaw predicts patterns.
type zhuLaw struct {
	name      string
	predictor *model.Predictor
	steps     *model.Predictor // without latencies, so that equal ends are equal
	printed   *zhuPrintedLaw   // predicts in place of both; nil: they predict
}

// times predicts the times in s of transfers that begin together.
func (l zhuLaw) times(transfers []model.Transfer) ([]float64, error) {
	if l.printed != nil {
		times, _, err := l.printed.times(transfers)
		return times, err
	}
	return l.predictor.Predict(nil, transfers)
}

func newLaw(name string, n *model.Network, sharing *contention.Sharing) (zhuLaw, error) {
	l := zhuLaw{name: name}
	var err error
	if l.predictor, err = n.NewPredictor(&model.PredictSettings{Sharing: sharing}); err == nil {
		l.steps, err = n.NewPredictor(&model.PredictSettings{Sharing: sharing, NoLatency: true})
	}
	return l, err
}

// The laws, in the order of the tables. Truth is that of a simulated cluster only, and what is printed that of the paper's.
const (
	lawFair = iota
	lawAsymmetric
	lawFitted
	lawTruth
	lawPrinted
)

// laws are the models to compare. The pure ones know the bandwidths of the fitted one: those of
// uplinks show when several messages cross them only.
func (z *zhuExperiment) laws(observed []fit.Observation) ([]zhuLaw, []string, error) {
	single := append(z.found.Latencies.Observations(), z.found.Bandwidths.Observations()...)
	settings := &fit.Settings{Network: model.Settings{Locations: z.found.Latencies.Locations()}}
	fitted, err := fit.Network(z.found.Topology, append(single, observed...), settings)
	if err != nil {
		return nil, nil, err
	}
	type source struct {
		name    string
		n       *model.Network
		sharing *contention.Sharing
	}
	sources := []source{
		{"fair", fitted.Network, &contention.Sharing{}},
		{"asymmetric", fitted.Network, &contention.Sharing{Asymmetric: true}},
		{"fitted", fitted.Network, nil},
	}
	if c := z.o.cluster; c != nil {
		truth, err := model.FromGraph(c.Graph, c.Routing)
		if err != nil {
			return nil, nil, err
		}
		sources = append(sources, source{"truth", truth, &z.o.sharing.Sharing})
	}
	var laws []zhuLaw
	for _, s := range sources {
		l, err := newLaw(s.name, s.n, s.sharing)
		if err != nil {
			return nil, nil, err
		}
		laws = append(laws, l)
	}
	if z.o.like {
		p := new(zhuPrintedLaw)
		for host := range z.ranksOf {
			for _, rank := range z.ranksOf[host] {
				p.place(rank, z.o.cluster.Node[rank])
			}
		}
		laws = append(laws, zhuLaw{name: "as printed", printed: p})
	}
	return laws, fitted.Warnings, nil
}

// evaluate predicts what was measured, by the order of the patterns, as far as there was time.
func (z *zhuExperiment) evaluate(r *concurrent.Result) (*zhuReport, error) {
	var train []concurrent.Pattern
	held := 0
	for i := range r.Patterns {
		switch z.order[i].kind {
		case toFit:
			train = append(train, r.Patterns[i])
		case toHold:
			held++
		}
	}
	if held == 0 {
		text := fmt.Sprintf("%d of %d patterns to fit to were measured before the %s ended, and none to predict", len(train), len(z.fit), r.Stopped)
		if r.Stopped == harness.StoppedByBudget {
			text += ": want a larger --budget"
		}
		return nil, errors.New(text)
	}
	laws, warnings, err := z.laws((&concurrent.Result{Patterns: train}).Observations())
	if err != nil {
		return nil, err
	}
	report := &zhuReport{Fitted: len(train), Warnings: append(slices.Clone(r.Warnings), warnings...)}
	for _, l := range laws {
		report.Laws = append(report.Laws, l.name)
	}
	rows := slices.Clone(z.rows)
	for i := range r.Patterns {
		pattern, turn := &r.Patterns[i], z.order[i]
		switch turn.kind {
		case toSweep:
			sweep := z.single[turn.index]
			if err := sweep.add(pattern, laws); err != nil {
				return nil, err
			}
			report.Single = append(report.Single, sweep)
		case toHold:
			row := &rows[z.held[turn.index].row]
			if err := row.add(pattern, laws, z.isMixed(pattern.Transfers)); err != nil {
				return nil, err
			}
		}
	}
	for _, row := range rows {
		if row.Patterns > 0 {
			row.sum(len(laws))
			report.Rows = append(report.Rows, row)
		}
	}
	report.sum(len(laws))
	return report, nil
}

// isMixed tells whether a link of a host or of a group is used both ways.
func (z *zhuExperiment) isMixed(pattern []model.Transfer) bool {
	sets := slices.Clone(z.ranksOf)
	for _, g := range z.found.Topology.Hierarchy.Firm(topology.FirmSupport).Groups()[1:] {
		sets = append(sets, g.Hosts)
	}
	for _, set := range sets {
		in, out := false, false
		for _, t := range pattern {
			from, to := slices.Contains(set, t.Src), slices.Contains(set, t.Dst)
			in, out = in || to && !from, out || from && !to
		}
		if in && out {
			return true
		}
	}
	return false
}

// add takes up a measured pattern.
func (row *zhuRow) add(p *concurrent.Pattern, laws []zhuLaw, mixed bool) error {
	row.Patterns++
	row.Trials += len(p.Transfers)
	first := len(row.transfers)
	for i, t := range p.Transfers {
		row.transfers = append(row.transfers, zhuTransfer{
			Src: t.Src, Dst: t.Dst, Bytes: t.Bytes, Pattern: row.Patterns - 1, Measured: p.Times[i].Median, Width: jsonfile.Known(2 * p.Times[i].HalfWidth), Mixed: mixed,
		})
	}
	for k, l := range laws {
		if l.printed != nil {
			times, steps, err := l.printed.times(p.Transfers)
			if err != nil {
				return err
			}
			for i, t := range times {
				x := &row.transfers[first+i]
				x.Predicted = append(x.Predicted, t)
			}
			row.Steps += float64(steps)
			continue
		}
		predicted, err := l.predictor.Prediction(p.Transfers, zhuCoverage)
		if err != nil {
			return err
		}
		for i := range p.Transfers {
			x := &row.transfers[first+i]
			x.Predicted = append(x.Predicted, predicted.Completion[i])
			if k == lawFitted && predicted.Interval != nil {
				x.Interval = &predicted.Interval[i]
			}
		}
		if k == lawAsymmetric && len(laws) <= lawPrinted { // else the printed algorithm counts its own steps
			times, err := l.steps.Predict(nil, p.Transfers)
			if err != nil {
				return err
			}
			row.Steps += float64(distinct(times))
		}
	}
	return nil
}

// sameEnd is how close, relative to the earlier one, two ends of transfers are to count as one
// step: what times are measured to. Fitted links differ a little, so that none are equal.
const sameEnd = 0.02

// distinct counts the values that are not as good as one before.
func distinct(x []float64) int {
	n, first := 0, math.Inf(-1)
	for _, v := range slices.Sorted(slices.Values(x)) {
		if n == 0 || v > first*(1+sameEnd) {
			n++
			first = v
		}
	}
	return n
}
