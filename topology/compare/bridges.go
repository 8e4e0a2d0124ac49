package compare

import (
	"slices"

	"github.com/topocast/topocast/topology"
)

// A hangingPart is the smaller side of a bridge.
type hangingPart struct {
	end   int   // the vertex of the bridge in the part
	hosts []int // ascending
}

// bridgesOf are the links without which the graph falls apart, by their ends, the
// lesser first, each with the side of fewer hosts (ties: the side away from
// the lowest host). It follows Tarjan 1974: a link is a bridge if nothing below it in a
// depth-first walk leads above it.
func bridgesOf(g *topology.Graph) map[[2]int]hangingPart {
	near := make([][]int, g.Vertices())
	for _, a := range g.Arcs() {
		near[a.From] = append(near[a.From], a.To)
		if g.ArcIndex(a.To, a.From) < 0 {
			near[a.To] = append(near[a.To], a.From)
		}
	}
	enter, low, first := make([]int, g.Vertices()), make([]int, g.Vertices()), make([]int, g.Vertices())
	var order []int // hosts in the order of the walk
	clock := 0
	type step struct{ v, parent, next int }
	found := map[[2]int]hangingPart{}
	for root := range g.Hosts() {
		if enter[root] > 0 {
			continue
		}
		begin := len(order)
		stack := []step{{root, -1, 0}}
		type cut struct{ parent, v, from, to int }
		var cuts []cut
		for len(stack) > 0 {
			top := &stack[len(stack)-1]
			v := top.v
			if top.next == 0 {
				clock++
				enter[v], low[v], first[v] = clock, clock, len(order)
				if v < g.Hosts() {
					order = append(order, v)
				}
			}
			if top.next < len(near[v]) {
				u := near[v][top.next]
				top.next++
				switch {
				case u == top.parent:
				case enter[u] > 0:
					low[v] = min(low[v], enter[u])
				default:
					stack = append(stack, step{u, v, 0})
				}
				continue
			}
			stack = stack[:len(stack)-1]
			if p := top.parent; p >= 0 {
				low[p] = min(low[p], low[v])
				if low[v] > enter[p] {
					cuts = append(cuts, cut{p, v, first[v], len(order)})
				}
			}
		}
		for _, x := range cuts {
			all := len(order) - begin
			part := hangingPart{end: x.v, hosts: slices.Clone(order[x.from:x.to])}
			if 2*len(part.hosts) > all {
				part = hangingPart{end: x.parent, hosts: slices.Concat(order[begin:x.from], order[x.to:])}
			}
			slices.Sort(part.hosts)
			found[[2]int{min(x.parent, x.v), max(x.parent, x.v)}] = part
		}
	}
	return found
}
