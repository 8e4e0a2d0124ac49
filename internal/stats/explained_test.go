package stats

import (
	"math"
	"testing"
)

// The expected numbers are derived by hand: 1, 2 and 6 have the mean 3 and squares of 14 about it.
func TestExplained(t *testing.T) {
	for _, tt := range []struct {
		name            string
		measured, model []float64
		r2              float64
	}{
		{"all as the model says", []float64{1, 2, 6}, []float64{1, 2, 6}, 1},
		{"a model that says the mean of all", []float64{1, 2, 6}, []float64{3, 3, 3}, 0},
		{"one measurement is off by 1", []float64{1, 2, 6}, []float64{1, 2, 5}, 1 - 1.0/14},
		{"worse than the mean", []float64{1, 2, 6}, []float64{1, 2, 0}, 1 - 36.0/14},
		{"all alike, and as the model says", []float64{0.1, 0.1, 0.1}, []float64{0.1, 0.1, 0.1}, 1},
		{"all alike, but for rounding", []float64{0.3, 0.1 + 0.2, 0.3}, []float64{0.3, 0.3, 0.3}, 1},
		{"all alike, and not as the model says", []float64{2, 2}, []float64{3, 3}, math.NaN()},
		{"no measurement", nil, nil, math.NaN()},
	} {
		e := NewExplained(1)
		for k, x := range tt.measured {
			e.Add(x, tt.model[k])
		}
		if got := e.R2(); !(math.Abs(got-tt.r2) < 1e-12) && !(math.IsNaN(got) && math.IsNaN(tt.r2)) {
			t.Errorf("%s: R2() = %g, want %g", tt.name, got, tt.r2)
		}
	}
	e := NewExplained(3)
	e.AddResidual(0, 11, 10) // 0.1
	e.AddResidual(0, 7, 10)  // 0.3
	e.AddResidual(0, 14, 10) // 0.4
	e.AddResidual(2, 5, 10)  // 0.5
	e.AddResidual(2, 5, 0)   // none
	all, levels := e.Medians()
	if len(levels) != 3 || math.Abs(all-0.3) > 1e-12 || math.Abs(levels[0]-0.3) > 1e-12 || !math.IsNaN(levels[1]) || math.Abs(levels[2]-0.5) > 1e-12 {
		t.Errorf("Medians() = %g, %g, want 0.3, the lower of the middle two, and 0.3, NaN, 0.5", all, levels)
	}
}
