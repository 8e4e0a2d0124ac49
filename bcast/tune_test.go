package bcast

import (
	"math"
	"testing"
)

func TestFastestPlan(t *testing.T) {
	plan := func(index int, measured float64) candidate {
		return candidate{Plan{Measured: measured}, index}
	}
	for _, c := range []struct {
		name    string
		crowded bool
		times   []float64
		want    int
	}{
		{"the least time wins", false, []float64{3, 2, 2.5}, 1},
		{"the first of equals wins", false, []float64{2, 2, 2}, 0},
		{"a hair is enough on quiet cores", false, []float64{2, 1.999}, 1},
		{"less than a tenth is noise on crowded cores", true, []float64{2, 1.9}, 0},
		{"more than a tenth counts there", true, []float64{2, 1.8}, 1},
		{"what was not measured is not taken", false, []float64{2, math.NaN()}, 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			var plans []candidate
			for i, x := range c.times {
				plans = append(plans, plan(i, x))
			}
			if got := (&Broadcaster{crowded: c.crowded}).fastestOf(plans); got.index != c.want {
				t.Errorf("fastestOf(%v) = plan %d, want %d", c.times, got.index, c.want)
			}
		})
	}
}

func TestHopelessPlansAreNotRunAgain(t *testing.T) {
	b := &Broadcaster{budget: 0.1}
	for _, c := range []struct {
		name            string
		times           [][]float64
		elapsed         float64
		running, rounds int
	}{
		// Half of the budget is 50 ms.
		{"all run again, as often as there is time", [][]float64{{3e-3}, {4e-3}, {2e-3}}, 10e-3, 0b111, 5},
		{"one is five times slower, and its time is saved", [][]float64{{3e-3}, {2e-3}, {10e-3}}, 15e-3, 0b011, 10},
		{"there is no time for another round", [][]float64{{0.3}, {0.2}}, 0.5, 0b11, 0},
		{"all are fast", [][]float64{{1e-6}, {1e-6}}, 1e-4, 0b11, maxTrials},
		{"a clock that stands still", [][]float64{{0}, {0}}, 0, 0b11, maxTrials},
	} {
		t.Run(c.name, func(t *testing.T) {
			running, rounds := b.hopeful(c.times, c.elapsed)
			if running != c.running || rounds != c.rounds {
				t.Errorf("hopeful = %b, %d, want %b, %d", running, rounds, c.running, c.rounds)
			}
		})
	}
}
