package clique

import (
	"fmt"
	"math"
	"slices"

	"github.com/topocast/topocast/internal/readings"
	"github.com/topocast/topocast/internal/stats"
	"github.com/topocast/topocast/topology"
	"gonum.org/v1/gonum/mat"
)

// Switches replaces cliques of equal latency by switches. It follows Bufe
// 2014, section 2.2, Algorithms 1 to 3 and the rules for heterogeneous
// clusters, as closely as the text allows; see doc.go for where it had to be
// read. It is a reference: a single reading outside the tolerance splits a
// clique, so noise must stay below a sixth of Epsilon, and Epsilon below the
// step between two levels. Use linkage.Robust to reconstruct a real machine.
type Switches struct {
	// Epsilon is the relative tolerance of equation 1.9 within which two
	// latencies are equal; 0 is 0.1.
	Epsilon float64
	// Floor, in s, is added to every tolerance: what a timer cannot resolve.
	Floor float64
	// Grouping tells how latencies are put in groups; "" is GroupByGap.
	Grouping Grouping
	// NoPairs leaves cliques of two alone.
	NoPairs bool
}

var _ topology.Reconstructor = (*Switches)(nil)

// defaultEpsilon is the default of Switches.Epsilon. Of the thesis' tolerances 0.1 and
// 0.2 give table 3.6 as printed, 0.02 and 0.05 do not; 0.2 is above the step between the
// levels of some machines. From 0.033 to 0.3 the tests pass.
const defaultEpsilon = 0.1

// searchLimit bounds the steps of one clique search, to some ten milliseconds. From 17,000
// to 150,000 nothing changes in the tests.
const searchLimit = 50000

// verticesPerHost bounds the vertices, of which those of merged switches stay. A tree whose
// switches have three links has fewer than one switch for each host; as many again
// may have been merged. With one vertex per host no switch has a place, two pass all
// tests.
const verticesPerHost = 3

// cliqueWork bounds the whole search for switches, in cells of matrices and words
// of bit sets looked at, which take a few nanoseconds each: under a minute. Where
// levels are clear 512 hosts in three levels need 0.6 % of it, 1024 in pairs 27 %; with
// noise beyond the tolerance 256 hosts need 5 %, and 1024 are cut short.
const cliqueWork int64 = 1 << 33

func (c *Switches) validate() error {
	if c.Epsilon < 0 || !(c.Epsilon < 1) {
		return fmt.Errorf("topology: clique: Epsilon %g: want in [0, 1)", c.Epsilon)
	}
	if !(c.Floor >= 0) || math.IsInf(c.Floor, 0) {
		return fmt.Errorf("topology: clique: Floor %g s: want at least 0 and finite", c.Floor)
	}
	return c.Grouping.validate()
}

// Reconstruct implements Reconstructor. Repetitions are combined by their
// smallest reading, of five and more by the second smallest; of the two
// directions of a pair the smaller counts; a zero, which a coarse timer gives,
// counts as half the smallest latency above zero. O(n^3) at least; each clique search,
// and all of them together, are cut where they would not end, with a warning.
func (c *Switches) Reconstruct(repetitions ...mat.Matrix) (*topology.Result, error) {
	if err := c.validate(); err != nil {
		return nil, err
	}
	in, err := readings.DirectedOf("topology: clique", repetitions)
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
		warnings = append(warnings, fmt.Sprintf("%d pairs of hosts differ by more than %g %% between directions, most hosts %d and %d: the smaller reading was used", a.Pairs, 100*(readings.AsymmetryTolerance-1), a.Worst[0], a.Worst[1]))
	}
	warnings = append(warnings, m.warnings()...)
	return topology.NewResult(g, d, 0, in.Noise(), warnings)
}

