package model

import "github.com/topocast/topocast/topology"

// firmGraph is the graph without the switches of weak groups: a switch that
// linkage.Robust drew for a weak group becomes one with the switch above it, and the
// links below it grow by the length of the link that goes. So distances
// between hosts stay as they are, but for those inside the weak group, which
// become those of the group above, as Time has them. arcOf tells for each arc
// of the result which one of g it stands for; it is nil, and the result g
// itself, where there is nothing to do: no weak group has a switch of its own, or g
// is no tree. O(vertices + arcs + total size of the groups).
func firmGraph(g *topology.Graph, h *topology.Hierarchy) (firm *topology.Graph, arcOf []int, err error) {
	order, parent := treeOrder(g, top(g))
	if order == nil {
		return g, nil, nil
	}
	isWeak, isFirm := groupSets(h)
	below := hostsBelow(g, order, parent)
	all := below[order[0]]
	// Weak groups hang below a root that lies in none of them, wherever the first
	// switch is: links grow on the side of the group that goes. Of two halves
	// one has to hang below the other.
	root := order[0]
	for _, v := range order[1:] {
		if g.IsSwitch(v) && isWeak[all.without(below[v])] {
			root = v
		}
	}
	if root != order[0] {
		order, parent = treeOrder(g, root)
		below = hostsBelow(g, order, parent)
	}
	merged := 0
	into := make([]int, g.Vertices())     // the vertex that v has become one with
	up := make([]float64, g.Vertices())   // s: what links below v grow by, towards the root
	down := make([]float64, g.Vertices()) // s: and away from it
	latency := make(map[int]float64, 0)   // of arcs that change
	for _, v := range order {
		into[v] = v
		p := parent[v]
		if p < 0 {
			continue
		}
		rise, fall := g.ArcIndex(v, p), g.ArcIndex(p, v)
		latency[rise] = g.Arcs()[rise].Latency + up[p]
		latency[fall] = g.Arcs()[fall].Latency + down[p]
		firm := isFirm[below[v]] || isFirm[all.without(below[v])] // half of the machine, perhaps
		if isWeak[below[v]] && !firm && g.IsSwitch(v) && g.IsSwitch(p) {
			into[v], up[v], down[v] = into[p], latency[rise], latency[fall]
			merged++
		}
	}
	if merged == 0 {
		return g, nil, nil
	}
	number := make([]int, g.Vertices())
	var names []string
	for v := range number {
		if into[v] == v {
			number[v] = len(names)
			names = append(names, g.Name(v))
		}
	}
	var arcs []topology.Arc
	for i, a := range g.Arcs() {
		from, to := number[into[a.From]], number[into[a.To]]
		if from == to {
			continue
		}
		a.From, a.To, a.Latency = from, to, latency[i]
		arcs, arcOf = append(arcs, a), append(arcOf, i)
	}
	firm, err = topology.NewGraph(g.Hosts(), len(names)-g.Hosts(), names, arcs)
	if err != nil {
		return nil, nil, err
	}
	return firm, orderOfArcs(firm, arcs, arcOf), nil
}

// groupSets are the sets of hosts of weak and of firm groups.
func groupSets(h *topology.Hierarchy) (weak, firm map[hostSet]bool) {
	weak, firm = make(map[hostSet]bool), make(map[hostSet]bool)
	for _, g := range h.Groups()[1:] {
		if g.Firm() {
			firm[hostSetOf(g.Hosts...)] = true
		} else {
			weak[hostSetOf(g.Hosts...)] = true
		}
	}
	return weak, firm
}

// firmLevels numbers the levels that Hierarchy.Firm keeps, the root's level
// last; -1 for those that it drops.
func firmLevels(h *topology.Hierarchy) []int {
	kept, lost := make([]bool, len(h.Levels())+1), make([]bool, len(h.Levels())+1)
	for _, g := range h.Groups() {
		if g.Firm() {
			kept[g.Level] = true
		} else {
			lost[g.Level] = true
		}
	}
	number, next := make([]int, len(kept)), 0
	for i := range number {
		if number[i] = -1; kept[i] || !lost[i] {
			number[i] = next
			next++
		}
	}
	return number
}
