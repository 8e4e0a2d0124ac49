package benchmark

import (
	"math"
	"testing"
)

// By hand: 11 times of which the last is a stray, so that the mean is of the first 10, the 90th
// percentile. 95 % of a median of 11 are between the second and the tenth (David & Nagaraja 2003,
// table 7.1: 2 sum_{i<2} C(11,i)/2^11 = 1.2 %; with the third and ninth it were 6.5 %).
func TestSummaryOfARow(t *testing.T) {
	times := []float64{100, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10}
	native := make([]float64, len(times))
	for i, x := range times {
		native[i] = x * []float64{2, 1, 4}[i%3]
	}
	var r Row
	r.summarise(times, native)
	for _, c := range []struct {
		name      string
		got, want float64
	}{
		{"median", r.Median, 6},
		{"low", r.Low, 2},
		{"high", r.High, 10},
		{"min", r.Min, 1},
		{"max", r.Max, 100},
		{"mean", r.Mean, 5.5},
		{"variance", r.Variance, 55.0 / 6}, // (100-1)/12 * 10/9
		{"gain", r.Gain, 2},
		{"gain low", r.GainLow, 1},
		{"gain high", r.GainHigh, 4},
	} {
		if math.Abs(c.got-c.want) > 1e-12 {
			t.Errorf("%s = %g, want %g", c.name, c.got, c.want)
		}
	}
	if r.TooFew() {
		t.Error("11 are too few")
	}
	r.summarise(times[:5], nil)
	if !r.TooFew() || !math.IsNaN(r.Gain) || r.Median != 3 {
		t.Errorf("5 times, none to compare with: %+v", r)
	}
}