// A cliqueModel is the growing graph: hosts, then switches, dense.
type cliqueModel struct {
	hosts    int
	w        [][]float64 // latencies of edges, +Inf where there is none
	dead     []bool      // switches that were merged into others
	equal    roughly
	grouping Grouping
	pairs    bool
	many     bool  // there were too many cliques to list them all
	cut      int   // clique searches that were ended early
	full     bool  // stopped at the greatest number of switches
	left     int64 // work that the search may still do: cells and words, see cliqueWork
}

// model is Algorithm 1.
func (c *Switches) model(n int, d []float64) *cliqueModel {
	epsilon := c.Epsilon
	if epsilon == 0 {
		epsilon = defaultEpsilon
	}
	m := &cliqueModel{hosts: n, equal: roughly{epsilon, c.Floor}, grouping: c.Grouping, pairs: !c.NoPairs, left: cliqueWork}
	edges := basicModel(n, d, m.equal)
	for i := range n {
		m.w = append(m.w, slices.Clone(edges[i*n:(i+1)*n]))
		m.dead = append(m.dead, false)
	}
	return m
}

func (m *cliqueModel) isSwitch(v int) bool { return v >= m.hosts }

func (m *cliqueModel) edge(u, v int) bool { return !math.IsInf(m.w[u][v], 1) }

