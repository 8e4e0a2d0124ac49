package measured

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"gonum.org/v1/gonum/mat"
)

func TestDirectedAgainstDefinition(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	for range 200 {
		n, repetitions := 1+rng.IntN(20), 1+rng.IntN(7)
		matrices := random(rng, n, repetitions)
		m, err := New("x", matrices)
		if err != nil {
			t.Fatal(err)
		}
		got, err := m.Directed()
		if err != nil {
			t.Fatal(err)
		}
		from, err := DirectedOf("x", matrices)
		if err != nil {
			t.Fatal(err)
		}
		for i := range n {
			for j := range n {
				var want float64 // of the diagonal
				if i != j {
					want = combined(known(matrices, i, j))
				}
				if !same(got.At(i, j), want) || !same(from.At(i, j), max(want, 0)) {
					t.Fatalf("cell (%d, %d) of %d repetitions: %g, want %g", i, j, repetitions, got.At(i, j), want)
				}
			}
		}
	}
}

func TestDirectedByHand(t *testing.T) {
	d, err := DirectedOf("x", []mat.Matrix{mat.NewDense(4, 4, []float64{
		9, 4, nan, 0,
		2, 9, nan, -1,
		3, nan, 9, 1,
		0, 2, 1.2, 9,
	})})
	if err != nil {
		t.Fatal(err)
	}
	want := []float64{
		0, 2, 3, 0.5, // half of 1
		2, 0, nan, 0.5,
		3, nan, 0, 1,
		0.5, 0.5, 1, 0,
	}
	if got := d.Pairs(); !slices.EqualFunc(got, want, same) {
		t.Errorf("Pairs() = %v, want %v", got, want)
	}
	if d.At(1, 3) != 0 || !math.IsNaN(d.At(1, 2)) || d.N() != 4 || !math.IsNaN(d.Noise()) {
		t.Errorf("cells %v", d.Cells())
	}
	// From 3 to 1 it takes 2 against none, which tells less than 4 against 2.
	if got, want := d.Asymmetry(), (Asymmetry{Pairs: 2, Worst: [2]int{0, 1}, Ratio: 2}); got != want {
		t.Errorf("Asymmetry() = %+v, want %+v", got, want)
	}
	texts := []string{"1 measurements are below zero and were taken as zero", "3 of 12 measurements were not measured"}
	if got := d.Warnings(); !slices.Equal(got, texts) {
		t.Errorf("Warnings() = %q, want %q", got, texts)
	}
}

// Where there is nothing but a direction of zero its pair is named.
func TestAsymmetryOfZero(t *testing.T) {
	d, err := DirectedOf("x", []mat.Matrix{mat.NewDense(3, 3, []float64{0, 1, 1, 1, 0, 0, 1, 1, 0})})
	if err != nil {
		t.Fatal(err)
	}
	if got, want := d.Asymmetry(), (Asymmetry{Pairs: 1, Worst: [2]int{2, 1}, Ratio: math.Inf(1)}); got != want {
		t.Errorf("Asymmetry() = %+v, want %+v", got, want)
	}
}

// A full run is 15 % slower than a second one of half of the hosts. The second brings both on its level, so that its hosts
// do not look near to each other. Directions are held apart: one run has all that goes up, another what goes down, which
// takes longer.
func TestDirectedHasOneLevel(t *testing.T) {
	const n = 24
	rng := rand.New(rand.NewPCG(3, 1))
	run := func(factor float64, has func(i, j int) bool) mat.Matrix {
		m := mat.NewDense(n, n, nil)
		for i := range n {
			for j := range n {
				m.Set(i, j, math.NaN())
				if has(i, j) {
					m.Set(i, j, factor*(1+0.005*rng.NormFloat64()))
				}
			}
		}
		return m
	}
	low := func(i, j int) bool { return max(i, j) < n/2 }
	d, err := DirectedOf("x", []mat.Matrix{run(1.15, func(_, _ int) bool { return true }), run(0.9, low)})
	if err != nil {
		t.Fatal(err)
	}
	for i := range n {
		for j := range n {
			if v := d.At(i, j); i != j && math.Abs(v-0.9) > 0.05 {
				t.Fatalf("from %d to %d it is %.3g, want 0.9 as in the second run", i, j, v)
			}
		}
	}
	up, down := func(i, j int) bool { return i < j }, func(i, j int) bool { return i > j }
	if d, err = DirectedOf("x", []mat.Matrix{run(1, up), run(1.3, down)}); err != nil {
		t.Fatal(err)
	}
	if v := d.At(5, 3) / d.At(3, 5); math.Abs(v-1.3) > 0.05 {
		t.Errorf("one direction takes %.3g times as long, want 1.3", v)
	}
}
