package throughput

import (
	"cmp"
	"slices"

	"github.com/topocast/topocast/topology"
)

// uplinks are rounds of links between two switches, loaded by as many pairs at once as there
// are on both sides. A budget that ends early leaves out links of few hosts.
func (c *campaign) uplinks(crossings []crossing) (rounds []round) {
	slices.SortStableFunc(crossings, func(a, b crossing) int { return cmp.Compare(b.Hosts, a.Hosts) })
	for _, x := range crossings {
		for _, pairs := range [][][2]int{x.Pairs, x.Other} {
			if len(pairs) > 0 {
				rounds = append(rounds, round{c.load(pairs, [2]int{x.U, x.V})})
			}
		}
	}
	return rounds
}

// A crossing is a link between two switches and the hosts between which it is measured: of
// each pair one on either side.
type crossing struct {
	U, V  int      // switches, U < V
	Hosts int      // of the smaller side, where no other way leads from one side to the other; else 0
	Pairs [][2]int // disjoint, hosts on the side of U and of V

	// Other is another pair where Pairs is one that has a choice: the links behind one
	// host may be slow.
	Other [][2]int
}

// nearestTried bounds the hosts on each side of a link that is no bridge among which
// pairs are looked for: each costs a search for its shortest paths.
const nearestTried = 64

// findCrossings finds for each link between two switches of g the hosts to measure it
// with (Bufe 2014, section 2.3.3). Most bounds the pairs of a link. If the graph falls
// apart without the link, hosts of both parts are paired. Those of different branches
// come first, so that slower links behind do not hold them up. Else pairs are taken among the
// nearest hosts whose only shortest path, there and back, leads over the link.
// Links for which there is no pair have none. Links are ordered by U and V.
//
// O(vertices + arcs) for each link of a forest; for others that are no bridge
// up to nearestTried searches for shortest paths.
func findCrossings(g *topology.Graph, most int) []crossing {
	finder := topology.NewPaths(g, nil)
	trees := make(map[int]*topology.PathTree)
	tree := func(v int) *topology.PathTree {
		if trees[v] == nil {
			trees[v] = finder.Tree(v)
		}
		return trees[v]
	}
	var all []crossing
	for _, a := range g.Arcs() {
		if a.From > a.To && g.ArcIndex(a.To, a.From) >= 0 || !g.IsSwitch(a.From) || !g.IsSwitch(a.To) {
			continue
		}
		c := crossing{U: min(a.From, a.To), V: max(a.From, a.To)}
		left, isBridge := side(g, c.U, c.V)
		right, _ := side(g, c.V, c.U)
		if isBridge {
			c.Hosts = min(len(left), len(right))
		} else {
			left, right = nearestTo(g, tree, c.U, c.V), nearestTo(g, tree, c.V, c.U)
		}
		c.pair(left, right, most, func(a, b int) bool {
			return isBridge || onlyOver(g, tree(a), b, c.U, c.V) && onlyOver(g, tree(b), a, c.V, c.U)
		})
		if isBridge && len(c.Pairs) == 1 && len(left)+len(right) > 2 {
			c.Other = [][2]int{{left[min(1, len(left)-1)], right[min(1, len(right)-1)]}}
		}
		all = append(all, c)
	}
	return all
}

// side lists the hosts that u reaches without the link to v, those of different
// branches first, and tells whether v is not reached.
func side(g *topology.Graph, u, v int) (hosts []int, apart bool) {
	seen := make([]bool, g.Vertices())
	var below func(at int) []int // the hosts at a vertex and behind it
	below = func(at int) []int {
		seen[at] = true
		var own []int
		if !g.IsSwitch(at) {
			own = append(own, at)
		}
		var branches [][]int
		for _, a := range g.Out(at) {
			if !seen[a.To] && !(at == u && a.To == v) {
				branches = append(branches, below(a.To))
			}
		}
		if seen[v] { // nobody asks for the hosts
			return nil
		}
		return append(own, inTurn(branches)...)
	}
	hosts = below(u)
	return hosts, !seen[v]
}

// inTurn is one of each list, then the next of each, and so on.
func inTurn(lists [][]int) []int {
	var all []int
	for k := 0; ; k++ {
		before := len(all)
		for _, l := range lists {
			if k < len(l) {
				all = append(all, l[k])
			}
		}
		if len(all) == before {
			return all
		}
	}
}

// pair takes hosts of both sides in their order, each with the first one that is left whose messages pass the link.
func (c *crossing) pair(left, right []int, most int, pass func(a, b int) bool) {
	right = slices.Clone(right)
	for _, a := range left {
		if len(c.Pairs) == most {
			return
		}
		if k := slices.IndexFunc(right, func(b int) bool { return pass(a, b) }); k >= 0 {
			c.Pairs = append(c.Pairs, [2]int{a, right[k]})
			right = slices.Delete(right, k, k+1)
		}
	}
}

// nearestTo lists the hosts that are nearer to u than to v, the nearest first, up to
// nearestTried.
func nearestTo(g *topology.Graph, tree func(int) *topology.PathTree, u, v int) []int {
	near, far := tree(u), tree(v)
	var hosts []int
	for _, h := range near.Order {
		if !g.IsSwitch(h) && near.Distance[h] < far.Distance[h] {
			if hosts = append(hosts, h); len(hosts) == nearestTried {
				break
			}
		}
	}
	return hosts
}

// onlyOver tells whether the path of a tree to a vertex is the only shortest one, and
// leads over the arc u->v.
func onlyOver(g *topology.Graph, t *topology.PathTree, to, u, v int) bool {
	if !t.Only(to) {
		return false
	}
	over := int32(g.ArcIndex(u, v))
	for at := to; t.Arc[at] >= 0; at = g.Arcs()[t.Arc[at]].From {
		if t.Arc[at] == over {
			return true
		}
	}
	return false
}

// onePerSwitch keeps one link of each switch, where all links of a switch are taken to be
// alike: the one whose smaller side is largest, so that the most pairs can load it
// (Bufe 2014, section 2.3.3). Of equal ones it is the first. A link may be that of both
// its switches. The order stays.
func onePerSwitch(crossings []crossing) []crossing {
	best := make(map[int]int) // switch -> index of its link
	for i, c := range crossings {
		for _, s := range []int{c.U, c.V} {
			if b, ok := best[s]; !ok || len(c.Pairs) > len(crossings[b].Pairs) {
				best[s] = i
			}
		}
	}
	var kept []crossing
	for i, c := range crossings {
		if len(c.Pairs) > 0 && (best[c.U] == i || best[c.V] == i) {
			kept = append(kept, c)
		}
	}
	return kept
}
