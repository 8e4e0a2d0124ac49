package conjugate_test

import (
	"math"
	"testing"

	"github.com/topocast/topocast/internal/conjugate"
)

// Two unknowns by hand: 4 x + y = 1 and x + 3 y = 2 give 1/11 and 7/11.
func TestSolveByHand(t *testing.T) {
	apply := func(image, x []float64) {
		image[0], image[1], image[2] = 4*x[0]+x[1], x[0]+3*x[1], 5*x[2]
	}
	x := conjugate.Solve([]float64{1, 2, 7}, []float64{1.0 / 4, 1.0 / 3, 0}, apply, 1e-30, 10)
	for k, want := range []float64{1.0 / 11, 7.0 / 11, 0} {
		if math.Abs(x[k]-want) > 1e-14 {
			t.Errorf("unknown %d is %g, want %g", k, x[k], want)
		}
	}
	for _, v := range conjugate.Solve(make([]float64, 3), []float64{1, 1, 1}, apply, 1e-30, 10) {
		if v != 0 {
			t.Errorf("of zeros: %g, want 0", v)
		}
	}
}

// x + y = 2 alone determines their sum: both are 1, without a part that nothing determines.
func TestSolveLeavesOutWhatNothingDetermines(t *testing.T) {
	x := conjugate.Solve([]float64{2, 2}, []float64{1, 1}, func(image, x []float64) {
		image[0], image[1] = x[0]+x[1], x[0]+x[1]
	}, 1e-30, 10)
	if math.Abs(x[0]-1) > 1e-14 || math.Abs(x[1]-1) > 1e-14 {
		t.Errorf("unknowns %v, want 1 and 1", x)
	}
}
