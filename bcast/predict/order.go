package predict

import (
	"cmp"
	"math"
	"slices"

	"github.com/topocast/topocast/bcast/schedule"
)

// asGood is how many times the best prediction another one may be and still be
// as good: predictions of broadcasts in segments are no better.
const asGood = 1.03

// order sorts plans by their predictions, but for the first of the list among
// those that are as good as the fastest.
func order(plans []Plan) {
	slices.SortStableFunc(plans, func(a, b Plan) int { return cmp.Compare(a.Predicted, b.Predicted) })
	first := 0
	for i := range plans {
		if plans[i].Predicted <= asGood*plans[0].Predicted && plans[i].Index < plans[first].Index {
			first = i
		}
	}
	c := plans[first]
	copy(plans[1:first+1], plans[:first])
	plans[0] = c
}

// hide takes away predictions that are guesses: good enough to choose by, not to
// be told.
func (s *search) hide(plans []Plan) {
	for i := range plans {
		p := s.problem
		p.Segment = plans[i].Segment
		if math.IsInf(plans[i].Predicted, 1) || s.guessed && s.guesses(plans[i].Algorithm, p) {
			plans[i].Predicted = math.NaN()
		}
	}
}

// Sure is Predict, or NaN where that rests on times that the network does not know.
func (e *Evaluator) Sure(a schedule.Algorithm, p schedule.Problem) float64 {
	if e.guesses(a, p) {
		return math.NaN()
	}
	return e.Predict(a, p)
}

// guesses tells whether a prediction rests on times that the network does not
// know.
func (e *Evaluator) guesses(a schedule.Algorithm, p schedule.Problem) bool {
	g, ok := e.transfers.(*guess)
	if !ok {
		return false
	}
	g.used = false
	e.Predict(a, p)
	return g.used
}
