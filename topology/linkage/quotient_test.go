package linkage

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/topocast/topocast/internal/tooltest"
	"github.com/topocast/topocast/internal/topotest"
	"github.com/topocast/topocast/internal/witness"
)

// pairOf is an undirected pair.
func pairOf(u, v int) witness.Pair { return witness.Pair{From: min(u, v), To: max(u, v)} }

// switchBlocks are the true blocks of a Torus, and its switch links in
// numbers of blocks.
func switchBlocks(w *topotest.Wiring) (blocks [][]int, links []witness.Pair) {
	k := w.Vertices - w.Hosts
	blocks = make([][]int, k)
	for h := range w.Hosts {
		b := h / (w.Hosts / k)
		blocks[b] = append(blocks[b], h)
	}
	for _, p := range w.Pairs() {
		if p.From >= w.Hosts {
			links = append(links, witness.Pair{From: p.From - w.Hosts, To: p.To - w.Hosts})
		}
	}
	return blocks, links
}

// quotientOf is the quotient of a full matrix, and its links, all of them searched for.
func quotientOf(n int, d []float64, blocks [][]int) (*quotient, []witness.Pair) {
	q := newQuotient(func(i, j int) float64 { return d[i*n+j] }, blocks)
	return q, q.links(nil)
}

func TestQuotientFindsRingsAndTori(t *testing.T) {
	seeds := 4
	switch {
	case testing.Short():
		seeds = 2
	case tooltest.Long():
		seeds = 20
	}
	for _, c := range []struct {
		dims     []int
		per      int
		leaf     float64
		noise    float64
		reps     int
		atLeast  int // of 20 seeds
		outliers float64
		spread   float64 // of the leaf links, up and down
	}{
		{[]int{4}, 8, 1, 0.01, 2, 19, 0.02, 0},
		{[]int{6}, 8, 1, 0.01, 2, 19, 0.02, 0},
		{[]int{4, 4}, 8, 1, 0.01, 2, 19, 0.02, 0},
		{[]int{4, 4, 4}, 8, 1, 0.01, 2, 19, 0.02, 0},
		{[]int{3, 3, 3}, 8, 1, 0.01, 2, 19, 0.02, 0},
		{[]int{4, 4}, 8, 3, 0.01, 2, 19, 0.02, 0}, // leaf links three hops long
		{[]int{4, 4}, 8, 1, 0.05, 1, 19, 0.02, 0},
		{[]int{4, 4}, 3, 1, 0.03, 2, 19, 0.02, 0},
		{[]int{4, 4, 4}, 8, 3, 0.01, 2, 19, 0.02, 0.3},
		{[]int{6}, 4, 1, 0.01, 2, 19, 0.02, 0.3},
	} {
		w := topotest.Torus(c.dims, c.per, c.leaf, 1)
		d, n := w.Distances(), w.Hosts
		blocks, want := switchBlocks(w)
		exact := 0
		for seed := range uint64(seeds) {
			rng := rand.New(rand.NewPCG(seed, 10))
			if c.spread > 0 {
				for h := range n {
					w.Link(h, n+h/c.per, c.leaf*(1+c.spread*(2*rng.Float64()-1)))
				}
				d = w.Distances()
			}
			var reps [][]float64
			for range c.reps {
				reps = append(reps, topotest.Noisy(rng, n, d, c.noise, c.outliers))
			}
			if _, links := quotientOf(n, topotest.Smallest(reps...), blocks); slices.Equal(links, want) {
				exact++
			}
		}
		if exact < c.atLeast*seeds/20 {
			t.Errorf("%v x %d hosts, %g %% noise, %d repetitions: exact in %d of %d seeds, want %d of 20", c.dims, c.per, 100*c.noise, c.reps, exact, seeds, c.atLeast)
		}
	}
}

