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
	enter, low := make([]int, g.Vertices()), make([]int, g.Vertices())
	var order []int // hosts in the order of the walk
	clock := 0
	type cut struct{ parent, v, from, to int } // the hosts beyond the link are order[from:to]
	var cuts []cut
	var walk func(v, parent int)
	walk = func(v, parent int) {
		clock++
		enter[v], low[v] = clock, clock
		from := len(order)
		if v < g.Hosts() {
			order = append(order, v)
		}
		for _, u := range g.Neighbours(v) {
			switch {
			case u == parent:
			case enter[u] > 0:
				low[v] = min(low[v], enter[u])
			default:
				walk(u, v)
				low[v] = min(low[v], low[u])
			}
		}
		if parent >= 0 && low[v] > enter[parent] {
			cuts = append(cuts, cut{parent, v, from, len(order)})
		}
	}
	found := map[[2]int]hangingPart{}
	for root := range g.Hosts() {
		if enter[root] > 0 {
			continue
		}
		begin := len(order)
		cuts = nil
		walk(root, -1)
		for _, x := range cuts {
			part := hangingPart{end: x.v, hosts: slices.Clone(order[x.from:x.to])}
			if all := len(order) - begin; 2*len(part.hosts) > all {
				part = hangingPart{end: x.parent, hosts: slices.Concat(order[begin:x.from], order[x.to:])}
			}
			slices.Sort(part.hosts)
			found[[2]int{min(x.parent, x.v), max(x.parent, x.v)}] = part
		}
	}
	return found
}
