package reduce

import (
	"github.com/topocast/topocast/bcast/schedule"
	"github.com/topocast/topocast/reduce/steps"
)

// A predicted algorithm stands for a reduction where bcast/predict looks for the fastest of several: it has the messages of
// the reduction, and combining takes no time.
type predicted struct {
	steps.Algorithm
	settings int  // how many algorithms of this name there are
	allRanks bool // want the result
}

var _ schedule.Factored = predicted{}

// Prepare implements schedule.Algorithm.
func (a predicted) Prepare(p schedule.Problem) schedule.Parts {
	reduction := steps.Problem{Ranks: p.Ranks, Root: p.Root, Bytes: p.Bytes, Tree: p.Tree, Costs: p.Costs}
	if a.allRanks {
		reduction.Root = steps.AllRanks
	}
	parts := a.Algorithm.Prepare(reduction)
	var list []steps.Step
	return schedule.PartOf(func(rank int) schedule.Part {
		part := parts(rank)
		return func(dst []schedule.Op, p schedule.Problem) []schedule.Op {
			list = part(list[:0], p.Bytes, p.Segment)
			for _, s := range list {
				op := schedule.Op{Kind: schedule.Recv, Peer: s.Peer, Offset: s.From, Length: s.To - s.From}
				if s.Kind.IsSend() {
					op.Kind = schedule.Send
				}
				dst = append(dst, op)
			}
			return dst
		}
	})
}

// Variants implements schedule.Varied.
func (a predicted) Variants(schedule.Problem) []schedule.Algorithm { return []schedule.Algorithm{a} }

// Factors implements schedule.Factored: those of a broadcast whose settings are chosen one by one, or one choice among its settings;
// and those of Along.
func (a predicted) Factors(p schedule.Problem) []int {
	along, is := a.Algorithm.(steps.Along)
	if !is {
		return []int{a.settings}
	}
	own := 1
	if a.allRanks {
		own = len(settingsOf(along, steps.Problem{Ranks: p.Ranks, Root: steps.AllRanks, Tree: p.Tree}))
	}
	if f, is := along.Broadcast.(schedule.Factored); is {
		return append(f.Factors(p), own)
	}
	return []int{a.settings / own, own}
}

// mostRoots bounds the trees that ranks work out.
const mostRoots = 64

// settingsOf are a tree's settings for results that all ranks want.
func settingsOf(a steps.Along, p steps.Problem) (all []steps.Algorithm) {
	for _, spread := range append([]int{0}, steps.Levels(p)...) {
		for _, late := range []int{1, 4} {
			if x := (steps.Along{Broadcast: a.Broadcast, Spread: spread, Late: late}); len(x.Roots(p)) <= mostRoots {
				all = append(all, x)
			}
		}
	}
	return all
}

// predictedOf are algorithms for the prediction of reductions, in their order.
func predictedOf(all []steps.Algorithm, allRanks bool) (list []schedule.Algorithm) {
	count := make(map[string]int)
	for _, a := range all {
		count[a.Name()]++
	}
	for _, a := range all {
		list = append(list, predicted{a, count[a.Name()], allRanks})
	}
	return list
}
