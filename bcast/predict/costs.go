package predict

import (
	"math"

	"github.com/topocast/topocast/bcast/schedule"
	"github.com/topocast/topocast/model"
	"github.com/topocast/topocast/topology"
)

// Costs are what messages cost on the network, for schedules along a tree of its ranks that are shaped by costs. Two
// processors may round them apart: one rank works them out, and the others take its word.
func Costs(n *model.Network, tree *topology.Hierarchy) *schedule.Costs {
	return newMachine(n).costs(tree)
}

// The sizes between which costs are linear: powers of four.
const (
	leastSized = 1 << 10  // bytes
	mostSized  = 64 << 20 // bytes
)

// costs are those of the first pair that each level of a tree joins.
func (m machine) costs(tree *topology.Hierarchy) *schedule.Costs {
	c := &schedule.Costs{Send: picoseconds(m.send), Recv: picoseconds(m.recv)}
	paths := newTreePaths(m.ranks, tree, m.transfers)
	for level := range len(paths.tree.Levels()) + 1 {
		l := schedule.LevelCost{Links: wholeLinks}
		for i, pair := range paths.pairs {
			if pair.b >= 0 && paths.tree.Groups()[i].Level == level {
				l = m.levelCost(pair.a, pair.b)
				break
			}
		}
		c.Levels = append(c.Levels, l)
	}
	return c
}

// wholeLinks is LevelCost.Links of groups whose links carry no more than a host sends.
const wholeLinks = 1000

func (m machine) levelCost(a, b int) schedule.LevelCost {
	empty := m.transfers.Time(a, b, 0)
	l := schedule.LevelCost{Empty: picoseconds(empty), Gap: []schedule.SizedCost{{}}, Links: wholeLinks}
	last := int64(0)
	for bytes := int64(leastSized); bytes <= mostSized; bytes *= 4 {
		last = max(last, picoseconds(m.transfers.Time(a, b, bytes)-empty)) // shorter only by noise
		l.Gap = append(l.Gap, schedule.SizedCost{Bytes: bytes, Time: last})
	}
	if w, ok := m.paths.(*graphPaths); ok {
		slowest := 0.0
		hops := w.hops(nil, a, b, mostSized, 1, 0) // shares of the time of the slowest link
		for i := 1; i < len(hops)-1; i++ {         // no host's own
			slowest = max(slowest, hops[i].own)
		}
		if slowest > 0 {
			l.Links = int64(math.Round(wholeLinks * slowest))
		}
	}
	return l
}

func picoseconds(s float64) int64 {
	const perSecond, most = 1e12, 1 << 55
	return int64(math.Round(max(0, min(s*perSecond, most))))
}
