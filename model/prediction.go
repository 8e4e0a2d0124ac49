package model

import (
	"fmt"
	"math"
	"slices"
)

// A Prediction says when concurrent transfers are complete. All slices are in the order of Transfers.
type Prediction struct {
	Transfers  []Transfer   `json:"transfers"`
	Completion []float64    `json:"completion_s"`         // s
	Interval   [][2]float64 `json:"interval_s,omitempty"` // s, lowest and highest; nil if the network was not fitted
	Estimated  []bool       `json:"estimated"`            // whether a transfer crosses a link whose bandwidth was not measured
}

// Prediction predicts like Predict and adds intervals that hold the measured
// completion with the given probability, in (0, 1): see Network.Interval.
func (p *Predictor) Prediction(transfers []Transfer, coverage float64) (*Prediction, error) {
	if !(coverage > 0 && coverage < 1) {
		return nil, fmt.Errorf("model: predict: coverage %g: want in (0, 1)", coverage)
	}
	times, err := p.Predict(nil, transfers)
	if err != nil {
		return nil, err
	}
	out := &Prediction{Transfers: slices.Clone(transfers), Completion: append([]float64{}, times...), Estimated: make([]bool, len(times))}
	for i := range transfers {
		for _, c := range p.pattern.Flows[i].Data {
			out.Estimated[i] = out.Estimated[i] || p.n.graph.Arcs()[c].Estimated
		}
	}
	for i, t := range transfers {
		lo, hi := p.n.Interval(t.Src, t.Dst, times[i]-t.Start, coverage)
		if math.IsNaN(lo) {
			return out, nil
		}
		out.Interval = append(out.Interval, [2]float64{t.Start + lo, t.Start + hi})
	}
	return out, nil
}

// Interval is the range in s of the duration of a concurrent transfer, measured once, that is predicted to last the given
// time in s. The duration lies in it with probability coverage, in (0, 1). It comes from how far measured and predicted times
// were apart when the network was fitted, of transfers of the same level where there were enough; NaN if it was not.
// It holds the prediction: that all measured times were on one side of the predicted ones may be chance.
func (n *Network) Interval(src, dst int, seconds, coverage float64) (lo, hi float64) {
	ratios := n.s.Levels[n.LevelOf(src, dst)].MeasuredOverPredicted
	if ratios == nil {
		ratios = n.s.MeasuredOverPredicted
	}
	if len(ratios) < 2 || !(coverage > 0 && coverage < 1) {
		return math.NaN(), math.NaN()
	}
	at := func(p float64) float64 {
		x := p * float64(len(ratios)-1)
		i := min(int(x), len(ratios)-2)
		return ratios[i] + (x-float64(i))*(ratios[i+1]-ratios[i])
	}
	return seconds * min(1, at((1-coverage)/2)), seconds * max(1, at((1+coverage)/2))
}
