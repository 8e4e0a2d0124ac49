package main

import (
	"math"
	"math/rand/v2"
	"testing"

	"gonum.org/v1/gonum/mat"
)

// TestNoiseOfDirections: distances are disturbed by the noise that the two directions of pairs show, whichever is the slower
// one, and by half a percent where they agree.
func TestNoiseOfDirections(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 1))
	const n, sigma = 40, 0.05
	noisy, exact := mat.NewDense(n, n, nil), mat.NewDense(n, n, nil)
	for i := range n {
		for j := range n {
			if i != j {
				noisy.Set(i, j, 1e-6*math.Exp(sigma*rng.NormFloat64()))
				exact.Set(i, j, 1e-6)
			}
		}
	}
	if got := noiseOf(noisy); math.Abs(got-sigma) > 0.15*sigma {
		t.Errorf("noise of directions that differ by 5 %% each: %.4f, want 0.05 within 15 %%", got)
	}
	if got := noiseOf(exact); got != leastNoise {
		t.Errorf("noise of directions that agree: %g, want %g", got, leastNoise)
	}
}
