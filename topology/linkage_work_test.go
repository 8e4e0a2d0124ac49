package topology

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/topocast/topocast/internal/nnchain"
	"github.com/topocast/topocast/internal/readings"
)

// nested is a matrix of hosts in groups of groups: sizes from fine to coarse, and the
// latency inside each.
func nested(sizes []int, latency []float64) (n int, d []float64) {
	n = 1
	for _, s := range sizes {
		n *= s
	}
	d = make([]float64, n*n)
	for i := range n {
		for j := range n {
			block := 1
			for l := 0; i != j && d[i*n+j] == 0; l++ {
				if block *= sizes[l]; i/block == j/block {
					d[i*n+j] = latency[l]
				}
			}
		}
	}
	return n, d
}

// searchWork is what the search for other graphs than a tree looks at, in a matrix of
// one repetition, whether it would be called for or not.
func searchWork(t *testing.T, n int, d []float64) (work int64, given []string) {
	t.Helper()
	r := readings.NewSymmetric(n, func(i, j int) float32 { return float32(d[i*n+j]) })
	tree, _ := propose(readings.Correct(r), nnchain.NewSquare(n))
	s := &meshSearch{r: r, f: newTreeFit(tree)}
	if _, err := s.best(math.NaN(), true); err != nil {
		t.Fatal(err)
	}
	return s.work, s.given
}

// Hosts of two ranks on one switch, or in racks, are the common machine. Its
// quotient is a full mesh, which is seen by counting links; cliques of equal
// latency among hundreds of switches would be searched for ever. Per pair of hosts
// the readings are looked at once, and legsPerPair legs at most; for the hosts twice, as the
// noise is worked out again. 30 % of noise make anything, so that search may be given up.
func TestMeshSearchWorkGrowsWithThePairs(t *testing.T) {
	for _, c := range []struct {
		name    string
		sizes   []int
		latency []float64
	}{
		{"64x2", []int{2, 64}, []float64{2, 6}},
		{"128x2", []int{2, 128}, []float64{2, 6}},
		{"8x16x2", []int{2, 16, 8}, []float64{2, 8, 14}},
		{"192 alone", []int{192}, []float64{2}},
	} {
		n, d := nested(c.sizes, c.latency)
		for _, noise := range []float64{0, 0.03, 0.3} {
			work, given := searchWork(t, n, noisy(rand.New(rand.NewPCG(1, 20)), n, d, noise, 0.02))
			most := (1+3*legsPerPair)*int64(n)*int64(n)/2 + 3*legsLeast
			if work > most || noise < 0.1 && len(given) > 0 {
				t.Errorf("%s, %g %% of noise: looked at %d, %d per pair, want %d at most; given up %q", c.name, 100*noise, work, work/int64(n*n/2), most, given)
			}
		}
	}
}

// Whatever the readings, the search ends: these are neither dense nor sparse, and some
// have cliques without number.
func TestMeshSearchWorkIsBounded(t *testing.T) {
	for seed := range uint64(6) {
		rng := rand.New(rand.NewPCG(seed, 21))
		n, d := nested([]int{2, 128}, []float64{0.1, 1})
		for a := range n / 2 {
			for b := range a {
				v := 1 + math.Pow(rng.Float64(), float64(seed))
				for x := range 4 {
					i, j := 2*a+x/2, 2*b+x%2
					d[i*n+j], d[j*n+i] = v, v
				}
			}
		}
		work, _ := searchWork(t, n, d)
		if most := int64((1+3*legsPerPair)*n*n/2 + 3*legsLeast + hiddenWork + hiddenWork/8); work > most {
			t.Errorf("seed %d: looked at %d, want %d at most", seed, work, most)
		}
	}
}

func TestSpannerBoundEndsTheSearch(t *testing.T) {
	n, d := nested([]int{8, 16}, []float64{1, 1.9}) // no path is as short: 8128 links
	for _, c := range []struct {
		bound        *spannerBound
		dense, spent bool
	}{
		{&spannerBound{links: 8127, legs: math.MaxInt64}, true, false},
		{&spannerBound{links: 8128, legs: math.MaxInt64}, false, false},
		{&spannerBound{links: 8128, legs: 0}, false, false}, // half of 1.9 is below 1: no legs to look at
	} {
		links := witnessSpanner(n, d, spannerTest{bound: c.bound})
		if c.bound.dense() != c.dense || c.bound.spent() != c.spent || (links == nil) != (c.dense || c.spent) {
			t.Errorf("bound of %d links: %d links, dense %v, spent %v, want %v, %v", c.bound.links, len(links), c.bound.dense(), c.bound.spent(), c.dense, c.spent)
		}
	}
	n, d = nested([]int{8, 16}, []float64{1, 2}) // all pairs outside a block are explained, by the first leg or the second
	bound := &spannerBound{links: 8128, legs: 0}
	if links := witnessSpanner(n, d, spannerTest{relative: 0.5, bound: bound}); links != nil || !bound.spent() {
		t.Errorf("a bound of no legs: %d links, spent %v, want it to end", len(links), bound.spent())
	}
}

// Where the search among many hosts is not made, the result says so.
func TestMeshSearchSaysWhatItGaveUp(t *testing.T) {
	if testing.Short() {
		t.Skip("short")
	}
	n := meshMost + 1
	r := readings.NewSymmetric(n, func(i, j int) float32 { return float32(min(i-j, n-i+j)) }) // a ring
	flat := &tree{n: n, root: int32(n), parent: make([]int32, n+1), children: [][]int32{nil}, level: []float64{0}, lo: make([]int32, n+1), hi: make([]int32, n+1)}
	s := &meshSearch{r: r, f: &treeFit{t: flat, groups: []int32{flat.root}}}
	w, err := s.best(0.01, true)
	if w != nil || err != nil || len(s.given) != 1 {
		t.Errorf("%d hosts: found %v, error %v, given up %q, want one search given up", n, w, err, s.given)
	}
	s = &meshSearch{r: readings.NewSymmetric(4, func(i, j int) float32 { return 1 }), f: &treeFit{t: flat, groups: []int32{flat.root}}}
	if _, err := s.best(0.01, true); err != nil || len(s.given) > 0 {
		t.Errorf("4 hosts: error %v, given up %q, want nothing said", err, s.given)
	}
}
