package main

import (
	"math"

	"github.com/topocast/topocast/bcast/schedule"
	"github.com/topocast/topocast/bcast/schedule/classic"
)

// A defaultRule is what a library takes for up to so many ranks: algorithms by message size.
type defaultRule struct {
	below int // ranks
	sizes []defaultSize
}

type defaultSize struct {
	below int // B
	takes schedule.Algorithm
}

// openMPIRules is Open MPI 4.1's choice of broadcasts that nobody has tuned: ompi_coll_tuned_bcast_intra_dec_fixed in its
// coll_tuned_decision_fixed.c. All messages are whole. Its linear broadcast is flat. Its pipeline and its chain are one
// chain without segments. Its k-nomial tree has radix 4, and its scatter and allgather doubles.
func openMPIRules() []defaultRule {
	var (
		flat     = schedule.Flat{}
		chain    = schedule.Chain{}
		split    = schedule.SplitBinary{}
		binary   = levelBinary{}
		binomial = schedule.Binomial{}
		knomial  = schedule.KNomial{Radix: 4}
		scatter  = classic.ScatterDoubling{}
	)
	const rest = math.MaxInt
	return []defaultRule{
		{4, []defaultSize{
			{32, chain}, {256, binary}, {512, chain}, {1 << 10, knomial}, {32 << 10, flat},
			{128 << 10, binary}, {256 << 10, chain}, {512 << 10, flat}, {1 << 20, binomial}, {rest, binary},
		}},
		{8, []defaultSize{{64, binary}, {128, binomial}, {2 << 10, binary}, {8 << 10, binomial}, {1 << 20, flat}, {rest, chain}}},
		{16, []defaultSize{{8, knomial}, {64, binary}, {4 << 10, knomial}, {16 << 10, binary}, {32 << 10, binomial}, {rest, flat}}},
		{32, []defaultSize{{4 << 10, knomial}, {1 << 20, binomial}, {rest, scatter}}},
		{64, []defaultSize{{2 << 10, binomial}, {rest, knomial}}},
		{128, []defaultSize{{rest, knomial}}},
		{256, []defaultSize{{2, binomial}, {16 << 10, binary}, {32 << 10, flat}, {64 << 10, binary}, {rest, knomial}}},
		{1024, []defaultSize{{16 << 10, knomial}, {32 << 10, split}, {rest, knomial}}},
		{2048, []defaultSize{{512 << 10, knomial}, {rest, scatter}}},
		{4096, []defaultSize{{256 << 10, knomial}, {rest, scatter}}},
		{rest, []defaultSize{{8 << 10, knomial}, {16 << 10, binary}, {rest, knomial}}},
	}
}

// openMPIDefault is what Open MPI 4.1 takes for as many ranks and bytes.
func openMPIDefault(ranks, bytes int) schedule.Algorithm {
	for _, rule := range openMPIRules() {
		for _, size := range rule.sizes {
			if ranks < rule.below && bytes < size.below {
				return size.takes
			}
		}
	}
	return schedule.KNomial{Radix: 4} // not reached: the last rule is for all
}

// levelBinary is the binary tree as Open MPI numbers its ranks, level by level, whatever hosts they are on: a rank of level l
// serves those 2^l and 2^(l+1) after it.
type levelBinary struct{}

// Name implements schedule.Algorithm.
func (levelBinary) Name() string { return "binary" }

// Prepare implements schedule.Algorithm.
func (levelBinary) Prepare(p schedule.Problem) schedule.Parts {
	edges := make([]schedule.Edge, 0, p.Ranks-1)
	at := func(place int) int { return (p.Root + place) % p.Ranks }
	for place, step := 0, 1; place < p.Ranks; place++ {
		for place+1 >= 2*step {
			step *= 2 // 2^l: level l has the places from 2^l - 1 on
		}
		for _, child := range []int{place + step, place + 2*step} {
			if child < p.Ranks {
				edges = append(edges, schedule.Edge{From: at(place), To: at(child)})
			}
		}
	}
	return schedule.NewTree(p.Ranks, edges)
}
