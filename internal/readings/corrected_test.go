package readings

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"
)

// By hand: sums 1 and 2 and a factor of 2 on host 1, then offsets. Of the pair (1, 0) 10 becomes
// (10-1-2)/2 = 3.5, then 3; more than 95 % is not taken away; an estimate stays one.
func TestCorrectedByHand(t *testing.T) {
	s := five()
	quick := Correct(s).Quicker([]float64{1, 2, 0, 0, 0}, []float64{1, 2, 1, 1, 1})
	c := quick.Without([]float64{0.5, 0, 0, 0, 100})
	for _, tt := range []struct {
		name       string
		of         *Corrected
		i, j       int
		corrected  float32
		unmeasured bool
	}{
		{"as it was", Correct(s), 0, 1, 10, false},
		{"sums and factor", quick, 0, 1, 3.5, false},
		{"then offsets", c, 1, 0, 3, false},
		{"a twentieth is left", c, 4, 2, 2.1, false},
		{"an estimate", c, 3, 1, -14.5, true},
	} {
		if got := tt.of.At(tt.i, tt.j); got != tt.corrected {
			t.Errorf("%s: %g, want %g", tt.name, got, tt.corrected)
		}
		if got := tt.of.Symmetric().Measured(tt.i, tt.j); math.IsNaN(got) != tt.unmeasured {
			t.Errorf("%s: measured %g", tt.name, got)
		}
	}
	if Correct(s).Symmetric() != s {
		t.Error("nothing is taken out, yet the measurements are copied")
	}
	if s.At(1, 0) != 10 || quick.At(1, 0) != 3.5 {
		t.Error("a correction changed what it was made of")
	}
}

// All ways of reading corrected readings agree, bit by bit.
func TestCorrectedIsReadAlike(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 3))
	some := func(n int, scale float64) []float64 {
		x := make([]float64, n)
		for i := range x {
			x[i] = scale * rng.NormFloat64()
		}
		return x
	}
	for range 50 {
		n := 3 + rng.IntN(30)
		c := Correct(NewSymmetric(n, func(i, j int) float32 { return float32(1 + rng.Float64() - 2*float64(rng.IntN(10)/9)) }))
		for range rng.IntN(4) {
			if rng.IntN(2) == 0 {
				c = c.Without(some(n, 0.2))
			} else {
				factor := some(n, 0.1)
				for i := range factor {
					factor[i]++
				}
				c = c.Quicker(some(n, 0.2), factor)
			}
		}
		s := c.Symmetric()
		order := make([]int32, n)
		for p, i := range rng.Perm(n) {
			order[p] = int32(i)
		}
		o := c.InOrder(order, nil)
		for p, i := range order {
			for q, j := range order[:p] {
				if a, b := o.At(p, q), c.At(int(i), int(j)); a != b || b != s.At(int(i), int(j)) {
					t.Fatalf("hosts %d and %d: %g in order, %g, %g copied", i, j, a, b, s.At(int(i), int(j)))
				}
			}
		}
		for i := range n {
			from := rng.IntN(i + 1)
			upto := from + rng.IntN(i-from+1)
			if part := c.Part(nil, i, from, upto); !slices.Equal(part, s.Row(i)[from:upto]) {
				t.Fatalf("Part(%d, %d, %d) = %v, want %v", i, from, upto, part, s.Row(i)[from:upto])
			}
		}
	}
}
