package spanner

import (
	"cmp"
	"math"

	"github.com/topocast/topocast/internal/measured"
	"github.com/topocast/topocast/internal/paths"
	"github.com/topocast/topocast/internal/witness"
	"github.com/topocast/topocast/topology"
	"gonum.org/v1/gonum/mat"
)

// GreedyCycle finds how hosts are wired to each other directly, as in rings,
// tori and meshes without switches. It follows Bannikov and Salnikov 2014,
// section 2.1: stage 1 spans the hosts, groups on shared memory first; stage 2
// closes cycles. Matrices are directed, and so is the graph that it finds.
//
// Stage 2 adds every arc that is shorter than the path there is, without a
// tolerance: with 1 % of noise a torus of 1024 gets two hundred thousand false
// arcs, and an overhead at the ends of messages gives a complete graph. Use
// Witness for real measurements.
type GreedyCycle struct {
	// SharedSpread is the paper's eps_s: the spread of latencies of hosts on
	// shared memory; 0 is 0.01.
	SharedSpread float64
	// DuplexSpread is eps_d: a channel whose directions differ by a ratio
	// above 1+eps_d is simplex, and its slower arc is dropped; 0 is 0.01, or four
	// times the noise of a measurement if that is more: noise makes no channel simplex.
	DuplexSpread float64
}

const (
	usualSpread     = 0.01 // the paper's default of both spreads
	duplexDeviation = 4    // standard deviations of a measurement that directions differ by in few channels of 10,000
)

var _ topology.Reconstructor = (*GreedyCycle)(nil)

func (c *GreedyCycle) validate() error {
	if err := checkShare("greedy", "SharedSpread", c.SharedSpread); err != nil {
		return err
	}
	return checkShare("greedy", "DuplexSpread", c.DuplexSpread)
}

// Reconstruct implements topology.Reconstructor. Repetitions are combined cell by cell: the mean of the
// lower half. The warnings name simplex channels, which speak of a fault or of routing.
// O(n^3) at worst. It gives up, with a warning, where there are more arcs than a sparse graph of more than 256 hosts has.
func (c *GreedyCycle) Reconstruct(repetitions ...mat.Matrix) (*topology.Result, error) {
	if err := c.validate(); err != nil {
		return nil, err
	}
	in, err := measured.DirectedOf("spanner: greedy", repetitions)
	if err != nil {
		return nil, err
	}
	arcs, duplex := c.stages(in)
	all := in.Warnings()
	if len(arcs) > mostArcs(in.N()) {
		var warning string
		arcs, warning = gaveUp(in.N(), in.Cells())
		all = append(all, warning)
	}
	g, warnings, err := channelGraph(in.N(), in.Cells(), arcs, duplex)
	if err != nil {
		return nil, err
	}
	return topology.NewResult(g, in.Cells(), 0, in.Noise(), append(all, warnings...))
}

// stages runs stages 1 and 2 and returns the arcs, sorted.
func (c *GreedyCycle) stages(in *measured.Directed) (arcs []witness.Pair, duplex float64) {
	n := in.N()
	s := &greedySearch{
		n: n, m: in.Cells(), shared: cmp.Or(c.SharedSpread, usualSpread), duplex: c.DuplexSpread,
		has: make([]bool, n*n), visited: make([]bool, n), nearest: make([]int, n),
	}
	if s.duplex == 0 {
		s.duplex = usualSpread
		if noise := measurementNoise(in); noise > usualSpread/duplexDeviation {
			s.duplex = duplexDeviation * noise
		}
	}
	s.span()
	s.closeCycles()
	for i := range n {
		for j := range n {
			if s.has[i*n+j] {
				arcs = append(arcs, witness.Pair{From: i, To: j})
			}
		}
	}
	return arcs, s.duplex
}

type greedySearch struct {
	n              int
	m              []float64 // n*n measurements, s; NaN: not measured
	shared, duplex float64
	has            []bool // n*n: arcs inserted
	found          int    // arcs inserted; above mostArcs all stops
	visited        []bool
	group          []int // visited vertices of groups before, and of this one
	nearest        []int // per vertex that is not visited the nearest that is, -1: none
}

// visit marks v and keeps nearest up to date.
func (s *greedySearch) visit(v int) {
	s.visited[v] = true
	s.group = append(s.group, v)
	for j := range s.n {
		if w := s.m[v*s.n+j]; !s.visited[j] && !math.IsNaN(w) && (s.nearest[j] < 0 || w < s.m[s.nearest[j]*s.n+j]) {
			s.nearest[j] = v
		}
	}
}

