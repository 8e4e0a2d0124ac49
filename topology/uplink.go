package topology

import "slices"

// LinkAbove returns the ends of the link of a forest that parts some hosts from all other hosts of their tree:
// from is on the side of the hosts. Of a chain of such links it is the one nearest to the hosts. ok is false
// if there is none, and in graphs that are no forest. Hosts are given once each. O(hosts given); the first call costs
// O(vertices + m log degree) for m arcs.
func (g *Graph) LinkAbove(hosts []int) (from, to int, ok bool) {
	var sum uint64
	for _, h := range hosts {
		sum += mix(uint64(h))
	}
	ends, ok := g.sides()[sum]
	return ends[0], ends[1], ok && len(hosts) > 0
}

// findSides are, by the hosts on either side of a link of a forest, its two ends, the one on their side first. A set of
// hosts is known by the sum of numbers that chance does not make equal.
func (g *Graph) findSides() map[uint64][2]int {
	sides := make(map[uint64][2]int)
	if !g.IsForest() {
		return sides
	}
	add := func(side uint64, from, to int) {
		if _, known := sides[side]; !known {
			sides[side] = [2]int{from, to}
		}
	}
	parent, below := g.unreached(), make([]uint64, g.vertices)
	for root := g.vertices - 1; root >= 0; root-- { // the last vertices are switches
		if parent[root] >= 0 {
			continue
		}
		order := g.reach(root, parent) // each vertex after its parent
		// Of a chain of links the one nearest to the hosts counts: the lowest of those above them, and of those that
		// have them on the other side the highest.
		for i := len(order) - 1; i >= 0; i-- {
			v := order[i]
			if !g.IsSwitch(v) {
				below[v] += mix(uint64(v))
			}
			if i > 0 {
				below[parent[v]] += below[v]
				add(below[v], v, parent[v])
			}
		}
		for _, v := range order[1:] {
			add(below[root]-below[v], parent[v], v)
		}
	}
	return sides
}

// HostsBeyond are the hosts that the link from u to v alone joins to u, ascending; nil if there is another way between its ends.
// O(vertices + m) for m arcs.
func (g *Graph) HostsBeyond(u, v int) []int {
	seen := map[int]bool{v: true}
	queue := []int{v}
	for k := 0; k < len(queue); k++ {
		for _, x := range g.Neighbours(queue[k]) {
			switch {
			case queue[k] == v && x == u:
			case x == u:
				return nil
			case !seen[x]:
				seen[x] = true
				queue = append(queue, x)
			}
		}
	}
	hosts := slices.DeleteFunc(queue, g.IsSwitch)
	slices.Sort(hosts)
	return hosts
}

// Neighbours are the other ends of the arcs of a vertex in either direction; some stand twice. The slice is new.
func (g *Graph) Neighbours(v int) []int {
	var all []int
	for _, a := range g.Out(v) {
		all = append(all, a.To)
	}
	for _, i := range g.In(v) {
		all = append(all, g.arcs[i].From)
	}
	return all
}
