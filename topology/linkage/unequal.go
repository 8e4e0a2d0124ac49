package linkage

import (
	"math"

	"github.com/topocast/topocast/internal/measured"
	"github.com/topocast/topocast/internal/nested"
	"github.com/topocast/topocast/internal/stats"
)

// Unequal host links. Hosts with faster or slower links on one switch
// look like groups of their own; an additive fit tells the two apart, as a
// link's share is in all measurements of its host.
const (
	// A spread below 2 % inside blocks needs no explanation.
	unequalSpread = 0.02
	// The fit must explain a third of the spread.
	unequalGain = 0.65
	// Typical links of blocks that differ by more are of different kinds.
	unequalKind = 1.5
	// Inner edges of the fit shorter than this share of the level are no edges.
	unequalEdge = 0.08
	// Below this many hosts there is too little to fit.
	unequalHosts = 8
)

// unequalLinks returns how much longer or shorter each host's link is than a
// typical one nearby, in s, or nil if that explains nothing. Hosts are
// compared within the blocks of hosts below one switch, and blocks with their siblings.
//
// A host beside blocks is left as it is. Its fitted link holds the uplink of its rack, too, if it is alone there. Without
// the uplink it would look like a host of a neighbouring rack. The measurements are put in order in scratch, if that has room.
func unequalLinks(t *nested.Tree, r *measured.Symmetric, scratch []float32) []float64 {
	if t.N < unequalHosts || blockSpread(t, r, nil) < unequalSpread {
		return nil
	}
	t = t.Clone()
	f := contract(t, r.InOrder(t.Order, scratch))
	before := blockSpread(t, r, nil)
	if before < unequalSpread || blockSpread(t, r, f) > unequalGain*before {
		return nil
	}
	offset := make([]float64, t.N)
	for _, v := range t.Groups() {
		if kids := t.Kids(v); t.HostsOnly(v) && len(kids) >= 3 {
			typical := typicalLink(f, v)
			if v != t.Root {
				// Blocks of few hosts are long or short by luck; blocks of another kind of
				// link are left as they are.
				if near := typicalLink(f, t.Kids(t.Parent[v])...); max(near, typical) < unequalKind*min(near, typical) {
					typical = near
				}
			}
			for _, c := range kids {
				offset[c] = f.Length[c] - typical
			}
		}
	}
	return offset
}

// typicalLink is the lower median of the links of hosts in those of the vertices that are blocks, of which there are some.
func typicalLink(f *nested.Fit, among ...int32) float64 {
	var links []float64
	for _, b := range among {
		if f.Tree.IsGroup(b) && f.Tree.HostsOnly(b) {
			for _, c := range f.Tree.Kids(b) {
				links = append(links, f.Length[c])
			}
		}
	}
	return stats.LowerMedian(links)
}

// contract takes out the groups that an additive fit gives no edge of their own, and returns the fit of what
// remains. The measurements are those in the order of the leaves, which stay as groups go.
func contract(t *nested.Tree, ordered *measured.Symmetric) *nested.Fit {
	for {
		f := nested.NewFit(t)
		f.RobustInOrder(ordered)
		short := false
		for _, v := range t.Groups() {
			if v != t.Root && 2*f.Length[v] < unequalEdge*math.Exp(t.LevelOf(t.Parent[v])) {
				t.Splice(v)
				short = true
			}
		}
		if !short {
			return f
		}
	}
}

// blockSpread is the 75 % quantile of the relative residuals of the measurements
// inside the groups that hold three hosts or more and no groups: against the
// group's median, or against f. 0 if there are no such groups.
func blockSpread(t *nested.Tree, r *measured.Symmetric, f *nested.Fit) float64 {
	var rest []float64
	var block []float32
	for _, v := range t.Groups() {
		if !t.HostsOnly(v) || len(t.Kids(v)) < 3 {
			continue
		}
		block = appendWithin(block[:0], t, v, r.At)
		if len(block) == 0 {
			continue
		}
		median := float64(stats.LowerMedian(block))
		pairsWithin(t, v, func(i, j int32) {
			fit := median
			if f != nil {
				fit = f.Between(int(i), int(j), v)
			}
			if x := float64(r.At(int(i), int(j))); x > 0 {
				rest = append(rest, math.Abs(x-fit)/median)
			}
		})
	}
	if len(rest) == 0 {
		return 0
	}
	return stats.Quantile(rest, 0.75)
}
