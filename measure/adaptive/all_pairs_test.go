package adaptive

import (
	"math/rand/v2"
	"testing"

	"gonum.org/v1/gonum/mat"

	"github.com/topocast/topocast/internal/topotest"
	"github.com/topocast/topocast/topology"
	"github.com/topocast/topocast/topology/linkage"
)

// A stored matrix, read with noise.
type stored struct {
	n     int
	d     []float64
	sigma float64
	rng   *rand.Rand
}

func (s *stored) Read(dst []float64, pairs []Pair) error {
	for k, p := range pairs {
		dst[k] = s.d[int(p.A)*s.n+int(p.B)] * (1 + s.sigma*s.rng.NormFloat64())
	}
	return nil
}

// What is no tree is read by all pairs, and is what linkage makes of the matrix: a torus of hosts and a ring of switches.
func TestNoTreeIsReadByAllPairs(t *testing.T) {
	for name, w := range map[string]*topotest.Wiring{
		"torus of hosts":   topotest.Torus([]int{8, 8}, 0, 0, 1e-6),
		"ring of switches": topotest.Torus([]int{6}, 8, 1e-6, 2e-6),
		"dragonfly":        topotest.Dragonfly(8, 6, 1e-6, 3e-6),
	} {
		o := &stored{w.Hosts, w.Distances(), 0.01, rand.New(rand.NewPCG(1, 1))}
		found, err := Explore(w.Hosts, o, nil)
		if err != nil {
			t.Fatal(err)
		}
		want, err := linkage.Reconstruct(mat.NewDense(w.Hosts, w.Hosts, w.Distances()))
		if err != nil {
			t.Fatal(err)
		}
		if found.Method != MethodAllPairs || found.Topology.Fit.Family != want.Fit.Family {
			t.Errorf("%s: by %s, family %s, want %s", name, found.Method, found.Topology.Fit.Family, want.Fit.Family)
		}
		if missing, extra := differ(groupsOf(want.Hierarchy, true), groupsOf(found.Topology.Hierarchy, true)); missing+extra > 0 {
			t.Errorf("%s: %d confident groups missing, %d more than of the exact matrix", name, missing, extra)
		}
	}
}

// Hosts on switches that are no tree, too many for all pairs: each block is the hosts of one switch, the links between
// switches are the torus', and a small part of the pairs is read. A torus of hosts has no blocks, and says so.
func TestNoTreeIsReadByBlocks(t *testing.T) {
	const perSwitch = 12
	w := topotest.Torus([]int{6, 6}, perSwitch, 1e-6, 3e-6)
	o := &stored{w.Hosts, w.Distances(), 0.01, rand.New(rand.NewPCG(2, 1))}
	found, err := Explore(w.Hosts, o, &Settings{MostAllPairs: 100})
	if err != nil {
		t.Fatal(err)
	}
	if found.Method != MethodBlocks || found.Topology.Fit.Family != topology.FamilyQuotient || found.Share() > 0.15 {
		t.Errorf("by %s, family %s, %.1f %% of the pairs", found.Method, found.Topology.Fit.Family, 100*found.Share())
	}
	blocks := found.Topology.Hierarchy.GroupsAt(0)
	if len(blocks) != 36 {
		t.Fatalf("%d blocks, want 36", len(blocks))
	}
	for _, b := range blocks {
		if len(b.Hosts) != perSwitch || b.Firm() {
			t.Errorf("block %v, confidence %g, want %d hosts, uncertain", b.Hosts, b.Support, perSwitch)
		}
		for _, h := range b.Hosts { // all as near as hosts of one switch, by the exact matrix
			if h != b.Hosts[0] && o.d[h*w.Hosts+b.Hosts[0]] > 2.1e-6 {
				t.Errorf("block %v: hosts %d and %d are not on one switch", b.Hosts, h, b.Hosts[0])
			}
		}
	}
	// Each switch has four neighbours, so 72 links join switches; and paths are as long as they were.
	links := 0
	for _, a := range found.Topology.Graph.Arcs() {
		if a.From < a.To && a.From >= w.Hosts {
			links++
		}
	}
	if links != 72 {
		t.Errorf("%d links between switches, want 72", links)
	}
	d := found.Topology.Graph.HostDistances()
	for k, want := range o.d {
		if k/w.Hosts != k%w.Hosts && !(d[k] > 0.9*want && d[k] < 1.1*want) {
			t.Fatalf("hosts %d and %d: %g s apart, want %g", k/w.Hosts, k%w.Hosts, d[k], want)
		}
	}

	torus := topotest.Torus([]int{12, 12}, 0, 0, 1e-6)
	o = &stored{torus.Hosts, torus.Distances(), 0.01, rand.New(rand.NewPCG(3, 1))}
	if _, err := Explore(torus.Hosts, o, &Settings{MostAllPairs: 100}); err == nil {
		t.Error("a torus of hosts: no error")
	}
}
