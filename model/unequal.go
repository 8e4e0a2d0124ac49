package model

import "slices"

// How far a pair's path must be from what is typical of its group before Time goes by the path: less is how
// links that are alike are measured. Bandwidths come from long messages, whose times scatter less.
const (
	likeLatency   = 0.10
	likeBandwidth = 0.05
)

// treePaths are the paths of a tree. The parameters of a level are those of its typical pair. They are wrong for pairs that
// cross a host or cable that is slower than those like it.
type treePaths struct {
	latency []float64 // per group: of the typical pair's path, for the measuring size, s
	typicalPaths
	part bool // typicalPaths are those of a larger network
}

// typicalPaths say what the links of a network's typical pairs tell.
type typicalPaths struct {
	Limit []bool `json:"links_limit"` // per level: some pairs' links are as slow as that, so that links limit it, not what one message fills
	Agree []bool `json:"links_agree"` // per group: some pairs' links add up to its latency, so that graph and hierarchy tell one story
}

// newTree is nil for a machine that is no tree. O(vertices + groups).
func (n *Network) newTree() *treePaths {
	if !n.isTree() || !isTree(n.graph) {
		return nil
	}
	w := &treePaths{}
	w.Limit, w.Agree = make([]bool, len(n.s.Levels)), make([]bool, len(n.groups))
	for i := range n.groups {
		w.latency = append(w.latency, n.latencyOf(int32(i))-n.found.Fit.Overhead)
	}
	return w
}

// apart tells whether the path of a pair is not like what is typical, within a share; false for NaN.
func apart(path, typical, share float64) bool {
	return path > typical*(1+share) || path*(1+share) < typical
}

// setTree looks at the links of a tree for pairs that are not typical of their group; where all are, nothing is kept.
func (n *Network) setTree() {
	w := n.newTree()
	if w == nil {
		return
	}
	pairs, like, unequal := make([]int, len(n.groups)), make([]int, len(n.groups)), false
	n.eachPartner(func(rank, other int, group int32) {
		latency, bandwidth := n.alongRoute(rank, other)
		perByte, level := 1/bandwidth, n.groups[group].level
		pairs[group]++
		if !apart(latency, w.latency[group], likeLatency) {
			like[group]++
		}
		const some = 0.1
		w.Agree[group] = float64(like[group]) >= some*float64(pairs[group])
		w.Limit[level] = w.Limit[level] || perByte >= n.perByte[level]/(1+likeBandwidth)
		const half = 0.5 // of what two hosts of a pair may add up to
		unequal = unequal || apart(latency, w.latency[group], half*likeLatency) || apart(perByte, n.perByte[level], half*likeBandwidth)
	})
	if unequal {
		n.tree = w
	}
}

// setTreeOf takes over what the whole knows, of which old are the ranks: the typical pair of a group
// of the whole need not be among those of a view. Ranks of hosts that the whole does not know are typical.
func (n *Network) setTreeOf(whole *Network, old []int) {
	if n.tree = nil; whole.tree != nil {
		n.tree = n.newTree()
	}
	if n.tree == nil {
		return
	}
	n.tree.part = true
	n.eachPartner(func(rank, other int, group int32) {
		a, b := old[rank], old[other]
		join, confident := int32(0), true // see typicalLink
		if min(a, b) >= 0 {
			join, confident = whole.join(a, b), whole.confidentlyJoins(a, b)
		}
		n.tree.Limit[n.groups[group].level] = whole.tree.Limit[whole.groups[join].level]
		n.tree.Agree[group] = n.tree.Agree[group] || whole.tree.Agree[join] && confident
	})
}

// eachPartner calls f for each rank with one other rank of each group that the rank is in and no smaller one with
// both. O(ranks * levels^2).
func (n *Network) eachPartner(f func(rank, other int, group int32)) {
	for i, g := range n.hierarchy.Groups() {
		group := int32(i)
		first, second := g.Hosts[0], -1
		if k := slices.IndexFunc(g.Hosts, func(x int) bool { return x != first && n.join(first, x) == group }); k >= 0 {
			second = g.Hosts[k]
		}
		for _, rank := range g.Hosts {
			other := first
			if rank == first || n.join(rank, first) != group {
				other = second
			}
			if other >= 0 {
				f(rank, other, group)
			}
		}
	}
}

// alongPath is the time of a message on a tree, given that of the typical pair of the group: where the pair's own links take
// longer or shorter, it does. A slow link shows in every pair; a fast one only where it is links that limit the
// typical pair, for a lone message may not fill them.
func (n *Network) alongPath(typical float64, src, dst int, bytes int64, group int32) float64 {
	w := n.tree
	latency, bandwidth := n.alongRoute(src, dst)
	t := typical
	if usual := w.latency[group]; apart(latency, usual, likeLatency) && n.tellsLatency(src, dst, group) {
		t += latency - usual
	}
	level := n.groups[group].level
	return n.overLinks(t, 1/bandwidth, n.perByte[level], bytes, w.Limit[level])
}

// overLinks is the time t of a typical message, in s, on links of which the slowest takes perByte for a byte, in place of
// the usual time. Links that do not limit the usual message make none faster.
func (n *Network) overLinks(t, perByte, usual float64, bytes int64, limit bool) float64 {
	more := float64(bytes - n.s.Measured.Bytes)
	if more <= 0 || !apart(perByte, usual, likeBandwidth) || perByte < usual && !limit {
		return t
	}
	return max(t+more*(perByte-usual), more*perByte)
}

// tellsLatency tells whether the links between two ranks, whose latency is not typical of the group that joins them, can be believed.
func (n *Network) tellsLatency(src, dst int, group int32) bool {
	return n.tree.Agree[group] && n.confidentlyJoins(src, dst)
}

// confidentlyJoins tells whether no uncertain group joins two ranks closer than confident ones do. The length of the path
// inside an uncertain group is not known (see confidentGraph).
func (n *Network) confidentlyJoins(a, b int) bool {
	reported := n.found.Hierarchy
	return reported.Groups()[reported.Common(a, b)].Confident()
}
