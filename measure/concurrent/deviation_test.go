package concurrent

import (
	"math"
	"testing"
)

// By hand: of nine times the standard deviation is that of a sample. One stall adds little: the least of nine normal
// values is 1.49 standard deviations below the median (Blom 1958), so twice 0.01 * 4 / 1.49.
func TestDeviationIsWithoutStalls(t *testing.T) {
	for _, c := range []struct {
		times []float64
		want  float64
	}{
		{[]float64{2}, 0},
		{[]float64{0.96, 0.97, 0.98, 0.99, 1, 1.01, 1.02, 1.03, 1.04}, 0.01 * math.Sqrt(60./8)},
		{[]float64{0.96, 0.97, 0.98, 0.99, 1, 1.01, 1.02, 1.03, 10}, 0.08 / 1.49},
	} {
		x := newTime(c.times)
		if got := x.deviation(); math.Abs(got-c.want) > 0.01*c.want {
			t.Errorf("%v: deviation %g, want %g", c.times, got, c.want)
		}
	}
}
