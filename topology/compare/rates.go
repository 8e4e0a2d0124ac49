package compare

import (
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
	g := c.wired
	if c.fit != nil {
		g = c.fit.Graph
	}
	if g == nil {
		return
	}
	m, k := c.measured.graph, g.Hosts()
	routes := g // those whose bandwidths the reference gives
	if c.routed != nil {
		routes = c.routed.graph
	}
	router := topology.NewPaths(routes, latenciesOrHops(routes))
	finder, other := topology.NewPaths(g, latenciesOrHops(g)), topology.NewPaths(m, latenciesOrHops(m))
	common := make([][]int32, g.NumArcs()) // measured arcs on all paths so far
	seen := make([]int, g.NumArcs())       // pairs
	best := make([][2]float64, g.NumArcs())
	sum := make([]float64, g.NumArcs())
	stamp := make([]int, m.NumArcs())
	loads := make([]load, g.NumArcs())
	pair := 0
	var path []int32
	for i := range k {
		t, u := finder.Tree(i), other.Tree(i)
		r := t
		if c.routed != nil {
			r = router.Tree(i)
		}
		for j := range k {
			if j == i || math.IsInf(t.Distance[j], 1) || math.IsInf(u.Distance[j], 1) {
				continue
			}
			pair++
			path = path[:0]
			carried := math.Inf(1)
			for v := j; v != i; v = m.Arcs()[u.Arc[v]].From {
				path = append(path, u.Arc[v])
				stamp[u.Arc[v]] = pair
				if x := m.Arcs()[u.Arc[v]].Bandwidth; x < carried {
					carried = x
				}
			}
			specified := math.Inf(1)
			for v := j; v != i && !math.IsInf(r.Distance[j], 1); v = routes.Arcs()[r.Arc[v]].From {
				if x := routes.Arcs()[r.Arc[v]].Bandwidth; x < specified {
					specified = x
				}
			}
			for v := j; v != i; v = g.Arcs()[t.Arc[v]].From {
				at := t.Arc[v]
				loads[at].add(m, i)
				if seen[at]++; seen[at] == 1 {
					common[at] = slices.Clone(path)
				} else {
					common[at] = slices.DeleteFunc(common[at], func(x int32) bool { return stamp[x] != pair })
				}
				sum[at] += u.Distance[j]
				if !math.IsInf(carried, 1) {
					best[at][0] = max(best[at][0], carried)
				}
				if !math.IsInf(specified, 1) {
					best[at][1] = max(best[at][1], specified)
				}
			}
		}
	}
	loaded := make([]bool, len(c.out.Classes)) // some link of it was measured to carry more than one pair takes
	var single []loadedRate
	for at := range g.Arcs() {
		l := c.linkOf(at)
		if l == nil {
			continue
		}
		l.distance = (l.distance*float64(l.pairs) + sum[at]) / max(1, float64(l.pairs+seen[at]))
		l.pairs += seen[at]
		way := 0
		if l.arcs[1] == c.origin[at] {
			way = 1
		}
		q := &l.state.Bandwidth[way]
		own := q.Reference
		if slices.ContainsFunc(common[at], func(x int32) bool { return !math.IsNaN(measuredRate(m, int(x))) }) {
			q.Measured = best[at][0]
		}
		if (c.routed != nil || !math.IsNaN(q.Reference)) && best[at][1] > 0 {
			q.Reference = best[at][1]
		}
		a := g.Arcs()[at]
		if back := g.ArcIndex(a.To, a.From); g.IsForest() && c.routed == nil && back >= 0 && own > best[at][1] {
			x := loadedRate{q, l.state.Class, leastRate(m, common[at]), own, min(loads[at].out, loads[back].in)}
			switch most := best[at][0] * math.Exp(bandwidthFloor); {
			case x.measured > most:
				loaded[x.class] = true
				x.judge()
			case x.measured <= most && own > best[at][1]*math.Exp(bandwidthFloor):
				single = append(single, x)
			}
		}
	}
	for _, x := range single {
		if loaded[x.class] {
			x.judge()
		}
	}
}

// A loadedRate is what a link carries when many pairs of hosts use it at once.
type loadedRate struct {
	q                   *Quantity
	class               int
	measured, reference float64 // B/s
	asked               float64 // B/s: what the hosts on either side take together; NaN if it is not known
}

// judge makes it what is compared of the link.
func (x *loadedRate) judge() {
	x.q.Measured, x.q.Reference = x.measured, x.reference
	if !(x.measured < x.asked*math.Exp(-bandwidthFloor)) {
		x.q.Measured, x.q.Reference = min(x.measured, x.asked), min(x.reference, x.asked) // more was not asked of it
	}
}

// A load is what the hosts send and receive together whose messages an arc carries, in B/s; NaN if it is not known.
type load struct {
	out, in float64
	hosts   int // that were counted: those below this number
}

// add counts a host, of several in ascending order.
func (l *load) add(g *topology.Graph, host int) {
	if host < l.hosts {
		return
	}
	l.hosts = host + 1
	for _, a := range g.Out(host) {
		l.out += a.Bandwidth
	}
	for _, i := range g.In(host) {
		l.in += g.Arcs()[i].Bandwidth
	}
}

// leastRate is the least bandwidth of some arcs in B/s, NaN if that was not measured.
func leastRate(g *topology.Graph, arcs []int32) float64 {
	least := int32(-1)
	for _, i := range arcs {
		if b := g.Arcs()[i].Bandwidth; math.IsNaN(b) || least < 0 || b < g.Arcs()[least].Bandwidth {
			least = i
		}
	}
	if least < 0 {
		return math.NaN()
	}
	return measuredRate(g, int(least))
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
