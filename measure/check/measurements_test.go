package check

import (
	"math"
	"testing"
)

// What a measurement says of a factor undoes what the factor does to a measurement; of an arc that was half full nothing shows
// up to a factor of two.
func TestFactorsAndShifts(t *testing.T) {
	for _, weight := range []float64{0.1, 0.5, 1} {
		for _, full := range []float64{0.5, 1} {
			cr := crossing{weight: weight, full: full}
			for _, factor := range []float64{1, 1.5, 2, 5} {
				if got, want := cr.factor(cr.shift(factor)), max(factor, 1/full); math.Abs(got-want) > 1e-12*want {
					t.Errorf("weight %g, full %g: factor %g shows as %g, want %g", weight, full, factor, got, want)
				}
			}
		}
	}
	// A fifth of the time that takes five times as long: 0.8 + 0.2*5.
	if got, want := (&crossing{weight: 0.2, full: 1}).shift(5), math.Log(1.8); math.Abs(got-want) > 1e-12 {
		t.Errorf("shift of a fifth by 5 = %g, want %g", got, want)
	}
}

// The tail of the binomial distribution, summed up.
func TestTailOfTheBinomial(t *testing.T) {
	const share = 2.0 / 3
	for n := 1; n <= 12; n++ {
		for hits := 0; hits <= n; hits++ {
			want, choose := 0.0, 1.0 // n over k
			for k := 0; k <= n; k++ {
				if k >= hits {
					want += choose * math.Pow(share, float64(k)) * math.Pow(1-share, float64(n-k))
				}
				choose *= float64(n-k) / float64(k+1)
			}
			if got := (tally{hits, n}).atLeast(share); math.Abs(got-want) > 1e-12 {
				t.Errorf("%d of %d: %g, want %g", hits, n, got, want)
			}
		}
	}
}
