package linkage

import (
	"fmt"
	"math"
	"slices"

	"github.com/topocast/topocast/internal/nested"
	"github.com/topocast/topocast/internal/quantity"
	"github.com/topocast/topocast/internal/readings"
	"github.com/topocast/topocast/internal/witness"
	"github.com/topocast/topocast/topology"
)

// Machines that are no trees. Nested groups describe a ring or torus of
// switches badly, and a torus of hosts not at all. The tree is given up for another graph only if
// that has few links and leaves a third less to explain: a full mesh explains everything. A line of hosts
// satisfies the four points as a tree does, so it is looked for where one switch fits badly.
const (
	// Share of quadruples that a tree satisfies at least. Trees reach 99.7 %
	// with 5 % of noise, a dragonfly at most 94.5 %, tori 76 %. 0.97 and 0.99 find the same machines.
	treeLike = 0.98
	// Another graph must leave a third less to explain than the tree. With 0.45 tori of hosts with 5 % of
	// noise are lost, 0.9 finds the same.
	familyGain = 0.65
	// Residuals of trees of hosts wired to each other, relative to what their links take: 16 % of a line of seven
	// and 30 % and more of tori.
	meshTree = 0.12
	// And leave little: no graph explains the Internet.
	familyRest = 0.15
	// Noise allowed for at most.
	noiseMost = 0.06
	// Hosts per block of which readings are looked at: 256 per pair of blocks, whose median has an
	// eleventh of the noise of one.
	blockSample = 16
	// A ring of four switches is the smallest machine of switches that is no tree.
	fewestBlocks = 4
	// Fewer hosts than this tell too little: of a ring of five a switch leaves as little. More are not
	// searched for a mesh of hosts, which is some seconds' work.
	meshLeast = 6
	meshMost  = 8192
)

// A meshSearch looks for graphs that explain readings better than a tree does.
type meshSearch struct {
	r     *readings.Symmetric
	f     *nested.Fit // the tree
	work  int64       // readings, legs, cells and words looked at
	given []string    // searches that were given up, as warnings
}

// best looks for switches that form a line, a ring, a torus or the like, and,
// if hosts says so, for hosts wired to each other. It returns what it finds if that
// explains the readings clearly better than the tree; nil otherwise. noise
// is that of a reading, NaN if not known.
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
	if err != nil || w == nil {
		return nil, err
	}
	if !s.better(w) {
		return nil, nil
	}
	return w, nil
}

// better compares the graph with the tree, and tells whether it explains the readings clearly better.
// Weak groups at the edge of a sample make a tree a little worse than a mesh at times;
// of a real mesh of hosts it explains nothing.
func (s *meshSearch) better(w *wired) bool {
	c := w.compare(s.r, s.f)
	w.fit = c
	return c.other <= min(familyRest, familyGain*c.tree) && (w.family != topology.FamilyMesh || c.tree >= meshTree)
}

// switches is the quotient of the tree's leaf blocks, if it has four blocks or
// more that hold most hosts, and sparse links.
func (s *meshSearch) switches() (*wired, error) {
	r, t := s.r, s.f.Tree
	var blocks [][]int
	block := make([]int, r.N())
	for h := range block {
		block[h] = -1
	}
	held := 0
	for _, v := range t.Groups() {
		if v != t.Root && t.HostsOnly(v) {
			var hosts []int
			for _, h := range t.Leaves(v) {
				hosts = append(hosts, int(h))
			}
			slices.Sort(hosts)
			blocks = append(blocks, hosts)
			held += len(hosts)
		}
	}
	if len(blocks) < fewestBlocks || 2*held <= r.N() {
		return nil, nil
	}
	slices.SortFunc(blocks, func(a, b []int) int { return a[0] - b[0] })
	for k, hosts := range blocks {
		for _, h := range hosts {
			block[h] = k
		}
	}
	for h := range block {
		if block[h] < 0 {
			block[h] = len(blocks)
			blocks = append(blocks, []int{h})
		}
	}
	some := make([][]int, len(blocks))
	for k, hosts := range blocks {
		for x := range min(blockSample, len(hosts)) {
			some[k] = append(some[k], hosts[x*len(hosts)/min(blockSample, len(hosts))])
		}
	}
	q := newQuotient(r.Measured, some)
	// Density first: it ends the search of most machines, and costs the least.
	bound := witness.NewBound(len(blocks))
	sparse := q.link(bound)
	s.work += q.work + bound.Work()
	if !sparse {
		s.give(bound, "whether switches form a ring, torus or mesh")
		return nil, nil
	}
	q.blocks = blocks
	graph, err := q.graph(r.N())
	if err != nil {
		return nil, err
	}
	return &wired{family: topology.FamilyQuotient, graph: graph, apart: block, warnings: q.warnings()}, nil
}

// give notes a search that ended for the work that it took, not for what it found.
func (s *meshSearch) give(bound *witness.Bound, what string) {
	if !bound.Dense() {
		s.given = append(s.given, fmt.Sprintf("%s was not found out within %d steps", what, bound.Legs))
	}
}

// hosts is the witness spanner of the hosts, if that is sparse. noise is NaN if not
// known. It takes 4 n^2 bytes.
func (s *meshSearch) hosts(noise float64) (*wired, error) {
	r := s.r
	d := r.Dense()
	if math.IsNaN(noise) {
		noise = witness.Noise(r.N(), d, d) // of a mesh; of what is none it may be anything
	}
	if !(noise >= witness.NoiseGuess) {
		noise = witness.NoiseGuess
	}
	noise = min(noise, noiseMost)
	overhead := witness.Overhead(r.N(), d, d, noise)
	bound := witness.NewBound(r.N())
	links, mended := witness.Mended(r.N(), d, witness.Test{Relative: witness.PathTolerance(noise), Absolute: overhead, Bound: bound})
	s.work += bound.Work()
	if bound.Dense() || bound.Spent() {
		s.give(bound, "whether hosts are wired to each other")
		return nil, nil
	}
	var arcs []topology.Arc
	for _, p := range links {
		arcs = topology.AppendLink(arcs, p.From, p.To, max(0, float64(d[p.From*r.N()+p.To])-overhead), math.NaN())
	}
	graph, err := topology.NewGraph(r.N(), 0, nil, arcs)
	if err != nil {
		return nil, err
	}
	w := &wired{family: topology.FamilyMesh, graph: graph, overhead: overhead}
	if overhead > 0 {
		w.warnings = append(w.warnings, fmt.Sprintf("every message pays %s at its ends, on top of the latencies of the links", quantity.Seconds(overhead)))
	}
	if len(mended) > 0 {
		w.warnings = append(w.warnings, fmt.Sprintf("%d measurements between neighbours contradict all around them and were replaced, the first that of hosts %d and %d",
			len(mended), mended[0].From, mended[0].To))
	}
	return w, nil
}
