package cut

import (
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
	b := newBisector(g)
	var c *Halves
	switch {
	case g.IsForest():
		c = b.tree()
	default:
		c = b.general()
	}
	c.Bandwidth = b.weigh(c.Side)
	return c, nil
}

// A bisector holds the undirected links of a graph: per vertex its neighbours
// and the bandwidths to them.
type bisector struct {
	g    *topology.Graph
	next [][]int
	rate [][]float64
	half int
}

func newBisector(g *topology.Graph) *bisector {
	b := &bisector{g: g, next: make([][]int, g.Vertices()), rate: make([][]float64, g.Vertices()), half: g.Hosts() / 2}
	add := func(u, v int, rate float64) {
		b.next[u] = append(b.next[u], v)
		b.rate[u] = append(b.rate[u], rate)
	}
	for _, a := range g.Arcs() {
		back := 0.0
		if i := g.ArcIndex(a.To, a.From); i >= 0 {
			if a.To < a.From {
				continue
			}
			back = g.Arcs()[i].Bandwidth
		}
		add(a.From, a.To, (a.Bandwidth+back)/2)
		add(a.To, a.From, (a.Bandwidth+back)/2)
	}
	return b
}

func (b *bisector) weigh(side []bool) float64 {
	sum := 0.0
	for u, vs := range b.next {
		for k, v := range vs {
			if u < v && side[u] != side[v] {
				sum += b.rate[u][k]
			}
		}
	}
	return sum
}

// A cutTable holds, for a subtree whose top is on a given side, the least cut
// with k of its hosts on the side true, and how the last child took part.
type cutTable struct {
	cost  []float64
	child []int32 // hosts of the last merged child on the side true
	side  []bool  // the side of that child
}

// tree is the dynamic programme. Of the hosts right below a vertex only the
// number on the other side counts: the ones on the slowest links go first.
func (b *bisector) tree() *Halves {
	g := b.g
	n := g.Vertices()
	parent, rate := make([]int, n), make([]float64, n) // of the link to the parent
	seen := make([]bool, n)
	var order, roots []int
	for v := n - 1; v >= 0; v-- { // switches first as roots
		if seen[v] {
			continue
		}
		roots = append(roots, v)
		parent[v], seen[v] = -1, true
		for stack := []int{v}; len(stack) > 0; {
			u := stack[len(stack)-1]
			stack = stack[:len(stack)-1]
			order = append(order, u)
			for k, x := range b.next[u] {
				if !seen[x] {
					seen[x], parent[x], rate[x] = true, u, b.rate[u][k]
					stack = append(stack, x)
				}
			}
		}
	}
	inner, leaves := make([][]int, n), make([][]int, n)
	for _, v := range order {
		if p := parent[v]; p >= 0 {
			if v < g.Hosts() && len(b.next[v]) == 1 {
				leaves[p] = append(leaves[p], v)
			} else {
				inner[p] = append(inner[p], v)
			}
		}
	}
	// steps[v][s] are the tables of v on side s: own hosts, then a child each.
	steps := make([][2][]cutTable, n)
	for k := len(order) - 1; k >= 0; k-- {
		v := order[k]
		if parent[v] >= 0 && v < g.Hosts() && len(b.next[v]) == 1 {
			continue // counted by its parent
		}
		slices.SortFunc(leaves[v], func(x, y int) int {
			if rate[x] != rate[y] {
				if rate[x] < rate[y] {
					return -1
				}
				return 1
			}
			return x - y
		})
		for s := range 2 {
			steps[v][s] = []cutTable{b.ownTable(v, s == 1, leaves[v], rate)}
			for _, c := range inner[v] {
				last := &steps[v][s][len(steps[v][s])-1]
				steps[v][s] = append(steps[v][s], mergeTables(last, lastTable(steps[c]), rate[c], s == 1))
			}
		}
	}
	// The parts of a forest hang on a root that costs nothing.
	top := []cutTable{{cost: []float64{0}}}
	for _, r := range roots {
		top = append(top, mergeTables(&top[len(top)-1], lastTable(steps[r]), 0, false))
	}
	side := make([]bool, n)
	var assign func(v int, s bool, k int)
	unfold := func(tables []cutTable, children []int, k int) int {
		for i := len(children) - 1; i >= 0; i-- {
			t := &tables[i+1]
			own := int(t.child[k])
			assign(children[i], t.side[k], own)
			k -= own
		}
		return k
	}
	assign = func(v int, s bool, k int) {
		side[v] = s
		which := 0
		if s {
			which = 1
		}
		k = unfold(steps[v][which], inner[v], k)
		if s && v < g.Hosts() {
			k--
		}
		away := k // leaves that leave v's side
		if s {
			away = len(leaves[v]) - k
		}
		for i, h := range leaves[v] {
			side[h] = s != (i < away)
		}
	}
	unfold(top, roots, b.half)
	return &Halves{Side: side, Exact: true}
}

// ownTable is the table of v with its leaves alone.
func (b *bisector) ownTable(v int, s bool, leaves []int, rate []float64) cutTable {
	m := len(leaves)
	away := make([]float64, m+1)
	for i, h := range leaves {
		away[i+1] = away[i] + rate[h]
	}
	self := 0
	if v < b.g.Hosts() {
		self = 1
	}
	cost := make([]float64, m+self+1)
	for k := range cost {
		x := k // leaves on the side true
		if s {
			x -= self
		}
		switch {
		case x < 0 || x > m:
			cost[k] = math.Inf(1)
		case s:
			cost[k] = away[m-x]
		default:
			cost[k] = away[x]
		}
	}
	return cutTable{cost: cost}
}

func lastTable(steps [2][]cutTable) [2]*cutTable {
	return [2]*cutTable{&steps[0][len(steps[0])-1], &steps[1][len(steps[1])-1]}
}

// mergeTables adds a child, on the better side for each number of its hosts.
func mergeTables(a *cutTable, child [2]*cutTable, rate float64, s bool) cutTable {
	size := len(child[0].cost)
	low, side := make([]float64, size), make([]bool, size)
	for k := range size {
		off, on := child[0].cost[k], child[1].cost[k]
		if s {
			off += rate
		} else {
			on += rate
		}
		if low[k] = off; on < off {
			low[k], side[k] = on, true
		}
	}
	t := cutTable{cost: make([]float64, len(a.cost)+size-1)}
	t.child, t.side = make([]int32, len(t.cost)), make([]bool, len(t.cost))
	for k := range t.cost {
		t.cost[k] = math.Inf(1)
	}
	for x, cx := range a.cost {
		for y, cy := range low {
			if c := cx + cy; c < t.cost[x+y] {
				t.cost[x+y], t.child[x+y], t.side[x+y] = c, int32(y), side[y]
			}
		}
	}
	return t
}
