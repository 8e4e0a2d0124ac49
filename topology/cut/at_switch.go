package cut

import (
	"fmt"
	"slices"

	"github.com/topocast/topocast/topology"
)

// AtSwitch splits hosts in two groups, as equal in number as can be,
// such that all traffic between them passes the switch. That is needed to
// measure how much the switch can carry at most (Bufe 2014, section 2.3.4).
//
// If the graph falls apart without the switch, the parts are put in two groups.
// That is the partition problem, solved by subset sums in O(k n)
// for k parts. It may not fall apart, or one part may have most of the hosts. Then hosts are
// taken nearest first. A host is taken if its only shortest path to every host taken
// before on another link of the switch leads through the switch. A group is empty if
// the switch joins nothing.
func AtSwitch(g *topology.Graph, s int) (left, right []int, err error) {
	if s < 0 || s >= g.Vertices() || !g.IsSwitch(s) {
		return nil, nil, fmt.Errorf("cut: switch partition: vertex %d: want a switch, %d to %d", s, g.Hosts(), g.Vertices()-1)
	}
	left, right = groupBranches(partsWithout(g, s))
	if !g.IsForest() && min(len(left), len(right)) < g.Hosts()/2 {
		if l, r := groupBranches(branchesThrough(g, s)); min(len(l), len(r)) > min(len(left), len(right)) {
			left, right = l, r
		}
	}
	return left, right, nil
}

// groupBranches puts branches in two groups of about as many hosts.
func groupBranches(branches [][]int) (left, right []int) {
	sizes := make([]int, len(branches))
	for i, b := range branches {
		sizes[i] = len(b)
	}
	for i, inLeft := range halve(sizes) {
		if inLeft {
			left = append(left, branches[i]...)
		} else {
			right = append(right, branches[i]...)
		}
	}
	slices.Sort(left)
	slices.Sort(right)
	return left, right
}

// partsWithout returns the hosts of each connected part of the neighbourhood of
// s when s is taken out, in the order of their neighbours of s. Parts without hosts are left out.
func partsWithout(g *topology.Graph, s int) [][]int {
	part := g.Parts(s)
	index := map[int]int{}
	var hosts [][]int
	for _, a := range g.Out(s) {
		if _, ok := index[part[a.To]]; !ok {
			index[part[a.To]] = len(hosts)
			hosts = append(hosts, nil)
		}
	}
	for h := range g.Hosts() {
		if i, ok := index[part[h]]; ok {
			hosts[i] = append(hosts[i], h)
		}
	}
	return slices.DeleteFunc(hosts, func(b []int) bool { return len(b) == 0 })
}

// branchesThrough groups hosts by the link of s on their path. A host's path to
// the hosts of other links must be the only shortest one and lead through s. n^2/8 bytes
// for n hosts, and the time of a search for shortest paths from each.
func branchesThrough(g *topology.Graph, s int) [][]int {
	finder := topology.NewPaths(g, nil)
	fromS := finder.Tree(s)
	branch := make([]int, g.Vertices()) // number of the neighbour of s
	for _, v := range fromS.Order[1:] {
		if p := g.Arcs()[fromS.Arc[v]].From; p == s {
			branch[v] = v
		} else {
			branch[v] = branch[p]
		}
	}
	// Of each member one bit per host is kept: whether its only shortest path leads through
	// s. The trees themselves would take some 30 bytes per vertex and member.
	type member struct {
		host    int
		through []uint64
	}
	words := (g.Hosts() + 63) / 64
	has := func(set []uint64, h int) bool { return set[h/64]>>(h%64)&1 != 0 }
	passes := make([]bool, g.Vertices())
	through := func(t *topology.PathTree) []uint64 {
		set := make([]uint64, words)
		clear(passes)
		for _, v := range t.Order[1:] {
			p := g.Arcs()[t.Arc[v]].From
			passes[v] = p == s || passes[p]
			if passes[v] && v < g.Hosts() && t.Only(v) {
				set[v/64] |= 1 << (v % 64)
			}
		}
		return set
	}
	var members []member
	for _, h := range fromS.Order {
		if g.IsSwitch(h) {
			continue
		}
		own := through(finder.Tree(h))
		if !slices.ContainsFunc(members, func(m member) bool {
			return branch[m.host] != branch[h] && !(has(own, m.host) && has(m.through, h))
		}) {
			members = append(members, member{h, own})
		}
	}
	index := map[int]int{}
	var branches [][]int
	for _, m := range members {
		i, ok := index[branch[m.host]]
		if !ok {
			i = len(branches)
			index[branch[m.host]] = i
			branches = append(branches, nil)
		}
		branches[i] = append(branches[i], m.host)
	}
	return branches
}

// halve chooses items whose sizes sum to as much of half the total as can be. O(items * total).
func halve(sizes []int) []bool {
	total := 0
	for _, s := range sizes {
		total += s
	}
	const never, nothing = -2, -1
	last := make([]int, total/2+1) // by sum: the last item of the first items that have it
	for sum := range last {
		last[sum] = never
	}
	last[0] = nothing
	for k, s := range sizes {
		for sum := len(last) - 1; sum >= s; sum-- {
			if last[sum] == never && last[sum-s] != never {
				last[sum] = k
			}
		}
	}
	best := len(last) - 1
	for last[best] == never {
		best--
	}
	chosen := make([]bool, len(sizes))
	for last[best] != nothing {
		k := last[best]
		chosen[k] = true
		best -= sizes[k]
	}
	return chosen
}
