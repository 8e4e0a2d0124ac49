package check

import (
	"math"
	"math/rand/v2"
	"testing"
)

// The definition: of all 2^n ways to give signs to the differences, the share whose sum of positive
// ranks is as large.
func signedRankByCounting(d []float64) float64 {
	n := len(d)
	rank := make([]float64, n)
	for i := range d {
		less, equal := 0, 0
		for j := range d {
			switch x, y := math.Abs(d[j]), math.Abs(d[i]); {
			case x < y:
				less++
			case x == y:
				equal++
			}
		}
		rank[i] = float64(less) + float64(equal+1)/2
	}
	sum := func(positive func(i int) bool) float64 {
		s := 0.0
		for i := range d {
			if positive(i) {
				s += rank[i]
			}
		}
		return s
	}
	is, large := sum(func(i int) bool { return d[i] > 0 }), 0
	for signs := range 1 << n {
		if sum(func(i int) bool { return signs>>i&1 == 1 }) >= is {
			large++
		}
	}
	return float64(large) / float64(int(1)<<n)
}

func TestSignedRankAgainstCounting(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 1))
	for range 200 {
		d := make([]float64, 1+rng.IntN(10))
		for i := range d {
			d[i] = float64(1 + rng.IntN(6)) // with ties
			if rng.IntN(3) == 0 {
				d[i] = -d[i]
			}
		}
		if got, want := signedRank(append([]float64{0}, d...)), signedRankByCounting(d); math.Abs(got-want) > 1e-12 {
			t.Fatalf("signedRank(%v) = %g, want %g", d, got, want)
		}
	}
	if p := signedRank([]float64{1, math.NaN()}); p != 0.5 {
		t.Errorf("signedRank of 1 and NaN = %g, want 0.5", p)
	}
	if p := signedRank(nil); p != 1 {
		t.Errorf("signedRank(nil) = %g, want 1", p)
	}
}
