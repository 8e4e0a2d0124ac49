package cluster

import (
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"gonum.org/v1/gonum/mat"
)

// machine is four nodes of two sockets of four ranks, in random order: latencies of 1, 2 and 4 us with 2 % of noise, and
// the true labels.
func machine(t *testing.T) (latencies *mat.Dense, nodes, sockets Labels) {
	t.Helper()
	const n = 32
	rng := rand.New(rand.NewPCG(3, 4))
	at := rng.Perm(n)
	latencies = mat.NewDense(n, n, nil)
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
			latencies.Set(i, j, v*(1+0.02*rng.NormFloat64()))
		}
	}
	return latencies, canonical(rawNodes), canonical(rawSockets)
}

// TestFamilies: on a clear machine every method of section 3.3 gets nodes and sockets right for some value of
// its parameter (equation 3.10), and finds one of the two by the silhouette, without being told.
func TestFamilies(t *testing.T) {
	m, nodes, sockets := machine(t)
	times, err := NewDistances(m)
	if err != nil {
		t.Fatal(err)
	}
	profiles, err := FromProfiles(m)
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range Families() {
		for name, d := range map[string]*Distances{"times": times, "profiles": profiles} {
			if f.Name == "spectral" && name == "profiles" {
				continue // sockets of four do not show among seven neighbours there
			}
			for level, truth := range map[string]Labels{"nodes": nodes, "sockets": sockets} {
				found, err := f.Accuracy(d, truth)
				if err != nil || found.Score != 1 || !slices.Equal(found.Labels, truth) {
					t.Errorf("%s of %s, %s: %.3f at %g, %v; want 1", f.Name, name, level, found.Score, found.Value, err)
				}
				if f.Static && found.Value != float64(truth.Clusters()) {
					t.Errorf("%s: told %g groups, there are %d", f.Name, found.Value, truth.Clusters())
				}
			}
			found, err := f.Search(d, func(l Labels) float64 { return Silhouette(d, l) })
			if err != nil || !slices.Equal(found.Labels, nodes) && !slices.Equal(found.Labels, sockets) {
				t.Errorf("%s of %s: searched %g of %d values, %v, %v", f.Name, name, found.Value, found.Tried, found.Labels, err)
			}
			if want := map[bool]int{true: 31, false: UsualSteps}[f.Static]; f.Name != "hdbscan" && found.Tried != want {
				t.Errorf("%s: %d values tried, want %d", f.Name, found.Tried, want)
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
		for range usualStarts {
			start := newCentres(points, c.k, rng)
			if sum := start.settle(); sum < least {
				least, best = sum, start.nearest
			}
		}
		if got := canonical(best); !slices.Equal(got, c.want) || math.Abs(least-c.sum) > 1e-9 {
			t.Errorf("%d clusters: %v of %g squares, want %v of %g", c.k, got, least, c.want, c.sum)
		}
	}
	if v := squared([]float64{1, math.NaN()}, []float64{math.NaN(), 1}, math.Inf(1)); !math.IsInf(v, 1) {
		t.Errorf("points without a common entry are %g apart", v)
	}
}

// TestKMeansOfEqualObjects: clusters without a point of their own take one.
func TestKMeansOfEqualObjects(t *testing.T) {
	d, err := NewDistances(mat.NewDense(6, 6, nil))
	if err != nil {
		t.Fatal(err)
	}
	for k := 1; k <= 6; k++ {
		l, err := KMeans{K: k}.Cluster(d)
		if err != nil || l.Clusters() != k {
			t.Errorf("%d clusters of equal objects: %v, %v", k, l, err)
		}
	}
	for _, m := range []KMeans{{K: 0}, {K: 7}, {K: 2, Restarts: -1}} {
		if _, err := m.Cluster(d); err == nil || !strings.HasPrefix(err.Error(), "cluster: k-means: ") {
			t.Errorf("%+v: %v", m, err)
		}
	}
}
