package reduce

import (
	"fmt"
	"math/bits"

	"github.com/topocast/topocast/bcast/schedule"
	"github.com/topocast/topocast/bcast/table"
	"github.com/topocast/topocast/bcast/tuner"
	"github.com/topocast/topocast/mpi"
)

// A key names a decision.
type key struct {
	size int // class of sizes: from 2^(size-1)+1 to 2^size bytes
	root int // class of roots, or AllRanks
}

// A decision is how reductions of a class are done.
type decision struct {
	plan plan // the best of the algorithms
	wins bool // it beats the incumbent

	decided  bool             // false: the time ran out
	stored   bool             // it comes from the network's table, and is not confirmed yet
	programs map[int]*program // of the plan, by root

	measured, incumbent float64 // s, medians of what is used and of the incumbent
	pairs               int     // that these rest on
}

// A plan is one algorithm with the length of its segments. Its Index is among the algorithms for its root.
type plan struct {
	tuner.Variant
	algorithm schedule.Algorithm // nil: the incumbent
}

func (r *Reducer) key(bytes, root int) key {
	if root != AllRanks {
		root = table.RootClass(r.classes, root)
	}
	return key{classOf(bytes), root}
}

func classOf(bytes int) int { return bits.Len(uint(bytes - 1)) }

// sampled are the roots from which plans are compared on behalf of a root.
func (r *Reducer) sampled(root int) []int {
	if root == AllRanks {
		return []int{root}
	}
	return tuner.SampleRoots(func(rank int) int { return table.RootClass(r.classes, rank) }, r.comm.Size(), root)
}

// algorithmsFor are those for a root.
func (r *Reducer) algorithmsFor(root int) []schedule.Algorithm {
	if root == AllRanks {
		return r.toAll
	}
	return r.toRoot
}

// planOf is the plan of a variant for a root.
func (r *Reducer) planOf(v tuner.Variant, root int) plan {
	if v.Index == tuner.Incumbent {
		return plan{Variant: v}
	}
	return plan{v, r.algorithmsFor(root)[v.Index]}
}

// checkRoot refuses a root that is no rank.
func (r *Reducer) checkRoot(root int) error {
	if uint(root) >= uint(r.comm.Size()) {
		return fmt.Errorf("reduce: rank %d: root %d: %w: want in [0, %d)", r.comm.Rank(), root, mpi.ErrRank, r.comm.Size())
	}
	return nil
}
