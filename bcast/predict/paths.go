package predict

import (
	"math"
	"slices"

	"github.com/topocast/topocast/bcast/schedule"
	"github.com/topocast/topocast/model"
	"github.com/topocast/topocast/topology"
)

// A hop is a part of the machine that serves one message at a time: a direction
// of a link, or of what joins a group to the others.
type hop struct {
	id   int32
	own  float64 // s, for which the message would occupy it if it were the slowest
	busy float64 // s, for which the message does occupy it
}

// paths know the links of a machine.
type paths interface {
	// count is the number of links; they are numbered from 0.
	count() int

	// hops appends those of a message of the given bytes between two ranks, in
	// their order. The slowest is busy for busy s, the others in part for what they wait for it: see Evaluator.held.
	hops(to []hop, src, dst int, bytes int64, busy, held float64) []hop
}

// newHop is that of a message which takes busy s on the slowest of its links, and
// would take own s if this were the slowest. What it is held up elsewhere counts in part.
func newHop(id int, own, busy, held float64) hop {
	own = min(own, busy)
	return hop{int32(id), own, own + held*(busy-own)}
}

// treePaths takes the links from the hierarchy: that of each rank out and in, and
// those of each group. How fast they are follows from pairs that they join.
type treePaths struct {
	ranks     int
	tree      *topology.Hierarchy
	transfers transfers
	pairs     []joined // per group
}

// A joined is a pair of ranks that a group joins and no smaller one. It keeps the time that the bytes of the last message
// asked for take between them.
type joined struct {
	a, b  int
	bytes int64
	busy  float64 // s
}

func newTreePaths(ranks int, tree *topology.Hierarchy, transfers transfers) *treePaths {
	tree = (&schedule.Problem{Ranks: ranks, Tree: tree}).Groups()
	groups := tree.Groups()
	g := &treePaths{ranks: ranks, tree: tree, transfers: transfers, pairs: make([]joined, len(groups))}
	for i := range groups {
		p := &g.pairs[i]
		p.a, p.b, p.bytes = groups[i].Hosts[0], -1, -1
		for _, x := range groups[i].Hosts[1:] {
			if tree.Common(p.a, x) == i {
				p.b = x
				break
			}
		}
	}
	return g
}

func (g *treePaths) count() int { return 2 * (g.ranks + len(g.pairs)) }

func (g *treePaths) hops(to []hop, src, dst int, bytes int64, busy, held float64) []hop {
	groups := g.tree.Groups()
	join := g.tree.Common(src, dst)
	at := func(id, group int) hop { return newHop(id, g.busy(group, bytes), busy, held) }
	to = append(to, at(2*src, g.tree.Smallest(src)))
	for i := g.tree.Smallest(src); i != join; i = groups[i].Parent {
		to = append(to, at(2*(g.ranks+i), groups[i].Parent))
	}
	from := len(to)
	for i := g.tree.Smallest(dst); i != join; i = groups[i].Parent {
		to = append(to, at(2*(g.ranks+i)+1, groups[i].Parent))
	}
	slices.Reverse(to[from:])
	return append(to, at(2*dst+1, g.tree.Smallest(dst)))
}

// busy is for how long a message of the given bytes occupies the link between
// ranks that the group joins.
func (g *treePaths) busy(group int, bytes int64) float64 {
	p := &g.pairs[group]
	if p.b < 0 {
		return 0
	}
	if p.bytes != bytes {
		p.bytes = bytes
		p.busy = max(0, g.transfers.Time(p.a, p.b, bytes)-g.transfers.Time(p.a, p.b, 0))
	}
	return p.busy
}

// graphPaths takes the links from the routes of a graph of which all bandwidths are
// known.
type graphPaths struct {
	routes    *topology.Routes
	bandwidth []float64 // per arc, B/s
	route     []int32
}

// newGraphPaths is nil where the network's graph does not tell all.
func newGraphPaths(n *model.Network) paths {
	g := n.Graph()
	if g.NumArcs() == 0 || g.Hosts() != n.Ranks() {
		return nil
	}
	w := &graphPaths{bandwidth: make([]float64, g.NumArcs())}
	for i, a := range g.Arcs() {
		if math.IsNaN(a.Bandwidth) {
			return nil
		}
		w.bandwidth[i] = a.Bandwidth
	}
	var err error
	if w.routes, err = topology.NewRoutes(g, n.Settings().Routing); err != nil {
		return nil
	}
	for r := 1; r < n.Ranks(); r++ { // all parts belong together
		if w.route, err = w.routes.AppendRoute(w.route[:0], 0, r); err != nil {
			return nil
		}
	}
	return w
}

func (w *graphPaths) count() int { return len(w.bandwidth) }

func (w *graphPaths) hops(to []hop, src, dst int, _ int64, busy, held float64) []hop {
	w.route, _ = w.routes.AppendRoute(w.route[:0], src, dst) // there is one: see newGraphPaths
	slowest := math.Inf(1)
	for _, arc := range w.route {
		slowest = min(slowest, w.bandwidth[arc])
	}
	for _, arc := range w.route {
		to = append(to, newHop(int(arc), busy*slowest/w.bandwidth[arc], busy, held))
	}
	return to
}
