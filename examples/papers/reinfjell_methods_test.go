package main

import (
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"gonum.org/v1/gonum/mat"

	"github.com/topocast/topocast/internal/gen"
	"github.com/topocast/topocast/internal/truth"
	"github.com/topocast/topocast/measure/plogp"
	"github.com/topocast/topocast/topology/cluster"
)

// onLine are the distances between points on a line.
func onLine(t *testing.T, x ...float64) mat.Symmetric {
	t.Helper()
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
	return d
}

// TestMethodsOfThesis: on a clear machine, four nodes of two sockets of four ranks in random order with 2 % of noise, every
// method of section 2.5 gets nodes and sockets right for some value of its parameter (equation 3.10). It finds one of
// the two by the silhouette, without being told.
func TestMethodsOfThesis(t *testing.T) {
	const n = 32
	rng := rand.New(rand.NewPCG(3, 4))
	at := rng.Perm(n)
	m := mat.NewDense(n, n, nil)
	rawNodes, rawSockets := make([]int, n), make([]int, n)
	for i := range n {
		rawNodes[i], rawSockets[i] = at[i]/8, at[i]/4
		for j := range n {
			v := 4e-6
			switch {
			case at[i]/4 == at[j]/4:
				v = 1e-6
			case at[i]/8 == at[j]/8:
				v = 2e-6
			}
			m.Set(i, j, v*(1+0.02*rng.NormFloat64()))
		}
	}
	nodes, sockets := cluster.Relabel(rawNodes), cluster.Relabel(rawSockets)
	times, err := cluster.NewDistances(m)
	if err != nil {
		t.Fatal(err)
	}
	profiles, err := plogp.NewProfiles(m)
	if err != nil {
		t.Fatal(err)
	}
	for k, method := range methodsOfThesis(nil) {
		for name, d := range map[string]mat.Symmetric{"times": times, "profiles": profiles} {
			if method.Name == "spectral" && name == "profiles" {
				continue // sockets of four do not show among seven neighbours there
			}
			if method.Name == "kmeans" && name == "times" {
				continue // it takes profiles
			}
			for level, known := range map[string]cluster.Labels{"nodes": nodes, "sockets": sockets} {
				f := methodsOfThesis(matching(known))[k]
				found, err := truth.Accuracy(&f, d, known)
				if err != nil || found.Score != 1 || !slices.Equal(found.Labels, known) {
					t.Errorf("%s of %s, %s: %.3f at %g, %v; want 1", f.Name, name, level, found.Score, found.Value, err)
				}
			}
			silhouette := func(l cluster.Labels) float64 { return cluster.Silhouette(d, l) }
			f := methodsOfThesis(silhouette)[k]
			found, err := f.Search(d, func(_ cluster.Clusterer, l cluster.Labels) float64 { return silhouette(l) })
			if err != nil || !slices.Equal(found.Labels, nodes) && !slices.Equal(found.Labels, sockets) {
				t.Errorf("%s of %s: searched %g of %d values, %v, %v", f.Name, name, found.Value, found.Tried, found.Labels, err)
			}
		}
	}
}

// TestKMeansByHand: profiles on a line, without entries of their own: of x = 0, 1, 10, 11 the two
// clusters of least squares are 0, 1 and 10, 11.
func TestKMeansByHand(t *testing.T) {
	at := []float64{0, 1, 10, 11, 30}
	points := make([][]float64, len(at))
	for i := range at {
		points[i] = []float64{at[i], math.NaN(), at[i]}
	}
	for _, c := range []struct {
		k    int
		want []int
		sum  float64 // of squares, over three entries of which two are known: 3/2 of 2 x^2
	}{
		{3, []int{0, 0, 1, 1, 2}, 3 * (0.25 + 0.25 + 0.25 + 0.25)},
		{5, []int{0, 1, 2, 3, 4}, 0},
		{1, []int{0, 0, 0, 0, 0}, 3 * (10.4*10.4 + 9.4*9.4 + 0.4*0.4 + 0.6*0.6 + 19.6*19.6)},
	} {
		least, best := math.Inf(1), []int(nil)
		rng := rand.New(rand.NewPCG(1, 1))
		for range kMeansStarts {
			start := newCentres(points, c.k, rng)
			if sum := start.settle(); sum < least {
				least, best = sum, start.nearest
			}
		}
		if got := cluster.Relabel(best); !slices.Equal(got, c.want) || math.Abs(least-c.sum) > 1e-9 {
			t.Errorf("%d clusters: %v of %g squares, want %v of %g", c.k, got, least, c.want, c.sum)
		}
	}
	if v := squared([]float64{1, math.NaN()}, []float64{math.NaN(), 1}); !math.IsInf(v, 1) {
		t.Errorf("points without a common entry are %g apart", v)
	}
}

// TestKMeansOfEqualRanks: clusters without a point of their own take one.
func TestKMeansOfEqualRanks(t *testing.T) {
	d, err := plogp.NewProfiles(mat.NewDense(6, 6, nil))
	if err != nil {
		t.Fatal(err)
	}
	for k := 1; k <= 6; k++ {
		l, err := kMeans{k}.Cluster(d)
		if err != nil || l.Clusters() != k {
			t.Errorf("%d clusters of equal ranks: %v, %v", k, l, err)
		}
	}
	for _, k := range []int{0, 7} {
		if _, err := (kMeans{k}).Cluster(d); err == nil || !strings.HasPrefix(err.Error(), "k-means: ") {
			t.Errorf("%d clusters: %v", k, err)
		}
	}
}

