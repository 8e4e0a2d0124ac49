package nested

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/topocast/topocast/internal/measured"
	"github.com/topocast/topocast/topology"
	"gonum.org/v1/gonum/mat"
)

// randomHierarchyTree is a tree of n hosts in random nested groups.
func randomHierarchyTree(rng *rand.Rand, n int) *Tree {
	var groups []topology.Group
	hosts := rng.Perm(n)
	var levels int
	var split func(part []int, depth int)
	split = func(part []int, depth int) {
		for len(part) >= 2 {
			k := 2 + rng.IntN(max(1, len(part)/2))
			if k > len(part) {
				break
			}
			if k < n && rng.IntN(3) > 0 {
				groups = append(groups, topology.Group{Hosts: part[:k], Level: depth, Latency: 1})
				levels = max(levels, depth+1)
				if k > 3 {
					split(part[:k], depth+1)
				}
			}
			part = part[k:]
		}
	}
	split(hosts, 0)
	for i := range groups {
		groups[i].Level = levels - 1 - groups[i].Level // coarse groups have high levels
		groups[i].Latency = 1 + float64(groups[i].Level)
	}
	h, err := topology.NewHierarchy(n, make([]topology.Level, levels), groups, float64(1+levels))
	if err != nil {
		panic(err)
	}
	return Of(h)
}

// measurementsOf measures paths under given lengths, with relative noise.
func measurementsOf(t *Tree, length []float64, rng *rand.Rand, sigma float64) *measured.Symmetric {
	f := NewFit(t)
	copy(f.Length, length)
	f.descend()
	join := make([]int32, t.N)
	return measured.NewSymmetric(t.N, func(i, j int) float32 {
		if j == 0 {
			t.Joins(i, join)
		}
		return float32(f.Between(i, j, join[j]) * (1 + sigma*rng.NormFloat64()))
	})
}

func randomLengths(t *Tree, rng *rand.Rand) []float64 {
	length := make([]float64, len(t.Parent))
	for v := range length {
		if int32(v) != t.Root {
			length[v] = 0.5 + rng.Float64()
		}
	}
	return length
}

// denseFit solves the same least squares with the incidence matrix of pairs and
// edges, as fitted latencies of all pairs: they are unique where the edges are not.
func denseFit(t *Tree, r *measured.Symmetric) []float64 {
	var edges []int32
	for _, p := range t.Groups() {
		edges = append(edges, t.Kids(p)...)
	}
	pairs := t.N * (t.N - 1) / 2
	a := mat.NewDense(pairs, len(edges), nil)
	b := mat.NewVecDense(pairs, nil)
	row := 0
	for i := range t.N {
		for j := range i {
			for e, v := range edges {
				below := func(h int) bool { return t.Lo[h] >= t.Lo[v] && t.Lo[h] < t.Hi[v] }
				if below(i) != below(j) {
					a.Set(row, e, 1)
				}
			}
			b.SetVec(row, float64(r.Row(i)[j]))
			row++
		}
	}
	var svd mat.SVD
	if !svd.Factorize(a, mat.SVDThin) {
		panic("no singular values")
	}
	rank := 0
	values := svd.Values(nil)
	for _, s := range values {
		if s > 1e-9*values[0] {
			rank++
		}
	}
	var x, fit mat.VecDense
	svd.SolveVecTo(&x, b, rank)
	fit.MulVec(a, &x)
	return fit.RawVector().Data
}

func TestFitAgreesWithDenseLeastSquares(t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 6))
	for n := 3; n <= 24; n++ {
		tr := randomHierarchyTree(rng, n)
		// Noise well below the clip, so that Huber's loss is that of least squares.
		r := measurementsOf(tr, randomLengths(tr, rng), rng, 0.01)
		want := denseFit(tr, r)
		f := NewFit(tr)
		f.Robust(r)
		join := make([]int32, n)
		row := 0
		for i := range n {
			tr.Joins(i, join)
			for j := range i {
				if got := f.Between(i, j, join[j]); math.Abs(got-want[row]) > 1e-3*want[row] {
					t.Errorf("n=%d: fit of hosts %d and %d is %g, want %g", n, i, j, got, want[row])
				}
				row++
			}
		}
	}
}

// Without noise the lengths come back, but for the two edges above a root's
// only two children, of which the sum does.
func TestFitFindsLengths(t *testing.T) {
	rng := rand.New(rand.NewPCG(7, 8))
	for n := 3; n <= 60; n += 3 {
		tr := randomHierarchyTree(rng, n)
		length := randomLengths(tr, rng)
		f := NewFit(tr)
		f.Robust(measurementsOf(tr, length, rng, 0))
		two := tr.Kids(tr.Root)
		if len(two) == 2 {
			a, b := two[0], two[1]
			if got, want := f.Length[a]+f.Length[b], length[a]+length[b]; math.Abs(got-want) > 1e-4 {
				t.Errorf("n=%d: the two edges of the root sum to %g, want %g", n, got, want)
			}
		}
		for v := range length {
			if len(two) == 2 && (int32(v) == two[0] || int32(v) == two[1]) {
				continue
			}
			if math.Abs(f.Length[v]-length[v]) > 1e-3 {
				t.Errorf("n=%d: edge above %d is %g, want %g", n, v, f.Length[v], length[v])
			}
		}
	}
}

