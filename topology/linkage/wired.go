package linkage

import (
	"math"

	"github.com/topocast/topocast/internal/measured"
	"github.com/topocast/topocast/internal/nested"
	"github.com/topocast/topocast/internal/stats"
	"github.com/topocast/topocast/topology"
	"gonum.org/v1/gonum/stat"
)

// A wired is a graph that may describe a machine better than its tree.
type wired struct {
	family   topology.Family
	graph    *topology.Graph
	overhead float64 // s, paid once per message on top of the links
	apart    []int   // host -> block; pairs inside a block do not count; nil: all count
	ends     int     // hosts that are linked directly, or their switches
	links    int     // between these
	warnings []string
	fit      comparison // with the tree
}

// direct tells whether hosts i and j, or their switches, are linked.
func (w *wired) direct(i, j int) bool {
	if w.apart != nil {
		i, j = w.graph.Hosts()+w.apart[i], w.graph.Hosts()+w.apart[j]
	}
	return w.graph.ArcIndex(i, j) >= 0
}

// few tells whether so few links join so few ends that pairs without a link say too little: a ring of four has two.
func (w *wired) few() bool { return w.ends < meshFew && w.links <= w.ends }

// A comparison is how well a tree and another graph explain the measurements of up
// to 32 hosts.
type comparison struct {
	// Means of the residuals over pairs that are not linked directly, as a link explains its own measurement. They are
	// relative to what the links take of it, without the overhead, and at most 1 each, which outliers are. Not
	// medians: the root of a tree explains the most frequent distance of any ring. Not quantiles above: a link that
	// has become slow makes a third of the routes of a small torus longer than the shortest ones.
	tree, other float64

	residual float64 // median relative residual that the other graph leaves over all pairs
	r2       float64 // share of variance that it explains over all pairs
}

func (w *wired) compare(r *measured.Symmetric, f *nested.Fit) comparison {
	const most = 32 // rows: their mean is that of all within some hundredths
	var (
		treeRest, otherRest []float64 // not directly linked
		all                 []float64 // residuals
		values, fits        []float64
		join                = make([]int32, r.N())
		sources             = min(most, r.N())
		few                 = w.few()
		finder              = topology.NewPaths(w.graph, nil)
		length              = make([]float64, w.graph.Vertices())
	)
	for s := range sources {
		i := s * r.N() / sources
		finder.From(i, length)
		f.Tree.Joins(i, join)
		for j := range r.N() {
			if j == i || w.apart != nil && w.apart[i] == w.apart[j] {
				continue
			}
			v := float64(r.At(i, j))
			if v < 0 {
				continue
			}
			fit := w.overhead + length[j]
			tree := f.Between(i, j, join[j])
			links := v - w.overhead
			if few {
				links = v
			}
			if (few || !w.direct(i, j)) && links > 0 {
				otherRest = append(otherRest, min(1, math.Abs(v-fit)/links))
				treeRest = append(treeRest, min(1, math.Abs(v-tree)/links))
			}
			all = append(all, math.Abs(v-fit)/v)
			values = append(values, v)
			fits = append(fits, fit)
		}
	}
	if len(otherRest) == 0 {
		return comparison{0, math.Inf(1), math.NaN(), math.NaN()} // nothing but links
	}
	r2 := stat.RSquaredFrom(fits, values, nil)
	if math.IsInf(r2, 0) { // all values are one
		r2 = math.NaN()
	}
	return comparison{stat.Mean(treeRest, nil), stat.Mean(otherRest, nil), stats.LowerMedian(all), r2}
}
