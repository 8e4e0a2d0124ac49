package model

import (
	"fmt"
	"math"
	"slices"

	"github.com/topocast/topocast/topology"
)

// levelParams are the given parameters, or those that follow from the
// hierarchy's latencies and the given bandwidths.
func levelParams(h *topology.Hierarchy, s *Settings) ([]LevelParams, error) {
	want := len(h.Levels()) + 1
	var levels []LevelParams
	if s.Levels != nil {
		if len(s.Levels) != want {
			return nil, fmt.Errorf("%d levels of parameters, want %d: the hierarchy's and the root", len(s.Levels), want)
		}
		for _, l := range s.Levels {
			levels = append(levels, l.clone())
		}
	} else {
		if s.LevelBandwidth != nil && len(s.LevelBandwidth) != want {
			return nil, fmt.Errorf("%d bandwidths, want %d: one per level of the hierarchy and the root's", len(s.LevelBandwidth), want)
		}
		for i := range want {
			latency, bandwidth := h.Groups()[0].Latency, math.NaN()
			if i < want-1 {
				latency = h.Levels()[i].Latency
			}
			if s.LevelBandwidth != nil {
				bandwidth = s.LevelBandwidth[i]
			}
			if bandwidth <= 0 || math.IsInf(bandwidth, 0) {
				return nil, fmt.Errorf("bandwidth of level %d is %g B/s: want above 0 and finite, or NaN", i, bandwidth)
			}
			p := latencyOnly(latency, s.Measured.Bytes)
			if !math.IsNaN(bandwidth) {
				p = Hockney{latency, bandwidth}.PLogP()
			}
			// The measured latency holds the gap of the measuring message.
			p.Latency = math.Max(0, latency-p.GapAt(s.Measured.Bytes))
			levels = append(levels, LevelParams{PLogP: p, Spread: math.NaN()})
		}
	}
	for i := range levels {
		if err := levels[i].Check(); err != nil {
			return nil, fmt.Errorf("level %d: %w", i, err)
		}
		if levels[i].Spread < 0 || math.IsInf(levels[i].Spread, 1) {
			return nil, fmt.Errorf("level %d: spread %g: want at least 0 and finite, or NaN", i, levels[i].Spread)
		}
		if err := checkRatios(levels[i].MeasuredOverPredicted); err != nil {
			return nil, fmt.Errorf("level %d: %w", i, err)
		}
	}
	return levels, nil
}

// checkRatios checks quantiles of measured over predicted times.
func checkRatios(ratios []float64) error {
	if len(ratios) == 1 || !slices.IsSorted(ratios) {
		return fmt.Errorf("ratios %v: want none, or at least two, ascending", ratios)
	}
	for _, x := range ratios {
		if !(x > 0) || math.IsInf(x, 0) {
			return fmt.Errorf("ratio %g: want above 0 and finite", x)
		}
	}
	return nil
}
