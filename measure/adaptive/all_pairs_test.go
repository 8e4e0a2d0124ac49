package adaptive

import (
	"errors"
	"math/rand/v2"
	"strings"
	"testing"

	"gonum.org/v1/gonum/mat"

	"github.com/topocast/topocast/internal/topotest"
	"github.com/topocast/topocast/topology/linkage"
)

// A stored matrix, read with noise.
type stored struct {
	n     int
	d     []float64
	sigma float64
	rng   *rand.Rand
}

func (s *stored) read(dst []float64, pairs []pair) error {
	for k, p := range pairs {
		dst[k] = s.d[int(p[0])*s.n+int(p[1])] * (1 + s.sigma*s.rng.NormFloat64())
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
		found, err := find(w.Hosts, o.read, &Settings{})
		if err != nil {
			t.Fatal(err)
		}
		want, err := linkage.Reconstruct(mat.NewDense(w.Hosts, w.Hosts, w.Distances()))
		if err != nil {
			t.Fatal(err)
		}
		if !found.allPairs || found.Topology.Fit.Family != want.Fit.Family {
			t.Errorf("%s: all pairs %t, family %s, want %s", name, found.allPairs, found.Topology.Fit.Family, want.Fit.Family)
		}
		if missing, extra := differ(groupsOf(want.Hierarchy, true), groupsOf(found.Topology.Hierarchy, true)); missing+extra > 0 {
			t.Errorf("%s: %d confident groups missing, %d more than of the exact matrix", name, missing, extra)
		}
	}
}

// Of too many hosts for all pairs, what is no tree is an error that says what to do.
func TestTooManyHostsForAllPairs(t *testing.T) {
	w := topotest.Torus([]int{50, 50}, 0, 0, 1e-6)
	o := &stored{w.Hosts, w.Distances(), 0.01, rand.New(rand.NewPCG(3, 1))}
	_, err := find(w.Hosts, o.read, &Settings{})
	if !errors.Is(err, errNoTree) || !strings.Contains(err.Error(), "only all pairs tell") {
		t.Errorf("a torus of 2,500 hosts: %v", err)
	}
}
