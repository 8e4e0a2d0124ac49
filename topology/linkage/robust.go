package linkage

import (
	"fmt"
	"math"

	"github.com/topocast/topocast/internal/measured"
	"github.com/topocast/topocast/topology"
	"gonum.org/v1/gonum/mat"
)

// Robust finds nested groups of hosts: it proposes groups by average linkage, and judges each of them by the measurements.
// It is the method to use unless there is a reason for another.
//
// Proposal, in four steps:
//   - Of the measurements of a pair the mean of the lower half counts.
//   - The results are capped at a multiple of the subdominant ultrametric, which takes upward outliers out.
//   - Average linkage by nearest-neighbour chain gives a binary tree. The groups that are worth their description remain
//     (minimum description length).
//   - Single hosts move to the groups that they fit.
//
// Judgement: each group gets a confidence in [0, 1]. It says how far the measurements set the group apart from its nearest
// surroundings, against their own spread there. It is a score, not a probability. From topology.ConfidentFrom (0.9) on the
// group is confident. From 0.5 on it is uncertain: it is reported, with a warning. Below, it is reported only if MinConfidence
// says so.
//
// Hosts that are slow to all others alike are told from those that lie outside their group. What they add is taken out of
// their measurements for both steps, and a warning names them.
//
// For the proposal, pairs that were not measured are estimated from near neighbours. The judgement never uses the estimates.
// A group is confident only if the measurements could have refuted it. They must be able to show that some of its hosts
// belong elsewhere, or others to it. A warning counts the pairs, and the groups that are uncertain for want of them.
//
// O(n^2) time, with pairs missing times the depth of the tree. Memory is 6 n^2 bytes besides the matrices, and 2 n^2 more
// where hosts are slow. Where a tree fits badly, other graphs are looked for, in a number of steps that is bounded per pair
// of hosts. Links between up to 8192 hosts themselves take 4 n^2 bytes more. A search given up is a warning.
type Robust struct {
	MinConfidence float64 // least confidence in a group of the result, in [0, 1]; 0 means 0.5

	without string // name of the correction that is left out, for ablations
}

var _ topology.Reconstructor = (*Robust)(nil)

// Reconstruct works out how the hosts are grouped and wired from matrices of their latencies
// in s, one per repetition, with the defaults of Robust.
func Reconstruct(repetitions ...mat.Matrix) (*topology.Result, error) {
	return (&Robust{}).Reconstruct(repetitions...)
}

func (l *Robust) validate() error {
	if !(l.MinConfidence >= 0 && l.MinConfidence <= 1) {
		return fmt.Errorf("linkage: MinConfidence %g: want in [0, 1]", l.MinConfidence)
	}
	return nil
}

// Reconstruct implements topology.Reconstructor. Zero latencies, of coarse timers, are taken as half the smallest one above
// zero. Negative ones are taken as zeros, with a warning. Of zeros alone nothing is told, which a warning says. Infinite ones
// are an error. ErrDisconnected is returned when the hosts fall in parts between which nothing was measured.
func (l *Robust) Reconstruct(repetitions ...mat.Matrix) (*topology.Result, error) {
	if err := l.validate(); err != nil {
		return nil, err
	}
	least := l.MinConfidence
	if least == 0 {
		least = reported
	}
	measured, err := measured.New("linkage", repetitions)
	if err != nil {
		return nil, err
	}
	original, quality, err := measured.Symmetric()
	if err != nil {
		return nil, err
	}
	note := &combination{Quality: *quality}
	switch n := original.N(); {
	case n > 1 && quality.Zeros+quality.Holes == n*(n-1)/2:
		note.timeless = true
		return flat(n, 0, note)
	case n == 2:
		return flat(n, float64(original.At(1, 0)), note)
	case n < 2:
		return flat(n, math.NaN(), note)
	}
	w := &reconstruction{original: original, note: note, part: original}
	_, w.kept = setAside(original.N(), nil)
	for _, s := range steps() {
		if s.correction == "" || s.correction != l.without {
			s.do(w)
		}
	}
	return w.result(least)
}

// flat is the result of n hosts without groups, all at one latency in s: a link, or one switch.
func flat(n int, latency float64, note *combination) (*topology.Result, error) {
	hierarchy, err := topology.NewHierarchy(n, nil, nil, latency)
	if err != nil {
		return nil, err
	}
	graph, err := hierarchy.Graph()
	if n == 2 {
		graph, err = topology.NewGraph(n, 0, nil, topology.AppendLink(nil, 0, 1, latency, math.NaN()))
	}
	if err != nil {
		return nil, err
	}
	return &topology.Result{
		Graph: graph, Hierarchy: hierarchy,
		Fit: topology.Fit{
			Family: topology.FamilyFlat, R2: math.NaN(), Residual: math.NaN(), TreeLikeness: math.NaN(), Noise: note.Noise,
			Levels: []float64{math.NaN()},
		},
		Warnings: note.warnings(n),
	}, nil
}
