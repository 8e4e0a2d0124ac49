package linkage

import (
	"fmt"
	"math"
	"slices"

	"github.com/topocast/topocast/internal/measured"
	"github.com/topocast/topocast/internal/nested"
	"github.com/topocast/topocast/internal/quantity"
	"github.com/topocast/topocast/internal/witness"
	"github.com/topocast/topocast/topology"
)

// Machines that are no trees. Nested groups describe a ring or torus of
// switches badly, and a torus of hosts not at all. The tree is given up for another graph only if
// that has few links and leaves a quarter less to explain: a full mesh explains everything. A line of hosts
// satisfies the four points as a tree does, so it is looked for where one switch fits badly.
const (
	// Share of quadruples that a tree satisfies at least. Trees reach 99.7 %
	// with 5 % of noise, a dragonfly at most 94.5 %, tori 76 %. 0.97 and 0.99 find the same machines.
	treeLike = 0.98
	// Another graph must leave a quarter less to explain than the tree. Noise and outliers are left by both.
	familyGain = 0.75
	// Residuals of trees of hosts wired to each other, relative to what their links take: 16 % of a line of seven
	// and 30 % and more of tori.
	meshTree = 0.12
	// And leave little: no graph explains the Internet. With 0.1 tori with slow hosts are lost; with 0.15, stars with slow
	// hosts are taken for meshes.
	familyRest = 0.12
	// Noise allowed for at most.
	noiseMost = 0.06
	// A ring of four switches is the smallest machine of switches that is no tree.
	fewestBlocks = 4
	// Fewer hosts than this tell nothing: one switch explains a line of three exactly. More are not
	// searched for a mesh of hosts, which is some seconds' work.
	meshLeast = 4
	meshMost  = 8192
	// Of fewer hosts than this a switch explains all but two pairs of a line, and a ring as well as its links do. So
	// all pairs count in the comparison. A graph is believed only if it links no more than half of them, and explains
	// half of the variance. Of hosts on a switch with a slow pair, a large overhead and short links explain little.
	meshFew = 6
)

// A meshSearch looks for graphs that explain measurements better than a tree does.
type meshSearch struct {
	r     *measured.Symmetric
	f     *nested.Fit // the tree
	work  int64       // legs looked at
	given []string    // searches that were given up, as warnings
}

// best looks for switches that form a line, a ring, a torus or the like, and,
// if hosts says so, for hosts wired to each other. It returns what it finds if that
// explains the measurements clearly better than the tree; nil otherwise. noise
// is that of a measurement, NaN if not known.
func (s *meshSearch) best(noise float64, hosts bool) (*wired, error) {
	if w, err := s.switches(); err != nil || w != nil && s.better(w) {
		return w, err
	}
	if !hosts || s.r.N() < meshLeast {
		return nil, nil
	}
	if s.r.N() > meshMost {
		s.given = append(s.given, fmt.Sprintf(
			"whether the %d hosts are wired to each other was not looked into: that is done up to %d", s.r.N(), meshMost))
		return nil, nil
	}
	w, err := s.hosts(noise)
	if err != nil || w == nil || !s.better(w) {
		return nil, err
	}
	return w, nil
}

// better compares the graph with the tree, and tells whether it explains the measurements clearly better.
// Uncertain groups at the edge of a sample make a tree a little worse than a mesh at times;
// of a real mesh of hosts it explains nothing.
func (s *meshSearch) better(w *wired) bool {
	c := w.compare(s.r, s.f)
	w.fit = c
	n := s.r.N()
	if n < meshFew && (c.r2 < badR2 || 4*w.links > n*(n-1)) {
		return false
	}
	return c.other <= min(familyRest, familyGain*c.tree) && (w.family != topology.FamilyMesh || c.tree >= meshTree)
}

