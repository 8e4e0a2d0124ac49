package topology

// Sides knows the links of a forest by the hosts on either side of each.
type Sides struct {
	// at holds for the hosts of a side the two ends of the link, the one on their side first. A set of hosts is known by
	// the sum of numbers that chance does not make equal.
	at map[uint64][2]int
}

// Sides are the sides of the graph's links; there are none if the graph is no forest. O(vertices + m log degree) for m arcs.
func (g *Graph) Sides() *Sides {
	s := &Sides{at: make(map[uint64][2]int)}
	if !g.IsForest() {
		return s
	}
	const unseen = -2
	parent, below := make([]int, g.vertices), make([]uint64, g.vertices)
	for v := range parent {
		parent[v] = unseen
	}
	for root := g.vertices - 1; root >= 0; root-- { // the last vertices are switches
		if parent[root] != unseen {
			continue
		}
		parent[root] = -1
		order := []int{root} // each vertex after its parent
		for i := 0; i < len(order); i++ {
			for _, next := range g.Neighbours(order[i]) {
				if parent[next] == unseen {
					parent[next] = order[i]
					order = append(order, next)
				}
			}
		}
		// Of a chain of links the one nearest to the hosts counts: the lowest of those above them, and of those that
		// have them on the other side the highest.
		for i := len(order) - 1; i >= 0; i-- {
			v := order[i]
			if !g.IsSwitch(v) {
				below[v] += mix(uint64(v))
			}
			if i > 0 {
				below[parent[v]] += below[v]
				s.add(below[v], v, parent[v])
			}
		}
		for _, v := range order[1:] {
			s.add(below[root]-below[v], parent[v], v)
		}
	}
	return s
}

func (s *Sides) add(side uint64, from, to int) {
	if _, known := s.at[side]; !known {
		s.at[side] = [2]int{from, to}
	}
}

// LinkAbove returns the ends of the link that has some hosts on one side and all other hosts of their tree on the
// other: from is on the side of the hosts. Of a chain of such links it is the one nearest to the hosts. ok is false
// if there is none. Hosts are given once each.
func (s *Sides) LinkAbove(hosts []int) (from, to int, ok bool) {
	var sum uint64
	for _, h := range hosts {
		sum += mix(uint64(h))
	}
	ends, ok := s.at[sum]
	return ends[0], ends[1], ok && len(hosts) > 0
}

// LinkAbove is Sides.LinkAbove for one set of hosts.
func (g *Graph) LinkAbove(hosts []int) (from, to int, ok bool) { return g.Sides().LinkAbove(hosts) }

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
