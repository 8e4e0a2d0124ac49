package bcast

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	"github.com/topocast/topocast/topology"
)

// A Plan is how one broadcast is done.
type Plan struct {
	Algorithm Algorithm // nil: the library's own broadcast
	Segment   int       // bytes; 0: the message is sent whole
	Predicted float64   // s, by the network; NaN if it says nothing
	Measured  float64   // s, median of the slowest rank; NaN if it was not timed
	Native    float64   // s, the same of the library's own broadcast
}

// Name is the name of the algorithm, or "native".
func (p Plan) Name() string {
	if p.Algorithm == nil {
		return "native"
	}
	return p.Algorithm.Name()
}

// String describes the plan in a line of text.
func (p Plan) String() string {
	s := p.Name()
	if a, ok := p.Algorithm.(fmt.Stringer); ok {
		s = a.String()
	}
	if p.Algorithm != nil {
		if p.Segment > 0 {
			s += ", segments of " + byteString(p.Segment)
		} else {
			s += ", whole message"
		}
	}
	for _, t := range []struct {
		name  string
		value float64
	}{{"predicted", p.Predicted}, {"measured", p.Measured}, {"native", p.Native}} {
		if !math.IsNaN(t.value) {
			s += fmt.Sprintf(", %s %.3g s", t.name, t.value)
		}
	}
	return s
}

func byteString(n int) string {
	switch {
	case n >= 1<<20 && n%(1<<20) == 0:
		return fmt.Sprintf("%d MiB", n>>20)
	case n >= 1<<10 && n%(1<<10) == 0:
		return fmt.Sprintf("%d KiB", n>>10)
	}
	return fmt.Sprintf("%d B", n)
}

const (
	minSegment   = 1 << 10 // bytes; shorter ones only cost software
	usualSegment = 8 << 10 // bytes; good on most networks, as libraries send it without a handshake
)

// plans returns each algorithm once, with the settings and the segment that
// are predicted to be fastest, fastest first; ties go to the order of Algorithms.
func (e *evaluator) plans(bytes, root int) []Plan {
	p := Problem{Ranks: e.ranks, Root: root, Bytes: bytes, Tree: e.tree}
	plans := []Plan{
		e.bestSegment(Flat{}, p),
		e.bestSegment(Binomial{}, p),
		e.bestSegment(Chain{}, p),
	}
	if e.tree != nil && len(e.tree.Groups()) > 1 {
		plans = append(plans, e.bestShapes(p))
	}
	slices.SortStableFunc(plans, func(a, b Plan) int { return cmp.Compare(a.Predicted, b.Predicted) })
	return plans
}

// bestSegment looks for the segment that the algorithm does best with, among
// the whole message and the powers of two below it. Shorter segments fill a
// pipeline sooner, longer ones cost less software: the time over the segment
// has one valley, and the search stops two steps beyond its bottom.
func (e *evaluator) bestSegment(a Algorithm, p Problem) Plan {
	p.Segment = 0
	best := Plan{Algorithm: a, Predicted: e.predict(a, p), Measured: math.NaN(), Native: math.NaN()}
	worse := 0
	for p.Segment = powerBelow(p.Bytes); p.Segment >= minSegment && worse < 2; p.Segment /= 2 {
		if t := e.predict(a, p); t < best.Predicted {
			best.Segment, best.Predicted, worse = p.Segment, t, 0
		} else {
			worse++
		}
	}
	return best
}

// powerBelow is the largest power of two below n, 0 if there is none.
func powerBelow(n int) int {
	s := 0
	for t := 1; t < n; t *= 2 {
		s = t
	}
	return s
}

// bestShapes looks for the shapes per level that MultiLevel does best with,
// each in one piece and in segments of the usual size, and then for the segment.
func (e *evaluator) bestShapes(p Problem) Plan {
	var best Plan
	for i, segment := range []int{0, usualSegment} {
		if segment >= p.Bytes && i > 0 {
			break
		}
		p.Segment = segment
		var shapes MultiLevel
		least := math.Inf(1)
		for _, a := range shapings(e.tree) {
			if t := e.predict(a, p); t < least {
				shapes, least = a, t
			}
		}
		if plan := e.bestSegment(shapes, p); i == 0 || plan.Predicted < best.Predicted {
			best = plan
		}
	}
	return best
}

// shapings returns MultiLevel with all combinations of shapes; from the fourth
// level on inwards they are those of the third.
func shapings(h *topology.Hierarchy) []MultiLevel {
	all := []MultiLevel{{}}
	for range min(3, len(h.Levels())+1) {
		var longer []MultiLevel
		for _, a := range all {
			for s := ShapeBinomial; s <= ShapeChain; s++ {
				longer = append(longer, MultiLevel{append(slices.Clone(a.Shapes), s)})
			}
		}
		all = longer
	}
	return all
}
