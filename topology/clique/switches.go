package clique

import (
	"fmt"
	"math"
	"slices"

	"github.com/topocast/topocast/internal/measured"
	"github.com/topocast/topocast/topology"
	"gonum.org/v1/gonum/mat"
)

// Switches replaces cliques of equal latency by switches. It follows Bufe
// 2014, section 2.2, Algorithms 1 to 3 and the rules for heterogeneous
// clusters, as closely as the text allows; see doc.go for where it had to be
// read. It is a reference: a single measurement outside the tolerance splits a
// clique, so noise must stay below a sixth of Epsilon, and Epsilon below the
// step between two levels. Use linkage.Robust to reconstruct a real machine.
type Switches struct {
	// Epsilon is the relative tolerance of equation 1.9 within which two
	// latencies are equal; 0 is 0.1.
	Epsilon float64
	// Floor, in s, is added to every tolerance: what a timer cannot resolve.
	Floor float64
	// NoPairs leaves cliques of two alone.
	NoPairs bool
}

var _ topology.Reconstructor = (*Switches)(nil)

// defaultEpsilon is the default of Switches.Epsilon. Of the thesis' tolerances 0.1 and 0.2 give table 3.6 as printed,
// 0.02 and 0.05 do not. 0.2 is above the step between the levels of some machines.
const defaultEpsilon = 0.1

// verticesPerHost bounds the vertices, of which those of merged switches stay. A tree whose
// switches have three links has fewer than one switch for each host; as many again
// may have been merged.
const verticesPerHost = 3

func (c *Switches) validate() error {
	if c.Epsilon < 0 || !(c.Epsilon < 1) {
		return fmt.Errorf("clique: Epsilon %g: want in [0, 1)", c.Epsilon)
	}
	if !(c.Floor >= 0) || math.IsInf(c.Floor, 0) {
		return fmt.Errorf("clique: Floor %g s: want at least 0 and finite", c.Floor)
	}
	return nil
}

// Reconstruct implements topology.Reconstructor. Repetitions are combined cell by cell: the mean of the
// lower half. Of the two directions of a pair the smaller counts. A zero, which a coarse timer gives,
// counts as half the smallest latency above zero. O(n^3) at least; each clique search,
// and all of them together, are cut where they would not end, with a warning.
func (c *Switches) Reconstruct(repetitions ...mat.Matrix) (*topology.Result, error) {
	if err := c.validate(); err != nil {
		return nil, err
	}
	in, err := measured.DirectedOf("clique", repetitions)
	if err != nil {
		return nil, err
	}
	d := in.Pairs()
	m := c.model(in.N(), d)
	m.findSwitches()
	m.dropVirtual(true)
	g, err := m.graph()
	if err != nil {
		return nil, err
	}
	warnings := in.Warnings()
	if a := in.Asymmetry(); a.Pairs > 0 {
		warnings = append(warnings, fmt.Sprintf("%d pairs of hosts differ by more than %g %% between directions, most hosts %d and %d: the smaller measurement was used", a.Pairs, 100*(measured.AsymmetryTolerance-1), a.Worst[0], a.Worst[1]))
	}
	warnings = append(warnings, m.warnings()...)
	return topology.NewResult(g, d, 0, in.Noise(), warnings)
}

// tolerance is the comparison of latencies.
func (c *Switches) tolerance() roughly {
	if c.Epsilon == 0 {
		return roughly{defaultEpsilon, c.Floor}
	}
	return roughly{c.Epsilon, c.Floor}
}

// model is Algorithm 1.
func (c *Switches) model(n int, d []float64) *cliqueModel {
	m := &cliqueModel{hosts: n, equal: c.tolerance(), pairs: !c.NoPairs, left: cliqueWork}
	edges := basicModel(n, d, m.equal)
	for i := range n {
		m.w = append(m.w, slices.Clone(edges[i*n:(i+1)*n]))
		m.dead = append(m.dead, false)
	}
	return m
}

// findSwitches is Algorithm 2. The groups are worked through ascending, and
// from the lowest again after each that gave switches: in the other order the
// hosts of one switch and those of the switches above it form cliques too.
func (m *cliqueModel) findSwitches() {
	for {
		if m.full = len(m.w) > verticesPerHost*m.hosts; m.full {
			return
		}
		changed := false
		for _, level := range m.levels() {
			for m.left > 0 {
				clique, latency := m.nextClique(level)
				if clique == nil {
					break
				}
				m.replace(clique, latency)
				changed = true
				if len(m.w) > verticesPerHost*m.hosts {
					break
				}
			}
			if changed || m.left <= 0 {
				break
			}
		}
		if !changed || m.left <= 0 {
			return
		}
	}
}

// nextClique returns the next clique of a level to replace and the mean latency
// of its edges, or nil: the largest of hosts only or switches only, of equals
// the one whose list of vertices is the smallest; where none has three, the
// first pair that some third vertex sees at one latency, longer than theirs, so
// that the switch has three links at least.
func (m *cliqueModel) nextClique(level latencyLevel) ([]int, float64) {
	var best []int
	for _, kind := range [2][2]int{{0, m.hosts}, {m.hosts, len(m.w)}} {
		if c := m.largestClique(level, kind[0], kind[1]); len(c) > len(best) {
			best = c
		}
	}
	if len(best) < 3 {
		best = nil
		if m.pairs {
			best = m.pair(level)
		}
	}
	if best == nil {
		return nil, 0
	}
	var sum float64
	for x, u := range best {
		for _, v := range best[:x] {
			sum += m.w[u][v]
		}
	}
	return best, sum / float64(len(best)*(len(best)-1)/2)
}

func (m *cliqueModel) pair(level latencyLevel) []int {
	m.left -= int64(len(m.w) * len(m.w))
	for u := range m.w {
		for v := u + 1; v < len(m.w); v++ {
			if m.isSwitch(u) != m.isSwitch(v) || !m.in(level, m.w[u][v]) {
				continue
			}
			if m.left -= int64(len(m.w)); m.left <= 0 {
				return nil
			}
			for x := range m.w {
				if m.equal.equal(m.w[x][u], m.w[x][v]) && m.equal.less(m.w[u][v], min(m.w[x][u], m.w[x][v])) {
					return []int{u, v}
				}
			}
		}
	}
	return nil
}