func TestQuotientGraph(t *testing.T) {
	// Two switches with hosts {0, 1}, {2, 3} on links of 1, and host 4 alone on a
	// third; a chain of hops of 3.
	nan := math.NaN()
	d := []float64{
		0, 2, 5, 5, 8,
		2, 0, 5, 5, 8,
		5, 5, 0, 2, 5,
		5, 5, 2, 0, 5,
		8, 8, 5, 5, 0,
	}
	q, links := quotientOf(5, d, [][]int{{0, 1}, {2, 3}, {4}})
	g, err := q.graph(5, links)
	if err != nil {
		t.Fatal(err)
	}
	want := map[witness.Pair]float64{
		pairOf(0, 5): 1, pairOf(1, 5): 1, pairOf(2, 6): 1, pairOf(3, 6): 1, pairOf(4, 7): 1, pairOf(5, 6): 3, pairOf(6, 7): 3,
	}
	if g.NumArcs() != 2*len(want) {
		t.Errorf("%d arcs, want %d", g.NumArcs(), 2*len(want))
	}
	for _, a := range g.Arcs() {
		if l := want[pairOf(a.From, a.To)]; l != a.Latency {
			t.Errorf("arc %d->%d = %g, want %g", a.From, a.To, a.Latency, l)
		}
	}
	if len(q.warnings()) != 1 {
		t.Errorf("warnings = %q, want one on host 4", q.warnings())
	}

	for _, i := range []int{0, 1} {
		for _, j := range []int{2, 3} {
			d[i*5+j], d[j*5+i] = nan, nan
		}
	}
	q, links = quotientOf(5, d, [][]int{{0, 1}, {2, 3}, {4}})
	if want := []witness.Pair{pairOf(0, 2), pairOf(1, 2)}; !slices.Equal(links, want) || len(q.warnings()) != 2 {
		t.Errorf("with a block pair not measured: links %v, warnings %q, want %v and two", links, q.warnings(), want)
	}
}

// Six switches of two hosts in a ring, of which host 1 is on a link of twice the length. Half of what the two hosts read of each
// other would be too long for both, and the switch too near to all others. Expected latencies are those of the wiring.
func TestQuotientTellsTheLinksOfAHostApart(t *testing.T) {
	w := topotest.Torus([]int{6}, 2, 5, 5)
	n := w.Hosts
	w.Link(1, n, 10)
	blocks, want := switchBlocks(w)
	for seed := range uint64(10) {
		q, links := quotientOf(n, topotest.Noisy(rand.New(rand.NewPCG(seed, 11)), n, w.Distances(), 0.005, 0), blocks)
		g, err := q.graph(n, links)
		if err != nil || !slices.Equal(links, want) {
			t.Fatalf("seed %d: error %v, links %v, want %v", seed, err, links, want)
		}
		for h, want := range map[int]float64{0: 5, 1: 10, 2: 5} {
			if got := g.Out(h)[0].Latency; math.Abs(got-want) > 0.05*want {
				t.Errorf("seed %d: the link of host %d is %.3g long, want %g", seed, h, got, want)
			}
		}
	}
}

// A host that its slow link has put on a switch of its own is on the switch beside it again. One that is alone on a switch
// of two links stays there.
func TestQuotientJoinsLoneHostsToTheSwitchBeside(t *testing.T) {
	w := topotest.Torus([]int{5}, 2, 5, 5)
	n := w.Hosts
	w.Link(1, n, 10)
	d := w.Distances()
	q, links := quotientOf(n, d, [][]int{{0}, {1}, {2, 3}, {4, 5}, {6, 7}, {8, 9}})
	if got, want := fmt.Sprint(q.joined(links)), "[[0 1] [2 3] [4 5] [6 7] [8 9]]"; got != want {
		t.Errorf("joined %v, want %v", got, want)
	}
	q, links = quotientOf(n, d, [][]int{{0}, {2, 3}, {4, 5}, {6, 7}, {8, 9}})
	if got := q.joined(links); got != nil {
		t.Errorf("joined %v, want none", got)
	}
}

func TestQuotientOfNothing(t *testing.T) {
	for _, blocks := range [][][]int{nil, {{0}}, {{0}, {1}}} {
		n := len(blocks)
		d := make([]float64, n*n)
		q, links := quotientOf(n, d, blocks)
		if g, err := q.graph(n, links); err != nil || g.Vertices() != 2*n {
			t.Errorf("quotient of %v: graph %v, error %v", blocks, g, err)
		}
	}
}
