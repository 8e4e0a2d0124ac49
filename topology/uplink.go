package topology

// LinkAbove returns the ends of the link of a forest that has some hosts on one side and all other hosts of their tree on the
// other: from is on the side of the hosts. Of a chain of such links it is the one nearest to the hosts. ok is false
// if there is none, and for graphs that are no forest. Hosts are given once each. O(vertices).
func (g *Graph) LinkAbove(hosts []int) (from, to int, ok bool) {
	if !g.IsForest() || len(hosts) == 0 {
		return 0, 0, false
	}
	wanted := make([]bool, g.Vertices())
	for _, h := range hosts {
		wanted[h] = true
	}
	// The tree of the first host, seen from one of its switches: each vertex after its parent.
	parent := make([]int, g.Vertices())
	for v := range parent {
		parent[v] = -1
	}
	root := hosts[0]
	for _, a := range g.Out(root) {
		if g.IsSwitch(a.To) {
			root = a.To
		}
	}
	order := []int{root}
	for i := 0; i < len(order); i++ {
		for _, next := range g.neighbours(order[i]) {
			if next != root && parent[next] < 0 {
				parent[next] = order[i]
				order = append(order, next)
			}
		}
	}
	below, found := make([]int, g.Vertices()), make([]int, g.Vertices()) // hosts, and those that were asked for
	all := 0
	for _, v := range order {
		if !g.IsSwitch(v) {
			all++
		}
	}
	for i := len(order) - 1; i > 0; i-- {
		v := order[i]
		if !g.IsSwitch(v) {
			below[v]++
			if wanted[v] {
				found[v]++
			}
		}
		switch {
		case below[v] == len(hosts) && found[v] == len(hosts):
			return v, parent[v], true
		case below[v] == all-len(hosts) && found[v] == 0:
			from, to, ok = parent[v], v, true
		}
		below[parent[v]] += below[v]
		found[parent[v]] += found[v]
	}
	return from, to, ok
}

// neighbours are the other ends of the arcs of a vertex in either direction; some may stand twice.
func (g *Graph) neighbours(v int) []int {
	var all []int
	for _, a := range g.Out(v) {
		all = append(all, a.To)
	}
	for _, i := range g.In(v) {
		all = append(all, g.arcs[i].From)
	}
	return all
}
