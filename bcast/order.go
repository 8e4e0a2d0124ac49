package bcast

import (
	"math"

	"github.com/topocast/topocast/bcast/predict"
)

// An order is what rank 0 distributes: a round to be performed, or the end of the contest.
type order struct {
	Plans   []orderedPlan `json:"p,omitempty"` // of the round, in the order in which they run
	Roots   []int         `json:"r,omitempty"`
	Head    bool          `json:"h,omitempty"`
	Decided bool          `json:"d,omitempty"`
	Pairs   int           `json:"n,omitempty"`
}

type orderedPlan struct {
	Index     int    `json:"i"`
	Segment   int    `json:"s,omitempty"`
	Blocking  bool   `json:"b,omitempty"`
	Predicted uint64 `json:"p,omitempty"` // bits of s
	Measured  uint64 `json:"m,omitempty"`
	Native    uint64 `json:"n,omitempty"`
}

func ordered(p *predict.Plan) orderedPlan {
	return orderedPlan{
		Index: p.Index, Segment: p.Segment, Blocking: p.Blocking,
		Predicted: math.Float64bits(p.Predicted), Measured: math.Float64bits(p.Measured), Native: math.Float64bits(p.MeasuredNative),
	}
}

// planOf is the plan of an order.
func (b *Broadcaster) planOf(o orderedPlan) predict.Plan {
	p := predict.Plan{Index: o.Index}
	p.Segment, p.Blocking = o.Segment, o.Blocking
	p.Predicted, p.Measured, p.MeasuredNative = math.Float64frombits(o.Predicted), math.Float64frombits(o.Measured), math.Float64frombits(o.Native)
	if p.Index != nativeIndex {
		p.Algorithm = b.catalogue[p.Index]
	}
	return p
}

// plansOfRank0 is collective: all ranks get the plans that rank 0 finds. Two processors may round predictions apart.
func (b *Broadcaster) plansOfRank0(find func() []predict.Plan) ([]predict.Plan, error) {
	var orders []orderedPlan
	if b.decides() {
		for _, p := range find() {
			orders = append(orders, ordered(&p))
		}
	}
	if err := b.distribute(&orders, nil); err != nil {
		return nil, err
	}
	plans := make([]predict.Plan, len(orders))
	for i, o := range orders {
		plans[i] = b.planOf(o)
	}
	return plans, nil
}