// Of measurements of which 2 % are far too high plain least squares is useless.
func TestFitStandsOutliers(t *testing.T) {
	rng := rand.New(rand.NewPCG(9, 10))
	tr := randomHierarchyTree(rng, 100)
	length := randomLengths(tr, rng)
	r := measurementsOf(tr, length, rng, 0.03)
	r = measured.NewSymmetric(tr.N, func(i, j int) float32 {
		x := r.At(i, j)
		if rng.Float64() < 0.02 {
			x *= float32(1.5 + 8.5*rng.Float64())
		}
		return x
	})
	f := NewFit(tr)
	f.Robust(r)
	truth := NewFit(tr)
	copy(truth.Length, length)
	truth.descend()
	join := make([]int32, tr.N)
	var sum float64
	for i := range tr.N {
		tr.Joins(i, join)
		for j := range i {
			sum += math.Abs(f.Between(i, j, join[j])/truth.Between(i, j, join[j]) - 1)
		}
	}
	if mean := sum / float64(tr.N*(tr.N-1)/2); mean > 0.01 {
		t.Errorf("mean error of the fitted latencies %g, want below 1 %%", mean)
	}
}

// TestFarNoiseBendsNoNearLinks: some cores in a socket are 10 ns apart, and 2 us from those of other sockets, all to within
// 1 %. The 20 ns of noise in the far measurements tell nothing about links of 5 ns. Least squares of the m(m-1)/2 measurements
// among m cores have a variance of 2/(m-1) of theirs in the mean; four standard deviations are the bound. One core with a link
// of 15 ns keeps it: its paths are 20 ns.
func TestFarNoiseBendsNoNearLinks(t *testing.T) {
	for _, cores := range []int{3, 4, 8} {
		t.Run(fmt.Sprint(cores, " cores"), func(t *testing.T) { farNoiseBendsNoNearLinks(t, cores) })
	}
}

func farNoiseBendsNoNearLinks(t *testing.T, cores int) {
	const sockets, slow = 16, 5
	var groups []topology.Group
	for s := range sockets {
		var hosts []int
		for c := range cores {
			hosts = append(hosts, s*cores+c)
		}
		groups = append(groups, topology.Group{Hosts: hosts, Latency: 10e-9})
	}
	h, err := topology.NewHierarchy(sockets*cores, make([]topology.Level, 1), groups, 2e-6)
	if err != nil {
		t.Fatal(err)
	}
	rng := rand.New(rand.NewPCG(11, 12))
	tr := Of(h)
	f := NewFit(tr)
	length := append([]float64(nil), f.Length...)
	length[slow] = 15e-9
	r := measurementsOf(tr, length, rng, 0.01)
	f.Robust(r)
	f.NearLinks(r, 0.01)
	for s := range sockets {
		for i := s * cores; i < (s+1)*cores; i++ {
			for j := s * cores; j < i; j++ {
				got := f.Between(i, j, tr.Parent[i])
				want := 10e-9
				if i == slow || j == slow {
					want = 20e-9
				}
				if math.Abs(got/want-1) > 4*0.01*math.Sqrt(2/float64(cores-1)) {
					t.Errorf("cores %d and %d are %g s apart, want %g", i, j, got, want)
				}
			}
		}
	}
}

// TestFewMeasurementsInsideBendNoLinks: three hosts at a switch are 2 us apart, and 4 us from 15 others, all to within 1 %. The
// two measurements of the first one inside are 12 % too short. By the three inside alone its link would be 24 % shorter than the
// others'. To the 15 others it is as far as they are, and the mean of 15 measurements has an error of 10 ns. Five
// standard deviations of a difference, 73 ns, are the bound.
func TestFewMeasurementsInsideBendNoLinks(t *testing.T) {
	const switches, hosts = 6, 3
	var groups []topology.Group
	for s := range switches {
		groups = append(groups, topology.Group{Hosts: []int{s * hosts, s*hosts + 1, s*hosts + 2}, Latency: 2e-6})
	}
	h, err := topology.NewHierarchy(switches*hosts, make([]topology.Level, 1), groups, 4e-6)
	if err != nil {
		t.Fatal(err)
	}
	tr := Of(h)
	f := NewFit(tr)
	m := measurementsOf(tr, f.Length, rand.New(rand.NewPCG(21, 22)), 0.01)
	for _, j := range []int{1, 2} {
		m.Row(j)[0] = 0.88 * 2e-6
	}
	f.Robust(m)
	f.NearLinks(m, 0.01)
	for i := 1; i < hosts; i++ {
		if less := f.Length[i] - f.Length[0]; math.Abs(less) > 73e-9 {
			t.Errorf("the link of host 0 is %g s shorter than that of host %d, want as long", less, i)
		}
	}
}
