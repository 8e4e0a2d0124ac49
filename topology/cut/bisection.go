package cut

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	"github.com/topocast/topocast/topology"
)

// Halves divide the hosts of a graph in two.
type Halves struct {
	Side      []bool  // per vertex; hosts and switches
	Bandwidth float64 // B/s that the links between the sides carry in one direction
	Exact     bool    // no other halves have less; else it is the best that was found
}

// Bisect finds the cut of least bandwidth that divides the hosts in halves,
// floor(n/2) of them on the side true: how much half the machine can say to the
// other half at worst. A link counts the mean of its directions, 0 for one that
// is missing; a host may be cut off its switch. Switches stand on either side.
//
// On trees it is exact: least cuts per number of hosts, added up from subtrees,
// O(n^2) in all. Of other graphs, leaves are left aside, as where they go follows
// from the rest; up to 24 vertices that remain are tried in all ways, more
// are searched from spectral and grown starts by the moves of Fiduccia and
// Mattheyses 1982. It is an error if a bandwidth is not known.
func Bisect(g *topology.Graph) (*Halves, error) {
	for _, a := range g.Arcs() {
		if math.IsNaN(a.Bandwidth) {
			return nil, fmt.Errorf("cut: bisection: arc %s->%s: bandwidth is not known", g.Name(a.From), g.Name(a.To))
		}
	}
	c := newCore(g)
	cut := &Halves{}
	switch {
	case g.IsForest():
		cut.Side, cut.Exact = c.finish(c.tree()), true
	case len(c.vertices) <= exactVertices:
		cut.Side, cut.Exact = c.finish(c.tryAll()), true
	default:
		cut.Side = c.finish(c.search())
	}
	for _, a := range g.Arcs() {
		if cut.Side[a.From] != cut.Side[a.To] {
			cut.Bandwidth += a.Bandwidth / 2 // the mean of both directions
		}
	}
	return cut, nil
}

// A core is a graph without its leaf hosts, its links undirected. Each vertex carries the number of
// hosts that stand and fall with it: itself, if it is a host, and its leaves.
// A leaf may be moved to the other side to even the numbers; the leaves on the
// slowest links first.
type core struct {
	size     int   // vertices of the graph
	half     int   // hosts wanted on the side true
	vertices []int // of the graph
	next     [][]int
	rate     [][]float64 // B/s, the mean of both directions
	hosts    []int       // per core vertex
	leaves   [][]leaf    // per core vertex, slowest link first
	least    float64     // rate of the slowest link of a leaf; +Inf if there are no leaves
}

// A leaf is a host with one link, to a vertex with several.
type leaf struct {
	host int
	rate float64
}

func bySlowness(p, q leaf) int { return cmp.Or(cmp.Compare(p.rate, q.rate), p.host-q.host) }

func newCore(g *topology.Graph) *core {
	n := g.Vertices()
	next, rate := make([][]int, n), make([][]float64, n) // of the whole graph
	for _, a := range g.Arcs() {
		back := 0.0
		if i := g.ArcIndex(a.To, a.From); i >= 0 {
			if a.To < a.From {
				continue
			}
			back = g.Arcs()[i].Bandwidth
		}
		for _, ends := range [2][2]int{{a.From, a.To}, {a.To, a.From}} {
			next[ends[0]] = append(next[ends[0]], ends[1])
			rate[ends[0]] = append(rate[ends[0]], (a.Bandwidth+back)/2)
		}
	}
	c := &core{size: n, half: g.Hosts() / 2, least: math.Inf(1)}
	number := make([]int, n) // of core vertices, -1 of leaves
	for v := range n {
		number[v] = len(c.vertices)
		if !g.IsSwitch(v) && len(next[v]) == 1 && len(next[next[v][0]]) > 1 {
			number[v] = -1
		} else {
			c.vertices = append(c.vertices, v)
		}
	}
	k := len(c.vertices)
	c.next, c.rate, c.hosts, c.leaves = make([][]int, k), make([][]float64, k), make([]int, k), make([][]leaf, k)
	for x, v := range c.vertices {
		if !g.IsSwitch(v) {
			c.hosts[x]++
		}
		for i, u := range next[v] {
			if number[u] >= 0 {
				c.next[x], c.rate[x] = append(c.next[x], number[u]), append(c.rate[x], rate[v][i])
				continue
			}
			c.hosts[x]++
			c.leaves[x] = append(c.leaves[x], leaf{u, rate[v][i]})
			c.least = min(c.least, rate[v][i])
		}
		slices.SortFunc(c.leaves[x], bySlowness)
	}
	return c
}

// weigh returns what is cut within the core, and the number of hosts on the side true.
func (c *core) weigh(side []bool) (cut float64, count int) {
	for x, s := range side {
		if s {
			count += c.hosts[x]
		}
		for i, y := range c.next[x] {
			if x < y && s != side[y] {
				cut += c.rate[x][i]
			}
		}
	}
	return cut, count
}

// even moves leaves to the other side until half of the hosts are on the side true,
// and returns what that costs and the leaves; +Inf if there are not enough.
// count is the number of hosts on the side true now.
func (c *core) even(side []bool, count int) (cost float64, moved []leaf) {
	excess, from := count-c.half, true
	if excess < 0 {
		excess, from = -excess, false
	}
	if excess == 0 {
		return 0, nil
	}
	for x, s := range side {
		if s == from {
			moved = append(moved, c.leaves[x]...)
		}
	}
	if len(moved) < excess {
		return math.Inf(1), nil
	}
	slices.SortFunc(moved, bySlowness)
	moved = moved[:excess]
	for _, l := range moved {
		cost += l.rate
	}
	return cost, moved
}

// finish makes the sides of the graph's vertices of those of the core.
func (c *core) finish(side []bool) []bool {
	all := make([]bool, c.size)
	for x, v := range c.vertices {
		all[v] = side[x]
		for _, l := range c.leaves[x] {
			all[l.host] = side[x]
		}
	}
	_, count := c.weigh(side)
	_, moved := c.even(side, count)
	for _, l := range moved {
		all[l.host] = !all[l.host]
	}
	return all
}
