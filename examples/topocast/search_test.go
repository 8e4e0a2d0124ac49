package main

import (
	"math"
	"math/rand/v2"
	"testing"

	"gonum.org/v1/gonum/mat"

	"github.com/topocast/topocast/topology/cluster"
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

// TestStability: noise leaves clear clusters alone. Evenly spaced points have no two clusters that it leaves alone.
func TestStability(t *testing.T) {
	two := cluster.Agglomerative{K: 2}
	of := func(noise float64, x ...float64) float64 {
		m := mat.NewDense(len(x), len(x), nil)
		for i := range x {
			for j := range x {
				m.Set(i, j, math.Abs(x[i]-x[j]))
			}
		}
		d, err := cluster.NewDistances(m)
		if err != nil {
			t.Fatal(err)
		}
		labels, err := two.Cluster(d)
		if err != nil {
			t.Fatal(err)
		}
		share, err := stability(d, noise, two, labels)
		if err != nil {
			t.Fatal(err)
		}
		return share
	}
	if share := of(0.05, 0, 1, 2, 100, 101, 102); share != 1 {
		t.Errorf("clear clusters: %g, want 1", share)
	}
	if share := of(0.2, 0, 1, 2, 3, 4, 5, 6, 7); share > 0.6 {
		t.Errorf("no clusters: %g, want well below 1", share)
	}
}
