package reduce

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"slices"

	"github.com/topocast/topocast/bcast/tuner"
	"github.com/topocast/topocast/mpi"
	"github.com/topocast/topocast/mpi/collective"
	"github.com/topocast/topocast/reduce/steps"
)

// EveryAlgorithm is collective: it performs each algorithm with its settings, for all ranks and for two roots, and compares sums of
// whole numbers with those by the formula of Gauss. Sums that are rounded have to be the same on all ranks.
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
			if root != steps.AllRanks {
				continue
			}
			if err := sameOnAllRanks(r, d, length); err != nil {
				return fmt.Errorf("%v, %d values in segments of %d B: %w", a, length, segment, err)
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

// sameOnAllRanks is collective: it adds numbers whose sums are rounded, and compares the results of all ranks.
func sameOnAllRanks(r *Reducer, d *decision, length int) error {
	rounded := make([]float64, length)
	for k := range rounded {
		rounded[k] = math.Exp(float64((7*r.comm.Rank()+k)%13)) / 3
	}
	if err := perform(r, d, rounded, func(into, from []float64) { collective.Combine(mpi.Sum, into, from) }, steps.AllRanks); err != nil {
		return err
	}
	least, most := slices.Clone(rounded), slices.Clone(rounded)
	if err := cmp.Or(collective.Allreduce(r.incumbent, least, mpi.Min), collective.Allreduce(r.incumbent, most, mpi.Max)); err != nil {
		return err
	}
	if !slices.Equal(least, most) {
		return errors.New("ranks have different sums")
	}
	return nil
}
