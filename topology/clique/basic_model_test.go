package clique

import (
	"math"
	"slices"
	"testing"
)

// Reference: Bufe 2014, section 2.2.1, table 2.1: the edges AB, AC, AD, BC and
// CD; BD is not inserted, as the path over A or C is 6 too.
func TestBasicModel(t *testing.T) {
	d := []float64{
		0, 3, 3, 3,
		3, 0, 3, 6,
		3, 3, 0, 3,
		3, 6, 3, 0,
	}
	inf := math.Inf(1)
	want := []float64{
		inf, 3, 3, 3,
		3, inf, 3, inf,
		3, 3, inf, 3,
		3, inf, 3, inf,
	}
	if got := basicModel(4, d, roughly{relative: 0.01}); !slices.Equal(got, want) {
		t.Errorf("edges = %v, want %v", got, want)
	}
}

// Without noise the basic model of a torus is its links: what is a step apart, round its sides.
func TestBasicModelOfATorus(t *testing.T) {
	const rows, columns = 4, 6
	const n = rows * columns
	round := func(a, b, size int) int { return min((a-b+size)%size, (b-a+size)%size) }
	d := make([]float64, n*n)
	for i := range n {
		for j := range n {
			d[i*n+j] = float64(round(i/columns, j/columns, rows) + round(i%columns, j%columns, columns))
		}
	}
	edges := basicModel(n, d, roughly{relative: 0.01})
	for i := range n {
		for j := range n {
			if got, want := !math.IsInf(edges[i*n+j], 1), d[i*n+j] == 1; got != want {
				t.Errorf("an edge %d-%d: %v, want %v", i, j, got, want)
			}
		}
	}
}

func TestLatencyGroups(t *testing.T) {
	for _, c := range []struct {
		name   string
		values []float64
		want   []int // sizes
	}{
		{"nothing", nil, nil},
		{"one value", []float64{1}, []int{1}},
		{"a gap", []float64{1, 1.01, 1.5, 1.52}, []int{2, 2}},
		{"a chain without a gap", []float64{1, 1.04, 1.08, 1.12}, []int{4}},
		{"zeros and others", []float64{0, 0, 1, 1}, []int{2, 2}},
		{"zeros alone", []float64{0, 0}, []int{2}},
	} {
		var got []int
		for _, g := range (roughly{relative: 0.05}).groups(c.values) {
			got = append(got, len(g))
		}
		if !slices.Equal(got, c.want) {
			t.Errorf("%s: groups of %v values, want %v", c.name, got, c.want)
		}
	}
}
