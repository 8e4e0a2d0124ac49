package main

import (
	"errors"
	"fmt"
	"math"
	"slices"

	asprinted "github.com/topocast/topocast/examples/papers/zhu"
	"github.com/topocast/topocast/internal/jsonfile"
	"github.com/topocast/topocast/measure/concurrent"
	"github.com/topocast/topocast/measure/harness"
	"github.com/topocast/topocast/model"
	"github.com/topocast/topocast/model/contention"
	"github.com/topocast/topocast/model/fit"
)

// A zhuLaw predicts the times in s of transfers that begin together, and in how many steps they end.
type zhuLaw struct {
	name    string
	predict func([]model.Transfer) (times []float64, steps int, err error)
}

// The laws, in the order of the tables. The truth is known of a simulated cluster only, and what is printed is of the paper's.
const (
	lawFair = iota
	lawAsymmetric
	lawFitted
	lawTruth
	lawPrinted
)

// fitLaws makes the laws to compare. Fair and asymmetric sharing take the bandwidths of the fitted network, as those of
// uplinks show only where several messages cross them. The warnings are those of the fit.
func (z *zhuRun) fitLaws(observed []fit.Observation) (warnings []string, err error) {
	single := append(z.found.Latencies.Observations(), z.found.Bandwidths.Observations()...)
	fitted, err := fit.Network(z.found.Topology, append(single, observed...), &fit.Settings{Network: model.Settings{Locations: z.found.Latencies.Locations()}})
	if err != nil {
		return nil, err
	}
	type source struct {
		name    string
		network *model.Network
		sharing *contention.Sharing
	}
	sources := []source{
		{"fair", fitted.Network, &contention.Sharing{}},
		{"asymmetric", fitted.Network, &contention.Sharing{Coupling: 1}},
		{"fitted", fitted.Network, nil},
	}
	if z.machine != nil {
		truth, err := model.FromGraph(z.machine.cluster.Graph, z.machine.cluster.Routing)
		if err != nil {
			return nil, err
		}
		sources = append(sources, source{"truth", truth, &z.machine.settings.Sharing})
	}
	for _, x := range sources {
		p, err := x.network.NewPredictor(&model.PredictSettings{Sharing: x.sharing})
		if err != nil {
			return nil, err
		}
		z.laws = append(z.laws, zhuLaw{x.name, func(transfers []model.Transfer) ([]float64, int, error) {
			times, err := p.Predict(nil, transfers)
			return times, distinct(times), err
		}})
		if x.sharing == nil {
			z.fitted = p
		}
	}
	if z.like() {
		z.laws = append(z.laws, zhuLaw{"as printed", zhuPrintedLaw{z.machine.cluster.Node}.predict})
	}
	return fitted.Warnings, nil
}

// A zhuPrintedLaw predicts by Algorithms 1 and 2 as the paper prints them, on its main testbed: two racks of hosts, NICs
// of 940 Mbit/s and a backbone of 9.4 Gbit/s. Messages inside a host are not predicted.
//
// Host i has channel 2i to its switch and channel 2i+1 from it. The two directions of the backbone come last.
type zhuPrintedLaw struct {
	host []int // of each rank
}

const zhuRack = 15 // hosts of a rack, section 3.2.1

// predict returns the completion times in s of transfers that begin together, and the steps of Algorithm 2.
func (p zhuPrintedLaw) predict(transfers []model.Transfer) (times []float64, steps int, err error) {
	const backbone = 2 * 2 * zhuRack // the first channel of it
	var capacity [backbone + 2]float64
	for c := range capacity {
		capacity[c] = zhuNIC
	}
	capacity[backbone], capacity[backbone+1] = zhuBackbone, zhuBackbone
	flows := make([]contention.Flow, len(transfers))
	for i, t := range transfers {
		from, to := p.host[t.Src], p.host[t.Dst]
		data := []int32{int32(2 * from)}
		switch {
		case from/zhuRack < to/zhuRack:
			data = append(data, backbone)
		case from/zhuRack > to/zhuRack:
			data = append(data, backbone+1)
		}
		flows[i] = contention.Flow{Data: append(data, int32(2*to+1)), Bytes: float64(t.Bytes)}
		for _, c := range flows[i].Data {
			flows[i].Reverse = append(flows[i].Reverse, c^1) // the other direction of the same link
		}
	}
	times, steps = asprinted.Model{Asymmetric: true}.Times(capacity[:], flows)
	return times, steps, nil
}

// evaluate predicts what was measured, by the order of the patterns, as far as there was time.
func (z *zhuRun) evaluate(r *concurrent.Result) error {
	var train []concurrent.Pattern
	held := 0
	for i, p := range r.Patterns {
		switch {
		case z.patterns[i].row != nil:
			held++
		case z.patterns[i].sweep == nil:
			train = append(train, p)
		}
	}
	z.toFit = len(train)
	if held == 0 {
		text := fmt.Sprintf("%d of %d patterns to fit to were measured before the %s ended, and none to predict", z.toFit, z.fit, r.Stopped)
		if r.Stopped == harness.StoppedByBudget {
			text += ": want a larger --budget"
		}
		return errors.New(text)
	}
	warnings, err := z.fitLaws((&concurrent.Result{Patterns: train}).Observations())
	if err != nil {
		return err
	}
	z.warnings = append(slices.Clone(r.Warnings), warnings...)
	for i := range r.Patterns {
		measured, pattern := &r.Patterns[i], &z.patterns[i]
		switch {
		case pattern.sweep != nil:
			err = pattern.sweep.add(measured, z.laws)
			z.sweeps = append(z.sweeps, pattern.sweep)
		case pattern.row != nil:
			err = z.hold(pattern.row, measured)
		}
		if err != nil {
			return err
		}
	}
	z.rows = slices.DeleteFunc(z.rows, func(row *zhuRow) bool { return row.Patterns == 0 })
	for _, row := range append(slices.Clone(z.rows), &z.random) {
		if row.Patterns > 0 {
			row.sum(len(z.laws))
		}
	}
	z.random.Transfers = nil // the rows have them
	return nil
}

// hold takes up a measured pattern that was held out of the fit.
func (z *zhuRun) hold(row *zhuRow, p *concurrent.Pattern) error {
	mixed := z.isMixed(p.Transfers)
	held := make([]zhuTransfer, len(p.Transfers))
	for i, t := range p.Transfers {
		held[i] = zhuTransfer{
			Pattern: row.Patterns, Src: t.Src, Dst: t.Dst, Bytes: t.Bytes, Mixed: mixed,
			Measured: p.Times[i].Median, Width: jsonfile.Known(2 * p.Times[i].HalfWidth),
		}
	}
	steps := 0
	for k, l := range z.laws {
		times, ends, err := l.predict(p.Transfers)
		if err != nil {
			return err
		}
		for i, t := range times {
			held[i].Predicted = append(held[i].Predicted, t)
		}
		if k == lawAsymmetric || k == lawPrinted { // the latter if there is one
			steps = ends
		}
	}
	predicted, err := z.fitted.Prediction(p.Transfers, zhuCoverage)
	if err != nil {
		return err
	}
	for i := range predicted.Interval {
		held[i].Interval = &predicted.Interval[i]
	}
	row.add(held, steps)
	if !row.Exchange {
		z.random.add(held, steps)
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
