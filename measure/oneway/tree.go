package oneway

import (
	"fmt"
	"math"
	"slices"

	"github.com/topocast/topocast/internal/quantity"
	"github.com/topocast/topocast/internal/stats"
	"github.com/topocast/topocast/topology"
)

// Direct returns a reconstruction whose links have what they take in each direction, and warnings that name
// those that differ, where that is known: with OneClock, on a tree, if any direction is slow. Others come back
// as they are. Hosts are the ranks, and the reconstruction is of halved round trips.
//
// On a tree the asymmetries of all links are the differences of one value per vertex. Those of the hosts come
// from the pairs, and a switch has the median of its neighbours: so few links are asymmetric. O(n^3).
func (r *Result) Direct(found *topology.Result) (*topology.Result, error) {
	g := found.Graph
	if !r.OneClock || len(r.Directions) == 0 || g.Hosts() != r.Ranks || !g.IsForest() {
		return found, nil
	}
	var terms []term
	least := math.Inf(1) // s, the least asymmetry that shows
	for i := range r.pairs {
		x := &r.pairs[i]
		terms = append(terms, term{x.from, x.to, x.excess, 1, x.spread, 1})
		least = min(least, r.Least*x.half)
	}
	values := potentials(r.Ranks, terms, 1)
	level := make([]float64, g.Vertices())
	for v := range level {
		level[v] = math.NaN()
	}
	copy(level, values)
	for moved := true; moved; {
		moved = false
		for v := g.Hosts(); v < g.Vertices(); v++ {
			var near []float64
			for _, a := range g.Out(v) {
				if x := level[a.To]; !math.IsNaN(x) {
					near = append(near, x)
				}
			}
			// Each step leaves less on the links, so it ends; NaN is far from all.
			if at := stats.Median(near); len(near) > 0 && !(math.Abs(at-level[v]) < least/float64(g.Vertices())) {
				level[v], moved = at, true
			}
		}
	}
	directed := *found
	directed.Warnings = slices.Clone(found.Warnings)
	arcs := slices.Clone(g.Arcs())
	for i := range arcs {
		a := &arcs[i]
		more := level[a.To] - level[a.From]
		if math.Abs(more) <= least {
			continue
		}
		if more > 0 {
			directed.Warnings = append(directed.Warnings, fmt.Sprintf("link %s > %s takes %s, back %s",
				g.Name(a.From), g.Name(a.To), quantity.Seconds(a.Latency+more), quantity.Seconds(max(0, a.Latency-more))))
		}
		a.Latency = max(0, a.Latency+more)
	}
	var err error
	directed.Graph, err = g.WithArcs(arcs)
	return &directed, err
}
