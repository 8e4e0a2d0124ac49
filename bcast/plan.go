package bcast

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	"github.com/topocast/topocast/internal/quantity"
)

// A Plan is how one broadcast is done.
type Plan struct {
	Algorithm      Algorithm // nil: the library's own broadcast
	Segment        int       // bytes; 0: the message is sent whole
	Predicted      float64   // s, by the network; NaN if that leaves a time of the schedule to be guessed
	Measured       float64   // s, median of the slowest rank; NaN if it was not timed
	MeasuredNative float64   // s, the same of the library's own broadcast
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
	s := p.how()
	for _, t := range []struct {
		name  string
		value float64
	}{{"predicted", p.Predicted}, {"measured", p.Measured}, {"native", p.MeasuredNative}} {
		if !math.IsNaN(t.value) {
			s += ", " + t.name + " " + quantity.Seconds(t.value)
		}
	}
	return s
}

// how is the plan without its times.
func (p Plan) how() string {
	switch a := p.Algorithm.(type) {
	case nil:
		return "native"
	case fmt.Stringer:
		return a.String() + p.pieces()
	default:
		return a.Name() + p.pieces()
	}
}

func (p Plan) pieces() string {
	if p.Segment == 0 {
		return ", whole message"
	}
	return ", segments of " + quantity.Bytes(p.Segment)
}

const (
	minSegment   = 1 << 10 // bytes; shorter ones only cost software
	usualSegment = 8 << 10 // bytes; good on most networks, as libraries send it without a handshake
)

// A candidate is a plan whose algorithm is known by its index in a catalogue,
// which is the same on all ranks.
type candidate struct {
	Plan
	index int // native: the library's own broadcast
}

const native = -1

// newNative is the library's own broadcast, of which no prediction knows.
func newNative() candidate {
	nan := math.NaN()
	return candidate{Plan{Predicted: nan, Measured: nan, MeasuredNative: nan}, native}
}

// candidates returns each algorithm once, with the settings and the segment
// that are predicted to be fastest, fastest first; ties go to the order of the
// catalogue. Where the network has gaps, guesses fill them to order the plans,
// and Predicted is NaN.
func (e *evaluator) candidates(bytes, root int) []candidate {
	p := Problem{Ranks: e.ranks, Root: root, Bytes: bytes, Tree: e.tree}
	var best []candidate
	all := catalogue(e.tree)
	for i, a := range all {
		if _, ok := a.(MultiLevel); ok {
			best = append(best, e.bestShapes(all, i, p))
			break // the rest is MultiLevel too
		}
		best = append(best, candidate{e.bestSegment(a, p), i})
	}
	slices.SortStableFunc(best, func(a, b candidate) int { return cmp.Compare(a.Predicted, b.Predicted) })
	for i := range best {
		p.Segment = best[i].Segment
		if e.guesses(best[i].Algorithm, p) {
			best[i].Predicted = math.NaN() // good enough to choose by, not to be told
		}
	}
	return best
}

// guesses tells whether a prediction rests on times that the network does not
// know.
func (e *evaluator) guesses(a Algorithm, p Problem) bool {
	g, ok := e.transfers.(*guess)
	if !ok {
		return false
	}
	g.used = false
	e.predict(a, p)
	return g.used
}

// bestShapes looks among all[from:] for the algorithm that does best in one
// piece, and in segments of the usual size, and then for its segment.
func (e *evaluator) bestShapes(all []Algorithm, from int, p Problem) candidate {
	var best candidate
	for i, segment := range []int{0, usualSegment} {
		if segment >= p.Bytes && i > 0 {
			break
		}
		p.Segment = segment
		index, least := from, math.Inf(1)
		for k, a := range all[from:] {
			if t := e.predict(a, p); t < least {
				index, least = from+k, t
			}
		}
		if plan := e.bestSegment(all[index], p); i == 0 || plan.Predicted < best.Predicted {
			best = candidate{plan, index}
		}
	}
	return best
}

// bestSegment looks for the segment that the algorithm does best with, among
// the whole message and the powers of two below it. Shorter segments fill a
// pipeline sooner, longer ones cost less software: the time over the segment
// has one valley, and the search stops two steps beyond its bottom. Of those that
// are as good within what a prediction is worth, it takes the whole message,
// or else the longest segment up to usualSegment, or else the shortest.
func (e *evaluator) bestSegment(a Algorithm, p Problem) Plan {
	const asGood = 1.03 // times the best prediction: predictions of broadcasts in segments are no better
	p.Segment = 0
	best := Plan{Algorithm: a, Predicted: e.predict(a, p), Measured: math.NaN(), MeasuredNative: math.NaN()}
	tried, worse := []Plan{best}, 0
	for p.Segment = powerBelow(p.Bytes); p.Segment >= minSegment && worse < 2; p.Segment /= 2 {
		plan := best
		plan.Segment, plan.Predicted = p.Segment, e.predict(a, p)
		tried = append(tried, plan)
		if plan.Predicted < best.Predicted {
			best, worse = plan, 0
		} else {
			worse++
		}
	}
	good := func(plan Plan) bool { return plan.Predicted <= asGood*best.Predicted }
	if good(tried[0]) {
		return tried[0]
	}
	chosen := best
	for _, plan := range tried[1:] { // by descending segment
		if good(plan) {
			chosen = plan
			if plan.Segment <= usualSegment {
				break
			}
		}
	}
	return chosen
}

// powerBelow is the largest power of two below n, 0 if there is none.
func powerBelow(n int) int {
	s := 0
	for t := 1; t < n; t *= 2 {
		s = t
	}
	return s
}
