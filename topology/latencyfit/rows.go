package latencyfit

import (
	"math"
	"slices"

	"github.com/topocast/topocast/internal/parallel"
	"github.com/topocast/topocast/internal/stats"
	"github.com/topocast/topocast/topology"
)

// ambiguous is the share by which a second path must be longer for a measurement to count: what may have gone either way
// says nothing of either. Paths of equal links differ by rounding or not at all; a second path that is one link longer is so by
// a share of 1/30 or more on machines of up to 30 links across.
const ambiguous = 0.02

func newEdgeFit(g *topology.Graph, m []float64, s *Settings) *edgeFit {
	f := &edgeFit{g: g, settings: s, measured: m, link: make([]int32, g.NumArcs()), known: true}
	for i, a := range g.Arcs() {
		back := g.ArcIndex(a.To, a.From)
		if back >= 0 && back < i {
			f.link[i] = f.link[back]
			continue
		}
		f.link[i] = int32(f.links)
		f.links++
	}
	f.x = make([]float64, f.links)
	count := make([]float64, f.links)
	for i, a := range g.Arcs() {
		f.known = f.known && !math.IsNaN(a.Latency)
		f.x[f.link[i]] += a.Latency
		count[f.link[i]]++
	}
	for e := range f.x {
		f.x[e] /= count[e]
		if !f.known {
			f.x[e] = 1
		}
	}
	return f
}

// findPaths works out the shortest paths and with them the rows: the measurements
// whose path is known, less the transfer time of the message on it. It returns
// false if the paths are those of before.
func (f *edgeFit) findPaths() bool {
	g, n := f.g, f.g.Hosts()
	if f.measurements != nil && g.IsForest() {
		return false // there are no others
	}
	finder, old := topology.NewPaths(g, f.lengths()), f.paths
	f.paths, f.measurements = make([][]int32, n), make([]float64, n*n)
	type counts struct {
		used, multiple, early int
		longer                float64 // the sum of measurements over that of the lengths of their paths
	}
	rows := make([]counts, n)
	parallel.Rows(n, func(i int) {
		t, c := finder.Tree(i), &rows[i]
		f.paths[i] = make([]int32, 0, len(t.Order)-1)
		for _, v := range t.Order[1:] {
			f.paths[i] = append(f.paths[i], t.Arc[v])
		}
		cost := f.settings.transferTimes(g, t)
		read, along := 0.0, 0.0
		for j := range n {
			at := i*n + j
			f.measurements[at] = math.NaN()
			switch {
			case i == j || math.IsNaN(f.measured[at]) || math.IsInf(t.Distance[j], 1):
			case t.Excess[j] <= ambiguous*t.Distance[j]:
				c.multiple++
			default:
				c.used++
				v := f.measured[at] - cost[j]
				f.measurements[at] = v
				if v < 0 {
					c.early++
				}
				read += v
				along += t.Distance[j]
			}
		}
		if along > 0 {
			c.longer = read / along
		}
	})
	f.used, f.multiple, f.early = 0, 0, 0
	var longer []float64
	for _, c := range rows {
		f.used += c.used
		f.multiple += c.multiple
		f.early += c.early
		if c.longer > 0 && !f.scaled {
			longer = append(longer, c.longer)
		}
	}
	scale := stats.Median(longer) // lengths were hops: make them latencies
	if f.known {
		// Huber's steps go some way only from where they begin, and what was specified may be
		// a cable's latency while what was measured is a library's. By powers of two, so
		// that what is about right is begun with as it is.
		scale = math.Exp2(math.Round(math.Log2(scale)))
	}
	if scale > 0 && !math.IsInf(scale, 1) {
		for e := range f.x {
			f.x[e] *= scale
		}
	}
	f.known, f.scaled = true, true
	return !slices.EqualFunc(old, f.paths, slices.Equal)
}
