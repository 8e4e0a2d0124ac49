package model

import (
	"math"

	"github.com/topocast/topocast/topology"
)

// flatGroup is a group of the hierarchy as Time needs it.
type flatGroup struct {
	parent int32
	level  int32
	offset float64 // s: what pairs of this group need beyond the level's typical time
}

// flatten copies what Time needs of the hierarchy.
func (n *Network) flatten() {
	h := n.hierarchy
	n.leaf = make([]int32, h.Hosts())
	for i := range n.leaf {
		n.leaf[i] = int32(h.Smallest(i))
	}
	n.groups = make([]flatGroup, len(h.Groups()))
	for i, g := range h.Groups() {
		// Both are times of messages of the measuring size.
		offset := g.Latency - n.s.Levels[g.Level].Time(n.s.Measured.Bytes)
		if math.IsNaN(offset) {
			offset = 0
		}
		n.groups[i] = flatGroup{parent: int32(g.Parent), level: int32(g.Level), offset: offset}
	}
}

// join is the smallest group that holds both ranks.
func (n *Network) join(a, b int) int32 {
	x, y := n.leaf[a], n.leaf[b]
	for x != y {
		// Parents come before children: the later one is not an ancestor.
		if x > y {
			x = n.groups[x].parent
		} else {
			y = n.groups[y].parent
		}
	}
	return x
}

// LevelOf is the index into Levels of the level that joins two ranks.
func (n *Network) LevelOf(a, b int) int { return int(n.groups[n.join(a, b)].level) }

// latencyOf is the typical time of a message of the measuring size in a group.
func (n *Network) latencyOf(group int32) float64 {
	g := &n.groups[group]
	return g.offset + n.s.Levels[g.level].Time(n.s.Measured.Bytes)
}

// isTree tells whether the levels say what latencies are; else the graph does.
func (n *Network) isTree() bool {
	return n.fit.Family == topology.FamilyTree || n.fit.Family == topology.FamilyFlat
}
