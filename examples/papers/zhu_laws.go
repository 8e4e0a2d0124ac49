package main

import (
	"errors"
	"fmt"
	"math"
	"slices"

	"github.com/topocast/topocast/measure/concurrent"
	"github.com/topocast/topocast/measure/harness"
	"github.com/topocast/topocast/model"
	"github.com/topocast/topocast/model/contention"
	"github.com/topocast/topocast/model/fit"
)

// A zhuLaw predicts the times in s of transfers that begin together.
type zhuLaw struct {
	name  string
	times func([]model.Transfer) ([]float64, error)
}

// The laws, in the order of the tables. The truth is known of a simulated cluster only, and what is printed is of the paper's.
const (
	lawFair = iota
	lawAsymmetric
	lawFitted
	lawTruth
	lawPrinted
)

// fitLaws makes the models to compare. The pure ones know the bandwidths of the fitted one: those of
// uplinks show when several messages cross them only.
func (z *zhuRun) fitLaws(observed []fit.Observation) (warnings []string, err error) {
	single := append(z.found.Latencies.Observations(), z.found.Bandwidths.Observations()...)
	fitted, err := fit.Network(z.found.Topology, append(single, observed...), &fit.Settings{Network: model.Settings{Locations: z.found.Latencies.Locations()}})
	if err != nil {
		return nil, err
	}
	add := func(name string, n *model.Network, sharing *contention.Sharing) (*model.Predictor, error) {
		p, err := n.NewPredictor(&model.PredictSettings{Sharing: sharing})
		z.laws = append(z.laws, zhuLaw{name, func(transfers []model.Transfer) ([]float64, error) { return p.Predict(nil, transfers) }})
		return p, err
	}
	if _, err := add("fair", fitted.Network, &contention.Sharing{}); err != nil {
		return nil, err
	}
	if _, err := add("asymmetric", fitted.Network, &contention.Sharing{Asymmetric: true}); err != nil {
		return nil, err
	}
	if z.fitted, err = add("fitted", fitted.Network, nil); err != nil || z.machine == nil {
		return fitted.Warnings, err
	}
	c := z.machine.cluster
	truth, err := model.FromGraph(c.Graph, c.Routing)
	if err != nil {
		return nil, err
	}
	if _, err := add("truth", truth, &z.machine.settings.Sharing); err != nil {
		return nil, err
	}
	if z.machine.like {
		z.printed = &zhuPrintedLaw{c.Node}
		z.laws = append(z.laws, zhuLaw{"as printed", func(transfers []model.Transfer) ([]float64, error) {
			times, _, err := z.printed.times(transfers)
			return times, err
		}})
	}
	return fitted.Warnings, nil
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
		held[i] = newZhuTransfer(t, p.Times[i], row.Patterns, mixed)
	}
	steps := 0
	for k, l := range z.laws {
		times, err := l.times(p.Transfers)
		if err != nil {
			return err
		}
		for i, t := range times {
			held[i].Predicted = append(held[i].Predicted, t)
		}
		if k == lawAsymmetric {
			steps = distinct(times)
		}
	}
	if z.printed != nil { // Algorithm 2 counts its own steps
		var err error
		if _, steps, err = z.printed.times(p.Transfers); err != nil {
			return err
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
