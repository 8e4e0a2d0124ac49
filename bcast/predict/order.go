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
	slices.SortStableFunc(plans, func(a, b Plan) int {
		return cmp.Or(cmp.Compare(a.Predicted, b.Predicted), cmp.Compare(a.Index, b.Index))
	})
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

// Sure is Predict, or NaN where that rests on times that the network does not know.
func (e *Evaluator) Sure(a schedule.Algorithm, p schedule.Problem) float64 {
	e.guessed()
	if t := e.Predict(a, p); !e.guessed() {
		return t
	}
	return math.NaN()
}

// guessed tells whether a time was guessed since it was last asked.
func (e *Evaluator) guessed() bool {
	g, ok := e.transfers.(*guess)
	if !ok || !g.used {
		return false
	}
	g.used = false
	return true
}