func (m *cliqueModel) set(u, v int, latency float64) {
	m.w[u][v], m.w[v][u] = latency, latency
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

// A latencyLevel is a group of latencies: from lo to hi, around mid.
type latencyLevel struct{ lo, mid, hi float64 }

// levels groups the latencies of all edges, ascending.
func (m *cliqueModel) levels() []latencyLevel {
	m.left -= int64(len(m.w) * len(m.w))
	var all []float64
	for u := range m.w {
		all = append(all, m.w[u][:u]...)
	}
	all = stats.SortedFinite(all)
	bounds := latencyGroups(all, m.grouping, m.equal)
	levels := make([]latencyLevel, 0, len(bounds))
	for k := 1; k < len(bounds); k++ {
		g := all[bounds[k-1]:bounds[k]]
		levels = append(levels, latencyLevel{g[0], g[(len(g)-1)/2], g[len(g)-1]})
	}
	return levels
}

func (m *cliqueModel) in(level latencyLevel, latency float64) bool {
	return latency >= level.lo && latency <= level.hi && m.equal.equal(latency, level.mid)
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

// replace puts a switch in the place of a clique. Vertices that see all of it
// at one latency see the switch instead. If pairs count, virtual edges go at
// once, as the diagonals of a ring would make cliques (section 2.2.4).
func (m *cliqueModel) replace(clique []int, latency float64) {
	half := latency / 2
	s := m.grow()
	m.left -= int64(len(m.w) * (len(m.w) + len(clique)))
	for x, u := range clique {
		for _, v := range clique[:x] {
			m.set(u, v, math.Inf(1))
		}
		m.set(u, s, half)
	}
	for x := range s {
		if slices.Contains(clique, x) {
			continue
		}
		lo, hi, sum := math.Inf(1), 0.0, 0.0
		for _, u := range clique {
			lo, hi, sum = min(lo, m.w[x][u]), max(hi, m.w[x][u]), sum+m.w[x][u]
		}
		if !m.equal.equal(lo, hi) {
			continue
		}
		for _, u := range clique {
			m.set(x, u, math.Inf(1))
		}
		m.set(x, s, max(0, sum/float64(len(clique))-half))
	}
	s = m.merge(s, latency)
	if m.pairs {
		m.dropVirtualAround(s)
	}
}

func (m *cliqueModel) grow() int {
	s := len(m.w)
	row := make([]float64, s+1)
	for v := range m.w {
		m.w[v] = append(m.w[v], math.Inf(1))
		row[v] = math.Inf(1)
	}
	row[s] = math.Inf(1)
	m.w = append(m.w, row)
	m.dead = append(m.dead, false)
	return s
}

// merge joins a new switch with switches at about no latency: kinds of hosts on
// one switch give a switch each (section 2.2.5). A latency is about zero if it
// cannot be told from the error of the differences it was made of: if it is
// within tolerance of the latency between the clique's members. It returns the
// switch that is left.
func (m *cliqueModel) merge(s int, latency float64) int {
	for u := m.hosts; u < s; u++ {
		if !m.edge(u, s) || !m.equal.equal(latency, latency+m.w[u][s]) {
			continue
		}
		for x := range m.w {
			if x != u && m.w[x][s] < m.w[x][u] {
				m.set(x, u, m.w[x][s])
			}
			m.set(x, s, math.Inf(1))
		}
		m.dead[s] = true
		s = u
		break
	}
	return s
}

// dropVirtualAround is Algorithm 3 for what a new switch changes: its own edges
// to switches, and edges between switches that it explains.
func (m *cliqueModel) dropVirtualAround(s int) {
	var virtual [][2]int
	for u := m.hosts; u < len(m.w); u++ {
		if m.explainedBySome(u, s, 0) {
			virtual = append(virtual, [2]int{u, s})
		}
		for v := m.hosts; v < u; v++ {
			if m.explains(s, u, v) {
				virtual = append(virtual, [2]int{u, v})
			}
		}
	}
	for _, e := range virtual {
		m.set(e[0], e[1], math.Inf(1))
	}
}

// dropVirtual is Algorithm 3 over all edges between switches, and, with all,
// over every edge that a switch next to both ends explains (section 2.2.5).
func (m *cliqueModel) dropVirtual(all bool) {
	var virtual [][2]int
	for u := range m.w {
		for v := range u {
			if m.isSwitch(v) && m.explainedBySome(u, v, 0) || all && m.explainedBySome(u, v, m.hosts) {
				virtual = append(virtual, [2]int{u, v})
			}
		}
	}
	for _, e := range virtual {
		m.set(e[0], e[1], math.Inf(1))
	}
}

func (m *cliqueModel) explainedBySome(u, v, first int) bool {
	if !m.edge(u, v) {
		return false
	}
	for x := first; x < len(m.w); x++ {
		if m.explains(x, u, v) {
			return true
		}
	}
	return false
}

// explains tells whether the path u-x-v is as short as the edge u-v. Both legs
// must be strictly shorter than the edge: within a tolerance two edges of a
// flat triangle would otherwise explain each other, and both be dropped.
func (m *cliqueModel) explains(x, u, v int) bool {
	a, b, w := m.w[u][x], m.w[x][v], m.w[u][v]
	return x != u && x != v && a < w && b < w && (a+b <= w || m.equal.equal(a+b, w))
}

// graph is the machine as found. Of merged switches the numbers are given to those that follow.
func (m *cliqueModel) graph() (*topology.Graph, error) {
	number, count := make([]int, len(m.w)), 0
	for v := range m.w {
		number[v] = count
		if !m.dead[v] {
			count++
		}
	}
	var arcs []topology.Arc
	for u := range m.w {
		for v := range u {
			if m.edge(u, v) {
				arcs = topology.AppendLink(arcs, number[v], number[u], m.w[u][v], math.NaN())
			}
		}
	}
	return topology.NewGraph(m.hosts, count-m.hosts, nil, arcs)
}

func (m *cliqueModel) warnings() []string {
	var w []string
	if m.cut > 0 {
		w = append(w, fmt.Sprintf("%d clique searches were ended after %d steps: larger cliques may exist", m.cut, searchLimit))
	}
	if m.left <= 0 {
		w = append(w, fmt.Sprintf("the search for switches was ended after %d steps, at %d switches: more may exist", cliqueWork, len(m.w)-m.hosts))
	}
	if m.full {
		w = append(w, fmt.Sprintf("the search stopped at %d switches for %d hosts: the readings do not fit the tolerance", len(m.w)-m.hosts, m.hosts))
	}
	return w
}