// add adds an arc.
func (s *greedySearch) add(i, j int) {
	if at := i*s.n + j; !s.has[at] {
		s.has[at] = true
		s.found++
	}
}

// dense tells that it is time to give up.
func (s *greedySearch) dense() bool { return s.found > mostArcs(s.n) }

// insert inserts i->j and, if it is not slower by more than the spread of directions, j->i.
func (s *greedySearch) insert(i, j int) {
	s.add(i, j)
	if s.m[j*s.n+i] <= s.m[i*s.n+j]*(1+s.duplex) {
		s.add(j, i)
	}
}

// span is stage 1. From the nearest pair it collects the vertices on the same
// shared memory; goes up, along the shortest arc to a vertex not seen before;
// goes down, along ever shorter arcs, into the next group; and begins again.
// Parts between which nothing was measured begin a group each.
func (s *greedySearch) span() {
	for j := range s.nearest {
		s.nearest[j] = -1
	}
	first := s.closestPair()
	for first != nil && !s.dense() {
		s.visit(first.From)
		s.visit(first.To)
		s.insert(first.From, first.To)
		start, limit := []int{first.From, first.To}, s.m[first.From*s.n+first.To]*(1+s.shared)
		before := make([]bool, s.n)
		for {
			s.collect(start, limit, before)
			copy(before, s.visited)
			i, j := s.ascent()
			if j < 0 || s.dense() {
				break
			}
			s.visit(j)
			s.insert(i, j)
			last, w := s.descend(j, s.m[i*s.n+j])
			start, limit = []int{last}, w*(1+s.shared)
		}
		first = s.closestPair()
	}
}

// closestPair is the closest pair of vertices that are not visited, or nil.
func (s *greedySearch) closestPair() *witness.Pair {
	var best *witness.Pair
	least := math.Inf(1)
	for i := range s.n {
		for j := range s.n {
			if w := s.m[i*s.n+j]; i != j && !s.visited[i] && !s.visited[j] && w < least {
				best, least = &witness.Pair{From: i, To: j}, w
			}
		}
	}
	return best
}

// collect grows a group by all vertices within the limit of one of its members
// and inserts every arc within the limit. What was found before, other than
// the chain that led to the group, stays apart.
func (s *greedySearch) collect(group []int, limit float64, before []bool) {
	for x := 0; x < len(group) && !s.dense(); x++ {
		u := group[x]
		for v := range s.n {
			if v == u || before[v] {
				continue
			}
			there, back := s.m[u*s.n+v] <= limit, s.m[v*s.n+u] <= limit
			if there {
				s.add(u, v)
			}
			if back {
				s.add(v, u)
			}
			if (there || back) && !s.visited[v] {
				s.visit(v)
				group = append(group, v)
			}
		}
	}
}

// ascent is the shortest arc from a visited vertex to one that is not.
func (s *greedySearch) ascent() (from, to int) {
	to = -1
	least := math.Inf(1)
	for j, i := range s.nearest {
		if !s.visited[j] && i >= 0 && s.m[i*s.n+j] < least {
			from, to, least = i, j, s.m[i*s.n+j]
		}
	}
	return from, to
}

// descend goes from v along the shortest arc while arcs get strictly shorter,
// to vertices not seen before, and returns where it ends and the last weight.
func (s *greedySearch) descend(v int, w float64) (last int, weight float64) {
	for {
		next, least := -1, w
		for k := range s.n {
			if x := s.m[v*s.n+k]; k != v && x < least && !s.visited[k] {
				next, least = k, x
			}
		}
		if next < 0 {
			return v, w
		}
		s.visit(next)
		s.insert(v, next)
		v, w = next, least
	}
}

// closeCycles is stage 2: for each vertex in turn the shortest paths over the
// arcs there are, then all arcs that are shorter.
func (s *greedySearch) closeCycles() {
	out := make([][]paths.Arc, s.n)
	leads := func(i, j int) { out[i] = append(out[i], paths.Arc{To: int32(j), Length: s.m[i*s.n+j]}) }
	for i := range s.n {
		for j := range s.n {
			if s.has[i*s.n+j] {
				leads(i, j)
			}
		}
	}
	dist, order := make([]float64, s.n), make([]int, 0, s.n)
	for i := range s.n {
		if s.dense() {
			return
		}
		paths.From(out, i, dist, order)
		for j := range s.n {
			// Sums of the same hops in another order round differently.
			if w := s.m[i*s.n+j]; i != j && !s.has[i*s.n+j] && w < dist[j]*(1-1e-12) {
				s.add(i, j)
				leads(i, j)
			}
		}
	}
}
