package cluster

import (
	"cmp"
	"errors"
	"fmt"
	"math"

	"gonum.org/v1/gonum/mat"

	"github.com/topocast/topocast/internal/measured"
	"github.com/topocast/topocast/topology"
)

// Flat makes a reconstruction of a flat clustering: one level of groups, those
// of fewer than two hosts left out.
type Flat struct{ Clusterer }

// Nested makes a reconstruction of the whole tree of an agglomerative clustering: what joins at latencies that are apart by the ratio
// at least are groups.
type Nested struct {
	Agglomerative
	Ratio float64 // of latencies between nested groups, at least 1; 0: 1.25
}

// usualRatio is the default of Nested.Ratio. It has to lie above what noise leaves
// between means of one level, and below the step between two.
const usualRatio = 1.25

var (
	_ topology.Reconstructor = Flat{}
	_ topology.Reconstructor = Nested{}
)

// Reconstruct clusters the cell-wise minimum of the repetitions, in s. Of a
// pair's two directions the mean counts, with a warning where they differ by more
// than 25 %; a pair that no repetition has in either direction is an error, as
// are negative and infinite cells. The cost is the method's and O(n^2).
func (f Flat) Reconstruct(repetitions ...mat.Matrix) (*topology.Result, error) {
	return reconstruct(repetitions, f.hierarchy)
}

// Reconstruct clusters the repetitions as Flat.Reconstruct does. O(n^2).
func (n Nested) Reconstruct(repetitions ...mat.Matrix) (*topology.Result, error) {
	return reconstruct(repetitions, n.Hierarchy)
}

// reconstruct makes a result of the groups that a method finds in the distances of the repetitions.
func reconstruct(repetitions []mat.Matrix, groups func(mat.Symmetric) (*topology.Hierarchy, error)) (*topology.Result, error) {
	d, warnings, err := combine(false, repetitions)
	if err != nil {
		return nil, err
	}
	h, err := groups(d)
	if err != nil {
		return nil, err
	}
	return d.result(h, warnings)
}

// hierarchy is one level of the clusters, those of fewer than two hosts left out. Latencies are medians.
func (f Flat) hierarchy(d mat.Symmetric) (*topology.Hierarchy, error) {
	if f.Clusterer == nil {
		return nil, errors.New("cluster: reconstruct: Flat has no Clusterer")
	}
	labels, err := f.Cluster(d)
	if err != nil {
		return nil, err
	}
	var groups []topology.Group
	for _, hosts := range labels.Groups() {
		if len(hosts) >= 2 && len(hosts) < d.SymmetricDim() {
			groups = append(groups, topology.Group{Hosts: hosts, Latency: math.NaN(), Confidence: math.NaN()})
		}
	}
	h, err := topology.NewHierarchy(d.SymmetricDim(), topology.NewLevels(groups), groups, math.NaN())
	if err != nil {
		return nil, err
	}
	return h.Timed(rowsOf(d).d)
}

// Timed is the result for groups that were found on other distances than times, such as profiles:
// latencies of groups and levels are medians of the given ones, in s, whose repetitions count as in
// Flat.Reconstruct, but pairs may be missing (NaN). Confidences and kinds are kept. A group without a measured pair has that of the hierarchy. O(n^2).
func Timed(h *topology.Hierarchy, repetitions ...mat.Matrix) (*topology.Result, error) {
	d, warnings, err := combine(true, repetitions)
	if err != nil {
		return nil, err
	}
	timed, err := h.Timed(d.d)
	if err != nil {
		return nil, err
	}
	return d.result(timed, warnings)
}

// Hierarchy turns the tree into nested groups, whose latencies are the heights at which they join. Their confidences are NaN:
// nothing judges the groups here, as linkage.Robust does. O(n^2).
func (n Nested) Hierarchy(d mat.Symmetric) (*topology.Hierarchy, error) {
	t, err := n.dendrogram(rowsOf(d))
	if err != nil {
		return nil, err
	}
	return t.hierarchy(cmp.Or(n.Ratio, usualRatio))
}

// Combine makes the distances of repetitions: each direction's samples become one (measured.Combine), and a
// pair's two directions their mean. It warns of pairs of which that is a poor one. A single symmetric matrix is taken as it is.
func Combine(repetitions ...mat.Matrix) (mat.Symmetric, []string, error) {
	d, warnings, err := combine(false, repetitions)
	if err != nil {
		return nil, nil, err
	}
	if s, ok := repetitions[0].(mat.Symmetric); ok && len(repetitions) == 1 {
		return s, nil, nil
	}
	return d, warnings, nil
}

// combine is Combine; with gaps, of matrices that need not have all pairs.
func combine(gaps bool, repetitions []mat.Matrix) (*distances, []string, error) {
	if len(repetitions) == 1 {
		if s, ok := repetitions[0].(mat.Symmetric); ok {
			d, err := newDistances(s.SymmetricDim(), s.At, gaps)
			return d, nil, err
		}
	}
	samples, err := measured.New("cluster: reconstruct", repetitions)
	if err != nil {
		return nil, nil, err
	}
	directed, err := samples.Directed()
	if err != nil {
		return nil, nil, err
	}
	d, err := newDistances(directed.N(), directed.At, gaps)
	if err != nil {
		return nil, nil, err
	}
	if a := directed.Asymmetry(); a.Pairs > 0 {
		return d, []string{fmt.Sprintf("%d pairs of hosts differ by more than %g %% between directions, most hosts %d and %d: the mean was used", a.Pairs, 100*(measured.AsymmetryTolerance-1), a.Worst[0], a.Worst[1])}, nil
	}
	return d, nil, nil
}

// result has a switch for each group, and reports how well that explains the distances.
func (d *distances) result(h *topology.Hierarchy, warnings []string) (*topology.Result, error) {
	graph, err := h.Graph()
	if err != nil {
		return nil, err
	}
	fit := topology.NewFit(graph, h, d.d, 0)
	fit.Family = topology.FamilyTree
	if len(h.Groups()) == 1 {
		fit.Family = topology.FamilyFlat
	}
	return &topology.Result{Graph: graph, Hierarchy: h, Fit: fit, Warnings: warnings}, nil
}
