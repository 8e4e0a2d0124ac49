package cut

import (
	"math"
	"slices"
)

// A cutTable is of a subtree of the core whose top is on a given side. For each number of its hosts on the side true it holds the
// least cut, and how the last child took part.
type cutTable struct {
	cost  []float64
	child []int32 // hosts of the last merged child on the side true
	side  []bool  // the side of that child
}

// tree finds the best sides of a core that is a forest, by dynamic programming: the tables of a vertex are those of its
// own hosts, to which its children are added one by one. The parts of the forest hang on a vertex that is
// not in the core and costs nothing.
func (c *core) tree() []bool {
	top := len(c.vertices)
	children, rate := make([][]int, top+1), make([]float64, top+1) // rate: of the link to the parent
	seen := make([]bool, top)
	order := []int{top}                      // each vertex after its parent
	for root := top - 1; root >= 0; root-- { // switches first as roots
		if seen[root] {
			continue
		}
		seen[root] = true
		children[top] = append(children[top], root)
		order = append(order, root)
		for at := len(order) - 1; at < len(order); at++ {
			x := order[at]
			for i, y := range c.next[x] {
				if !seen[y] {
					seen[y], rate[y] = true, c.rate[x][i]
					children[x] = append(children[x], y)
					order = append(order, y)
				}
			}
		}
	}
	tables := make([][2][]cutTable, top+1) // by vertex and its side: of its own hosts, then with a child each
	for _, x := range slices.Backward(order) {
		for s := range 2 {
			steps := []cutTable{c.ownTable(x, s == 1)}
			for _, y := range children[x] {
				low, high := tables[y][0], tables[y][1]
				steps = append(steps, mergeTables(&steps[len(steps)-1], low[len(low)-1].cost, high[len(high)-1].cost, rate[y], s == 1))
			}
			tables[x][s] = steps
		}
	}
	side := make([]bool, top+1)
	var assign func(x int, s bool, hosts int)
	assign = func(x int, s bool, hosts int) {
		side[x] = s
		steps := tables[x][0]
		if s {
			steps = tables[x][1]
		}
		for i, y := range slices.Backward(children[x]) {
			t := &steps[i+1]
			below := int(t.child[hosts])
			assign(y, t.side[hosts], below)
			hosts -= below
		}
	}
	assign(top, false, c.half)
	return side[:top]
}

// ownTable is the table of vertex x, on the given side, with its own hosts alone: itself, if it is one, and its leaves, of which
// those on the slowest links go to the other side first.
func (c *core) ownTable(x int, side bool) cutTable {
	if x == len(c.vertices) {
		return cutTable{cost: []float64{0}}
	}
	leaves := c.leaves[x]
	cost := make([]float64, c.hosts[x]+1)
	for k := range cost {
		cost[k] = math.Inf(1)
	}
	away := 0.0
	for i := range len(leaves) + 1 { // leaves that go
		if side {
			cost[c.hosts[x]-i] = away
		} else {
			cost[i] = away
		}
		if i < len(leaves) {
			away += leaves[i].rate
		}
	}
	return cutTable{cost: cost}
}

// mergeTables adds a child, of whose least cuts off are on the side false and on the side true, on the better side for each number
// of its hosts. s is the side of the parent, rate that of the link between them.
func mergeTables(a *cutTable, off, on []float64, rate float64, s bool) cutTable {
	low, side := make([]float64, len(off)), make([]bool, len(off))
	for k := range low {
		x, y := off[k], on[k]
		if s {
			x += rate
		} else {
			y += rate
		}
		if low[k] = x; y < x {
			low[k], side[k] = y, true
		}
	}
	size := len(a.cost) + len(low) - 1
	t := cutTable{cost: make([]float64, size), child: make([]int32, size), side: make([]bool, size)}
	for k := range t.cost {
		t.cost[k] = math.Inf(1)
	}
	for x, cx := range a.cost {
		for y, cy := range low {
			if sum := cx + cy; sum < t.cost[x+y] {
				t.cost[x+y], t.child[x+y], t.side[x+y] = sum, int32(y), side[y]
			}
		}
	}
	return t
}