// TestSpectral: on four groups of ten ranks, at distances of 1 inside and 2 between, affinities find all groups. Distances
// in their place do not: their largest eigenvector is the same for all ranks, and the next ones are those of the four
// groups with negative values, the smallest there are.
func TestSpectral(t *testing.T) {
	const groups, each = 4, 10
	m := mat.NewDense(groups*each, groups*each, nil)
	known := make(cluster.Labels, groups*each)
	for i := range known {
		known[i] = i / each
		for j := range known {
			switch {
			case i/each != j/each:
				m.Set(i, j, 2)
			case i != j:
				m.Set(i, j, 1)
			}
		}
	}
	d, err := cluster.NewDistances(m)
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		name  string
		by    cluster.Clusterer
		found bool
	}{{"affinities", spectral{groups, affinities}, true}, {"distances", spectral{groups, plainDistances}, false}} {
		labels, err := c.by.Cluster(d)
		if err != nil {
			t.Fatal(err)
		}
		if share := truth.Matching(labels, known); (share == 1) != c.found {
			t.Errorf("%s: %g of the ranks are in the right group", c.name, share)
		}
	}
	if _, err := (spectral{groups*each + 1, affinities}).Cluster(d); err == nil {
		t.Error("more clusters than ranks: no error")
	}
}

func TestSpectralFindsBlobs(t *testing.T) {
	var x []float64
	for b := range 3 {
		for i := range 10 {
			x = append(x, float64(100*b)+float64(i))
		}
	}
	got, err := spectral{3, affinities}.Cluster(onLine(t, x...))
	if err != nil || got.Clusters() != 3 {
		t.Fatalf("%v, %v", got, err)
	}
	for i, l := range got {
		if l != i/10 {
			t.Errorf("rank %d is in cluster %d", i, l)
		}
	}
	for k, want := range []cluster.Labels{1: {0, 0}, 2: {0, 1}} {
		if k == 0 {
			continue
		}
		if got, err := (spectral{k, affinities}).Cluster(onLine(t, 0, 3)); err != nil || !slices.Equal(got, want) {
			t.Errorf("two ranks, %d clusters: labels %v, %v, want %v", k, got, err, want)
		}
	}
}

// TestSSSByHand: radius around 0 is 21, M = 42, limit 0.25*42 = 10.5: 1 joins
// 0, 20 and 21 are a cluster.
func TestSSSByHand(t *testing.T) {
	got := sssTree{alpha: 0.25}.once(onLine(t, 0, 20, 1, 21), []int{0, 1, 2, 3})
	if want := (cluster.Labels{0, 1, 0, 1}); !slices.Equal(got, want) {
		t.Errorf("%v, want %v", got, want)
	}
}

func TestSSSTreeNests(t *testing.T) {
	var x []float64
	for _, far := range []float64{0, 1000} {
		for _, near := range []float64{0, 50} {
			for range 4 {
				x = append(x, far+near)
			}
		}
	}
	h, err := sssTree{alpha: 0.3, orders: 8}.hierarchy(onLine(t, x...))
	if err != nil {
		t.Fatal(err)
	}
	if len(h.Levels()) != 2 || len(h.GroupsAt(0)) != 4 || len(h.GroupsAt(1)) != 2 {
		t.Errorf("levels %v, groups %v", h.Levels(), h.Groups())
	}
}

// TestSSSTreeOfNoisyTrees: with alpha well to both sides of 0.4, which Brisaboa et al. found the best, all groups of
// noisy trees are found, and no others.
func TestSSSTreeOfNoisyTrees(t *testing.T) {
	for k, spec := range []string{
		"tree:4x8 latency=3us,1us", "tree:4x8 latency=1.5us,1us", "tree:3x4x5 latency=4us,2us,1us", "tree:2x4x8 latency=2.4us,1.5us,1us",
		"tree:6x3 latency=2us,1us", "tree:3x3x3 latency=4us,2us,1us", "tree:8x16 latency=2us,1us",
	} {
		c, err := gen.Parse(spec)
		if err != nil {
			t.Fatal(err)
		}
		exact, err := c.Latencies()
		if err != nil {
			t.Fatal(err)
		}
		for seed := range uint64(2) {
			rng := rand.New(rand.NewPCG(seed, uint64(k)))
			var reps []mat.Matrix
			for range 3 {
				m, err := gen.Noise{Sigma: 0.02, Outliers: 0.02}.Apply(rng, exact)
				if err != nil {
					t.Fatal(err)
				}
				reps = append(reps, m)
			}
			d, _, err := cluster.Combine(reps...)
			if err != nil {
				t.Fatal(err)
			}
			for _, alpha := range []float64{0.3, 0.4, 0.42} {
				h, err := sssTree{alpha: alpha, orders: 8}.hierarchy(d)
				if err != nil {
					t.Fatal(err)
				}
				var got, want [][]int
				for _, g := range h.Groups()[1:] {
					got = append(got, g.Hosts)
				}
				for _, g := range c.Hierarchy.Groups()[1:] {
					want = append(want, g.Hosts)
				}
				slices.SortFunc(got, slices.Compare)
				slices.SortFunc(want, slices.Compare)
				if !slices.EqualFunc(got, want, slices.Equal) {
					t.Errorf("alpha %g of %s, seed %d: %d groups, want %d: %v", alpha, spec, seed, len(got), len(want), got)
				}
			}
		}
	}
}
