package compare

import (
	"cmp"
	"math"
	"slices"

	"github.com/topocast/topocast/topology"
)

// compareRates finds what the best measured path over each link carries, in
// each direction, and what the best path of the reference does: a fast
// uplink shows no more than the links of the hosts behind it let through. Estimates
// bound what a path carries, but are no measurement: a link was measured if some
// arc was that all measured paths of the pairs have which take it.
//
// Of a tree a link may carry more than one pair needs, and less than all of them: an uplink of which a cable is dead. Where
// that was measured it is held against the reference, unless it carries about all that the hosts on either side take. A
// link that carries just what one pair takes is held against the reference if others of its class were measured to carry
// more: what single pairs show of a link is no measurement of it, but an estimate.
func (c *linkComparer) compareRates() {
	g, m := c.wired, c.measured.graph
	if c.fit != nil {
		g = c.fit.Graph
	}
	if g == nil {
		return
	}
	uses := c.findUses(g)
	loaded := make([]bool, len(c.out.Classes)) // some link of it was measured to carry more than one pair takes
	var rates []loadedRate
	for at, a := range g.Arcs() {
		d, ok := c.directions[[2]int{a.From, a.To}]
		if !ok {
			continue
		}
		l, use := d.link, &uses[at]
		l.distance = (l.distance*float64(l.pairs) + use.distance) / max(1, float64(l.pairs+use.pairs))
		l.pairs += use.pairs
		q := &l.state.Bandwidth[d.way]
		own := q.Reference
		if slices.ContainsFunc(use.common, func(x int32) bool { return !math.IsNaN(measuredRate(m, int(x))) }) {
			q.Measured = use.measured
		}
		if (c.routed != nil || !math.IsNaN(q.Reference)) && use.reference > 0 {
			q.Reference = use.reference
		}
		if !g.IsForest() || c.routed != nil || g.ArcIndex(a.To, a.From) < 0 || !(own > use.reference) || len(use.common) == 0 {
			continue
		}
		narrowest := slices.MinFunc(use.common, func(x, y int32) int { // NaN first
			return cmp.Compare(m.Arcs()[x].Bandwidth, m.Arcs()[y].Bandwidth)
		})
		rate, single := measuredRate(m, int(narrowest)), use.measured*math.Exp(bandwidthFloor)
		loaded[l.state.Class] = loaded[l.state.Class] || rate > single
		if rate > single || rate <= single && own > use.reference*math.Exp(bandwidthFloor) {
			takes := asked(m, g.HostsBeyond(a.To, a.From), g.HostsBeyond(a.From, a.To))
			rates = append(rates, loadedRate{q, l.state.Class, rate, own, takes})
		}
	}
	for _, x := range rates {
		if !loaded[x.class] {
			continue
		}
		x.q.Measured, x.q.Reference = x.measured, x.reference
		if !(x.measured < x.asked*math.Exp(-bandwidthFloor)) { // more was not asked of it
			x.q.Measured, x.q.Reference = min(x.measured, x.asked), min(x.reference, x.asked)
		}
	}
}

// A use is what the pairs of hosts tell of an arc whose paths take it.
type use struct {
	pairs               int
	distance            float64 // s, the sum of their latencies
	common              []int32 // measured arcs on all their paths
	measured, reference float64 // B/s: what the best of their paths carries; 0: not known
}

// findUses finds what all pairs of hosts tell of the arcs of the wired graph.
func (c *linkComparer) findUses(g *topology.Graph) []use {
	uses := make([]use, g.NumArcs())
	wired, measured := newRouter(g), newRouter(c.measured.graph)
	specified := wired // of which the reference gives the bandwidths
	if c.routed != nil {
		specified = newRouter(c.routed.graph)
	}
	pair, takenBy := 0, make([]int, c.measured.graph.NumArcs()) // the last pair whose path takes an arc
	for i := range g.Hosts() {
		for _, r := range []*router{wired, measured, specified} {
			r.from(i)
		}
		for j := range g.Hosts() {
			over, _ := wired.to(j)
			arcs, carried := measured.to(j)
			_, reference := specified.to(j)
			if len(arcs) == 0 {
				continue
			}
			pair++
			for _, x := range arcs {
				takenBy[x] = pair
			}
			for _, at := range over {
				u := &uses[at]
				if u.pairs++; u.pairs == 1 {
					u.common = slices.Clone(arcs)
				}
				u.common = slices.DeleteFunc(u.common, func(x int32) bool { return takenBy[x] != pair })
				u.distance += measured.tree.Distance[j]
				u.measured, u.reference = max(u.measured, carried), max(u.reference, reference)
			}
		}
	}
	return uses
}

// A router finds the shortest paths from one vertex of a graph.
type router struct {
	graph  *topology.Graph
	paths  *topology.Paths
	tree   *topology.PathTree
	source int
	arcs   []int32
}

func newRouter(g *topology.Graph) *router {
	return &router{graph: g, paths: topology.NewPaths(g, latenciesOrHops(g)), source: -1}
}

// from makes a vertex the source.
func (r *router) from(source int) {
	if source != r.source {
		r.source, r.tree = source, r.paths.Tree(source)
	}
}

// to returns the arcs to a vertex, the last one first; none where no path leads. They are valid until the next call.
// carries is the least bandwidth that is known of them, in B/s; 0 if none is.
func (r *router) to(v int) (arcs []int32, carries float64) {
	r.arcs = r.arcs[:0]
	for at := r.tree.Arc[v]; at >= 0; at = r.tree.Arc[r.graph.Arcs()[at].From] {
		r.arcs = append(r.arcs, at)
		if x := r.graph.Arcs()[at].Bandwidth; x < carries || carries == 0 && !math.IsNaN(x) {
			carries = x
		}
	}
	return r.arcs, carries
}

// A loadedRate is what a link carries when many pairs of hosts use it at once.
type loadedRate struct {
	q                   *Quantity
	class               int
	measured, reference float64 // B/s
	asked               float64 // B/s: what the hosts on either side take together; NaN if it is not known
}

// asked is what some hosts send and others receive together at most, in B/s; NaN if it is not known.
func asked(g *topology.Graph, senders, receivers []int) float64 {
	sent, received := 0.0, 0.0
	for _, h := range senders {
		for _, a := range g.Out(h) {
			sent += a.Bandwidth
		}
	}
	for _, h := range receivers {
		for _, i := range g.In(h) {
			received += g.Arcs()[i].Bandwidth
		}
	}
	return min(sent, received)
}

// latenciesOrHops are the latencies of all arcs, or ones if some are not known.
func latenciesOrHops(g *topology.Graph) []float64 {
	lengths := g.Latencies()
	if slices.ContainsFunc(lengths, math.IsNaN) {
		for i := range lengths {
			lengths[i] = 1
		}
	}
	return lengths
}

// measuredRate is the bandwidth of an arc in B/s, NaN of an estimated one.
func measuredRate(g *topology.Graph, arc int) float64 {
	if a := g.Arcs()[arc]; !a.Estimated {
		return a.Bandwidth
	}
	return math.NaN()
}
