package main

import (
	"math"
	"testing"

	"gonum.org/v1/gonum/mat"

	"github.com/topocast/topocast/topology/cluster"
)

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
	if share := of(0.2, 0, 1, 2, 3, 4, 5, 6, 7); share > 0.7 {
		t.Errorf("no clusters: %g, want well below 1", share)
	}
}
