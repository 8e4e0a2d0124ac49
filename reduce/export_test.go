package reduce

import (
	"fmt"

	"github.com/topocast/topocast/bcast/tuner"
	"github.com/topocast/topocast/mpi"
	"github.com/topocast/topocast/mpi/collective"
	"github.com/topocast/topocast/reduce/steps"
)

// EveryAlgorithm is collective: it performs each algorithm with its settings, for all ranks and for two roots, and compares sums of
// whole numbers with those by the formula of Gauss.
func EveryAlgorithm(r *Reducer, length, segment int) error {
	n := r.comm.Size()
	for _, root := range []int{steps.AllRanks, 0, n - 1} {
		for i, a := range r.algorithmsFor(root) {
			values := make([]int64, length)
			for k := range values {
				values[k] = int64(r.comm.Rank()*length + k)
			}
			d := &decision{plan: r.planOf(tuner.Variant{Index: i, Segment: segment}, root), programs: make(map[int]*program)}
			if err := perform(r, d, values, func(into, from []int64) { collective.Combine(mpi.Sum, into, from) }, root); err != nil {
				return fmt.Errorf("%v: %w", a, err)
			}
			for k, x := range values {
				want := int64(r.comm.Rank()*length + k)
				if root == steps.AllRanks || root == r.comm.Rank() {
					want = int64(n*(n-1)/2*length + n*k)
				}
				if x != want {
					return fmt.Errorf("%v, root %d, %d values in segments of %d B: value %d of rank %d is %d, want %d", a, root, length, segment, k, r.comm.Rank(), x, want)
				}
			}
		}
	}
	return nil
}

// Shortlist are the lengths of segments of the plans that are timed first for an algorithm by its name. Rank 0 alone calls it.
func Shortlist(r *Reducer, bytes, root int, name string) (segments []int) {
	for _, v := range r.candidates(bytes, root) {
		if p := r.planOf(v, root); fmt.Sprint(p.algorithm) == name {
			segments = append(segments, v.Segment)
		}
	}
	return segments
}
