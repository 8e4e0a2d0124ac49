package clique

import (
	"math"
	"math/rand/v2"
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
		by     Grouping
		want   []int
	}{
		{"nothing", nil, GroupByGap, []int{0}},
		{"one value", []float64{1}, GroupByGap, []int{0, 1}},
		{"a gap", []float64{1, 1.01, 1.5, 1.52}, GroupByGap, []int{0, 2, 4}},
		{"a chain without a gap", []float64{1, 1.04, 1.08, 1.12}, GroupByGap, []int{0, 4}},
		{"means", []float64{1, 1, 1.01, 1.5, 1.52, 1.52}, GroupByKMeans, []int{0, 3, 6}},
		{"equal values", []float64{2, 2, 2, 2}, GroupByKMeans, []int{0, 4}},
		{"zeros and others", []float64{0, 0, 1, 1}, GroupByKMeans, []int{0, 2, 4}},
		{"zeros alone", []float64{0, 0}, GroupByKMeans, []int{0, 2}},
		{"density", []float64{1, 1, 1.01, 1.5, 1.52, 1.52}, GroupByDensity, []int{0, 3, 6}},
	} {
		got := latencyGroups(c.values, c.by, roughly{relative: 0.05})
		if !slices.Equal(got, c.want) {
			t.Errorf("%s: bounds = %v, want %v", c.name, got, c.want)
		}
	}
}

// slowKMeans tries all cuts into k classes.
func slowKMeans(sorted []float64, k int) float64 {
	if k == 1 {
		var mean, sum float64
		for _, v := range sorted {
			mean += v / float64(len(sorted))
		}
		for _, v := range sorted {
			sum += (v - mean) * (v - mean)
		}
		return sum
	}
	best := math.Inf(1)
	for cut := k - 1; cut < len(sorted); cut++ {
		best = min(best, slowKMeans(sorted[:cut], k-1)+slowKMeans(sorted[cut:], 1))
	}
	return best
}

func TestCkmeansIsOptimal(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	for range 100 {
		values := make([]float64, 1+rng.IntN(12))
		for i := range values {
			values[i] = float64(rng.IntN(4)) + 0.2*rng.NormFloat64()
		}
		slices.Sort(values)
		class := ckmeans(values, 5, 0.05)
		var got float64
		for k := 0; k <= slices.Max(class); k++ {
			var members []float64
			for i, c := range class {
				if c == k {
					members = append(members, values[i])
				}
			}
			got += slowKMeans(members, 1)
		}
		if want := slowKMeans(values, slices.Max(class)+1); got > want+1e-9 {
			t.Fatalf("%v in classes %v: sum of squares %g, the least is %g", values, class, got, want)
		}
	}
}
