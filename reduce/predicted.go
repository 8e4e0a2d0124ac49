package reduce

import (
	"github.com/topocast/topocast/bcast/schedule"
	"github.com/topocast/topocast/reduce/steps"
)

// A predicted algorithm stands for a reduction where bcast/predict looks for the fastest of several: it has the messages of
// the reduction, and combining takes no time.
type predicted struct {
	steps.Algorithm
	family   *[]schedule.Algorithm // of this name, with all settings
	allRanks bool                  // want the result
}

var _ schedule.Varied = predicted{}

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
				if s.Kind == steps.CombineKept {
					continue
				}
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

// Settings implements schedule.Varied: those of a broadcast with those of Along, or one setting for all of the name.
func (a predicted) Settings(p schedule.Problem) (values []int, with func(choice []int) schedule.Algorithm) {
	along, is := a.Algorithm.(steps.Along)
	varied, has := along.Broadcast.(schedule.Varied)
	if has {
		values, _ = varied.Settings(p)
	}
	if is && a.allRanks {
		values = append(values, len(settingsOf(along, steps.Problem{Ranks: p.Ranks, Root: steps.AllRanks, Tree: p.Tree})))
	}
	product := 1
	for _, n := range values {
		product *= n
	}
	if product != len(*a.family) { // not all of the broadcast's settings make trees
		values = []int{len(*a.family)}
	}
	return values, func(choice []int) schedule.Algorithm {
		index := 0
		for k, n := range values {
			index = index*n + choice[k]
		}
		return (*a.family)[index]
	}
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
	families := make(map[string]*[]schedule.Algorithm)
	for _, a := range all {
		family := families[a.Name()]
		if family == nil {
			family = new([]schedule.Algorithm)
			families[a.Name()] = family
		}
		*family = append(*family, predicted{a, family, allRanks})
		list = append(list, predicted{a, family, allRanks})
	}
	return list
}
