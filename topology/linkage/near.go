package linkage

import (
	"math"
	"slices"

	"github.com/topocast/topocast/internal/stats"
)

const (
	// Outsiders that count as near: two, as one odd host must not decide, and as beside an arc of a
	// ring there are but two. Of fewer than eight, one. With four, 8 groups of measured cores are false.
	nearOutsiders, fewOutsiders = 2, 8
	// Groups of so many members choose their near outsiders by one half of the members and
	// read them with the other: what chose is lucky, what is read is not. Halves of fewer than four
	// would miss that one member of a piece of a torus is a neighbour of the outsider. 6 to 16 do.
	crossMembers = 8
)

// near returns measurements between members of v and near outsiders, of which there are some.
// g.block holds the measurements of the members in to the outsiders out, row by row.
//
// Of a small group they are its smallest measurements to the outside, one per member: it has too few
// members for medians to tell a neighbour of one of them from hosts that are far from all.
func (g *judge) near(v int32, in, out []int32) []float32 {
	g.nearest = g.nearest[:0]
	if g.t.Size(v) < crossMembers {
		k := min(len(in), len(g.outside))
		stats.Select(g.outside, k-1)
		return append(g.nearest, g.outside[:k]...)
	}
	count := 1
	if len(out) >= fewOutsiders {
		count = nearOutsiders
	}
	all := g.t.Leaves(v)
	for half := range 2 {
		for _, l := range g.nearestColumns(in, half, len(out), count) {
			if g.t.HostsOnly(v) && len(in) < len(all) { // hardly any of them chose
				for _, i := range all {
					if x := g.r.At(int(i), int(out[l])); x > 0 {
						g.nearest = append(g.nearest, x)
					}
				}
				continue
			}
			for k := 1 - half; k < len(in); k += 2 {
				if x := g.block[k*len(out)+int(l)]; x > 0 {
					g.nearest = append(g.nearest, x)
				}
			}
		}
	}
	if len(g.nearest) == 0 { // the other halves were not measured
		return append(g.nearest, g.outside...)
	}
	return g.nearest
}

// nearestColumns returns the outsiders with the smallest median over every other member, from the first on: of an even
// number of measurements the mean of the two in the middle, as the lower of two is lucky.
func (g *judge) nearestColumns(in []int32, first, width, count int) []int32 {
	medians := make([]float32, width)
	for l := range medians {
		g.column = g.column[:0]
		for k := first; k < len(in); k += 2 {
			if x := g.block[k*width+l]; x > 0 {
				g.column = append(g.column, x)
			}
		}
		medians[l] = float32(math.NaN())
		if len(g.column) > 0 {
			medians[l] = middle(g.column)
		}
	}
	return stats.Smallest(medians, count)
}

func middle[F stats.Float](x []F) F {
	low := stats.LowerMedian(x)
	if len(x)%2 == 1 {
		return low
	}
	return (low + slices.Min(x[len(x)/2:])) / 2
}
