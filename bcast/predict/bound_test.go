package predict

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/topocast/topocast/bcast/schedule"
	"github.com/topocast/topocast/bcast/schedule/classic"
	"github.com/topocast/topocast/internal/casttest"
	"github.com/topocast/topocast/internal/gen"
	"github.com/topocast/topocast/model"
	"github.com/topocast/topocast/topology"
)

// cluster is the network of a generated cluster, whose times are those of its graph.
func cluster(t testing.TB, spec string) *model.Network {
	t.Helper()
	c, err := gen.Parse(spec)
	if err != nil {
		t.Fatal(err)
	}
	n, err := model.FromGraph(c.Graph, topology.ChooseLowest)
	if err != nil {
		t.Fatal(err)
	}
	return n
}

// TestBoundByHand: two links in a rack, four between racks.
func TestBoundByHand(t *testing.T) {
	const tree = "tree:2x4 latency=30us,10us rate=100Mbps,200Mbps" // B/s: 12.5e6 between racks, 25e6 of hosts
	for _, c := range []struct {
		spec        string
		bytes, root int
		want        float64
	}{
		{tree, 0, 0, 0},
		{tree, 1, 3, 80e-6 + 1/12.5e6},
		{tree, 8 << 20, 3, 80e-6 + (8<<20)/12.5e6},
		{"star:5 latency=10us rate=1Gbps", 1 << 20, 2, 20e-6 + (1<<20)/125e6},
		{"star:1", 1 << 20, 0, 0},
		// The way round a ring may be either, or both: only the hosts' links, of the same rate, are
		// in all of them. The farthest of six switches is three links away.
		{"ring:6 hosts=1 latency=2us rate=1Gbps", 1 << 20, 0, 10e-6 + (1<<20)/125e6},
	} {
		n := cluster(t, c.spec)
		got, err := Bound(n, c.bytes, c.root)
		if err != nil || !casttest.Near(got, c.want, 1e-6) {
			t.Errorf("%s: Bound(%d, %d) = %g, %v, want %g", c.spec, c.bytes, c.root, got, err, c.want)
		}
	}
	n := cluster(t, tree)
	for _, c := range []struct{ bytes, root int }{{-1, 0}, {8, -1}, {8, 8}} {
		if _, err := Bound(n, c.bytes, c.root); err == nil {
			t.Errorf("Bound(%d, %d) is taken", c.bytes, c.root)
		}
	}
}

// TestBoundOfManyRanks: postal trees by hand. Latency 10 us, a message every 5 us: one rank at 10, the second
// at 15, at 20 one of the root and one of the first, ...: Fibonacci numbers of ranks every 5 us, as
// in Bar-Noy & Kipnis 1992, section 2, for lambda = 2.
func TestBoundOfManyRanks(t *testing.T) {
	nan := math.NaN()
	for ranks, want := range map[int]float64{2: 10e-6, 3: 15e-6, 4: 20e-6, 5: 20e-6, 6: 25e-6, 8: 25e-6, 9: 30e-6, 13: 30e-6, 14: 35e-6} {
		h, err := topology.NewHierarchy(ranks, nil, nil, nan)
		if err != nil {
			t.Fatal(err)
		}
		g, err := topology.NewGraph(ranks, 0, nil, nil)
		if err != nil {
			t.Fatal(err)
		}
		level := model.LevelParams{PLogP: model.Hockney{Latency: 10e-6, Bandwidth: 1e9}.PLogP(), Spread: nan}
		level.Send, level.Recv = []float64{5e-6, 5e-6}, []float64{1e-6, 1e-6}
		n, err := model.New(&topology.Result{Graph: g, Hierarchy: h, Fit: topology.Fit{Family: topology.FamilyTree}}, &model.Settings{Levels: []model.LevelParams{level}})
		if err != nil {
			t.Fatal(err)
		}
		got, err := Bound(n, 1, 0) // which a stream takes 1 ns for
		if err != nil || !casttest.Near(got, want, 2e-4) {
			t.Errorf("%d ranks: Bound = %g, %v, want %g", ranks, got, err, want)
		}
		// A long message: the graph knows no link, so a lone stream's time counts.
		if got, err := Bound(n, 1e8, 0); err != nil || !casttest.Near(got, 10e-6+0.1, 1e-9) {
			t.Errorf("%d ranks, 100 MB: Bound = %g, %v, want 0.10001", ranks, got, err)
		}
	}
}

// TestNothingIsPredictedBelowTheBound on clusters of all kinds, by any algorithm.
func TestNothingIsPredictedBelowTheBound(t *testing.T) {
	rng := rand.New(rand.NewPCG(11, 5))
	for _, spec := range []string{
		"tree:2x4 latency=30us,10us rate=100Mbps,200Mbps", "tree:2x2x3 latency=50us,20us,5us rate=1Gbps,1Gbps,10Gbps",
		"star:9 latency=3us rate=1Gbps", "fattree:4 latency=5us rate=10Gbps", "ring:6 hosts=2 latency=2us rate=1Gbps",
	} {
		n := cluster(t, spec)
		e := New(n)
		for range 6 {
			p := schedule.Problem{Ranks: n.Ranks(), Root: rng.IntN(n.Ranks()), Bytes: 1 << rng.IntN(24), Tree: n.Hierarchy()}
			bound, err := Bound(n, p.Bytes, p.Root)
			if err != nil || !(bound > 0) {
				t.Fatalf("%s: Bound = %g, %v", spec, bound, err)
			}
			for _, a := range schedule.Variants(append(schedule.Algorithms(), classic.Algorithms()...), p) {
				for _, p.Segment = range []int{0, 8 << 10} {
					if got := e.Predict(a, p); got < bound*(1-1e-9) {
						t.Errorf("%s: %s of %d bytes from %d in segments of %d: %g s, below the bound of %g", spec, fmt.Sprint(a), p.Bytes, p.Root, p.Segment, got, bound)
					}
				}
			}
		}
	}
}
