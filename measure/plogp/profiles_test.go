package plogp

import (
	"math"
	"testing"

	"gonum.org/v1/gonum/mat"
)

// TestNewProfilesByHand: two parameters of four hosts. For the pair (0, 1)
// only columns 2 and 3 count.
func TestNewProfilesByHand(t *testing.T) {
	// Off-diagonal cells: six of 1, six of 3; sorted, the middle (index 6) is
	// 3, deviations are 0 and 2 six times each, and their middle is 2.
	a := mat.NewDense(4, 4, []float64{
		9, 1, 1, 3,
		1, 9, 3, 3,
		1, 3, 9, 1,
		3, 3, 1, 9,
	})
	d, err := NewProfiles(a)
	if err != nil {
		t.Fatal(err)
	}
	// (0,1): columns 2, 3: 1 against 3, 3 against 3, scaled by 2: 1.
	// (0,3): columns 1, 2: 1 against 3, 1 against 1: 1.
	// (1,2): columns 0, 3: 1 against 1, 3 against 1: 1. (0,2): 1:3 and 3:1: sqrt 2.
	for _, c := range []struct {
		i, j int
		want float64
	}{{0, 1, 1}, {0, 3, 1}, {1, 2, 1}, {0, 2, math.Sqrt2}} {
		if got := d.At(c.i, c.j); math.Abs(got-c.want) > 1e-12 {
			t.Errorf("distance (%d,%d) = %g, want %g", c.i, c.j, got, c.want)
		}
	}
}