// switches is the quotient of the tree's leaf blocks, if it has four blocks or
// more that hold most hosts, and sparse links.
func (s *meshSearch) switches() (*wired, error) {
	r := s.r
	blocks := s.blocks()
	if blocks == nil {
		return nil, nil
	}
	q, links, ok := s.between(blocks)
	if !ok {
		return nil, nil
	}
	if joined := q.joined(links); joined != nil {
		if q, links, ok = s.between(joined); !ok {
			return nil, nil
		}
	}
	apart := make([]int, r.N())
	for k, hosts := range q.blocks {
		for _, h := range hosts {
			apart[h] = k
		}
	}
	graph, err := q.graph(r.N(), links)
	if err != nil {
		return nil, err
	}
	return &wired{family: topology.FamilyQuotient, graph: graph, apart: apart, ends: len(q.blocks), links: len(links), warnings: q.warnings()}, nil
}

// between is the quotient of blocks, and its links if they are sparse.
func (s *meshSearch) between(blocks [][]int) (q *quotient, links []witness.Pair, ok bool) {
	q = newQuotient(s.r.Measured, blocks)
	bound := witness.NewBound(len(blocks))
	links = q.links(bound)
	return q, links, s.sparse(bound, "whether switches form a ring, torus or mesh")
}

// blocks are the hosts of each leaf group of the tree, and each other host alone. They are nil if fewer than four groups hold most
// hosts.
func (s *meshSearch) blocks() [][]int {
	t := s.f.Tree
	var blocks [][]int
	alone := make([]bool, t.N)
	for h := range alone {
		alone[h] = true
	}
	held := 0
	for _, v := range t.Groups() {
		if v != t.Root && t.HostsOnly(v) {
			var hosts []int
			for _, h := range t.Leaves(v) {
				hosts = append(hosts, int(h))
				alone[h] = false
			}
			slices.Sort(hosts)
			blocks = append(blocks, hosts)
			held += len(hosts)
		}
	}
	if len(blocks) < fewestBlocks || 2*held <= t.N {
		return nil
	}
	slices.SortFunc(blocks, func(a, b []int) int { return a[0] - b[0] })
	for h, is := range alone {
		if is {
			blocks = append(blocks, []int{h})
		}
	}
	return blocks
}

// sparse tells whether a search found few links. Where it ended for the work that it took, a warning says so.
func (s *meshSearch) sparse(bound *witness.Bound, what string) bool {
	s.work += bound.Work()
	switch {
	case bound.Dense():
		return false
	case bound.Spent():
		s.given = append(s.given, fmt.Sprintf("%s was not found out within %d steps", what, bound.Legs))
		return false
	}
	return true
}

// hosts is the witness spanner of the hosts, if that is sparse. noise is NaN if not
// known. It takes 4 n^2 bytes.
func (s *meshSearch) hosts(noise float64) (*wired, error) {
	n, d := s.r.N(), s.r.Dense()
	if math.IsNaN(noise) {
		noise = witness.Noise(n, d, d) // of a mesh; of what is none it may be anything
	}
	if !(noise >= witness.NoiseGuess) {
		noise = witness.NoiseGuess
	}
	noise = min(noise, noiseMost)
	overhead := witness.Overhead(n, d, d, noise)
	bound := witness.NewBound(n)
	links, mended := witness.Mended(n, d, witness.Test{Relative: witness.PathTolerance(noise), Absolute: overhead, Bound: bound})
	if !s.sparse(bound, "whether hosts are wired to each other") {
		return nil, nil
	}
	var arcs []topology.Arc
	for _, p := range links {
		arcs = topology.AppendLink(arcs, p.From, p.To, max(0, float64(d[p.From*n+p.To])-overhead), math.NaN())
	}
	graph, err := topology.NewGraph(n, 0, nil, arcs)
	if err != nil {
		return nil, err
	}
	w := &wired{family: topology.FamilyMesh, graph: graph, ends: n, links: len(links), overhead: overhead}
	if overhead > 0 {
		w.warnings = append(w.warnings, fmt.Sprintf("every message pays %s at its ends, on top of the latencies of the links", quantity.Seconds(overhead)))
	}
	if len(mended) > 0 {
		w.warnings = append(w.warnings, fmt.Sprintf("%d measurements between neighbours contradict all around them and were replaced, the first that of hosts %d and %d",
			len(mended), mended[0].From, mended[0].To))
	}
	return w, nil
}
