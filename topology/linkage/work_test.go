package linkage

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/topocast/topocast/internal/measured"
	"github.com/topocast/topocast/internal/nested"
	"github.com/topocast/topocast/internal/nnchain"
	"github.com/topocast/topocast/internal/tooltest"
	"github.com/topocast/topocast/internal/topotest"
	"github.com/topocast/topocast/internal/witness"
)

// searchWork is what the search for other graphs than a tree looks at, in a matrix of
// one repetition, whether it would be called for or not.
func searchWork(t *testing.T, n int, d []float64) (work int64, given []string) {
	t.Helper()
	r := measured.NewSymmetric(n, func(i, j int) float32 { return float32(d[i*n+j]) })
	tree, _, _ := propose(r.At, nnchain.NewSquare(n))
	s := &meshSearch{r: r, f: nested.NewFit(tree)}
	if _, err := s.best(math.NaN(), true); err != nil {
		t.Fatal(err)
	}
	return s.work, s.given
}

// Hosts of two ranks on one switch, or in racks, are the common machine. Its
// quotient is a full mesh, which is seen by counting links. Per pair of hosts
// the measurements are looked at once, and as many legs as the bound allows at most; for the hosts twice, as the
// noise is worked out again. 30 % of noise make anything, so that search may be given up.
func TestMeshSearchWorkGrowsWithThePairs(t *testing.T) {
	if !tooltest.Long() {
		t.Skip("long, and its goroutines are those of shorter tests")
	}
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
		n, d := topotest.Nested(c.sizes, c.latency)
		for _, noise := range []float64{0, 0.03, 0.3} {
			work, given := searchWork(t, n, topotest.Noisy(rand.New(rand.NewPCG(1, 20)), n, d, noise, 0.02))
			most := int64(n)*int64(n)/2 + 3*witness.NewBound(n).Legs
			if work > most || noise < 0.1 && len(given) > 0 {
				t.Errorf("%s, %g %% of noise: looked at %d, %d per pair, want %d at most; given up %q", c.name, 100*noise, work, work/int64(n*n/2), most, given)
			}
		}
	}
}

// Whatever the measurements, the search ends: these are neither dense nor sparse.
func TestMeshSearchWorkIsBounded(t *testing.T) {
	for seed := range uint64(6) {
		rng := rand.New(rand.NewPCG(seed, 21))
		n, d := topotest.Nested([]int{2, 128}, []float64{0.1, 1})
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
		if most := int64(n*n/2) + 3*witness.NewBound(n).Legs; work > most {
			t.Errorf("seed %d: looked at %d, want %d at most", seed, work, most)
		}
	}
}

// Where the search among many hosts is not made, the result says so.
func TestMeshSearchSaysWhatItGaveUp(t *testing.T) {
	if testing.Short() {
		t.Skip("short")
	}
	n := meshMost + 1
	r := measured.NewSymmetric(n, func(i, j int) float32 { return float32(min(i-j, n-i+j)) }) // a ring
	flat := &nested.Tree{N: n, Root: int32(n), Parent: make([]int32, n+1), Children: [][]int32{nil}, Level: []float64{0}, Lo: make([]int32, n+1), Hi: make([]int32, n+1)}
	s := &meshSearch{r: r, f: &nested.Fit{Tree: flat, Groups: []int32{flat.Root}}}
	w, err := s.best(0.01, true)
	if w != nil || err != nil || len(s.given) != 1 {
		t.Errorf("%d hosts: found %v, error %v, given up %q, want one search given up", n, w, err, s.given)
	}
	s = &meshSearch{r: measured.NewSymmetric(4, func(i, j int) float32 { return 1 }), f: &nested.Fit{Tree: flat, Groups: []int32{flat.Root}}}
	if _, err := s.best(0.01, true); err != nil || len(s.given) > 0 {
		t.Errorf("4 hosts: error %v, given up %q, want nothing said", err, s.given)
	}
}
