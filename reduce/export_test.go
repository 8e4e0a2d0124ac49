package reduce

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"unsafe"

	"github.com/topocast/topocast/bcast/schedule"
	"github.com/topocast/topocast/bcast/tuner"
	"github.com/topocast/topocast/internal/decisions"
	"github.com/topocast/topocast/mpi"
	"github.com/topocast/topocast/mpi/collective"
)

// EveryAlgorithm is collective: it performs each algorithm with its settings, for all ranks and for two roots, and compares sums of
// whole numbers with those by the formula of Gauss. Sums that are rounded have to be the same on all ranks.
func EveryAlgorithm(r *Reducer, length, segment int) error {
	n := r.comm.Size()
	for _, root := range []int{AllRanks, 0, n - 1} {
		for i, a := range r.decisionsFor(root).Catalogue {
			values := make([]int64, length)
			for k := range values {
				values[k] = int64(r.comm.Rank()*length + k)
			}
			d := &decisions.Decision{Best: r.decisionsFor(root).PlanOf(tuner.Variant{Index: i, Segment: segment})}
			if err := perform(r, d, values, func(into, from []int64) { collective.Combine(mpi.Sum, into, from) }, root); err != nil {
				return fmt.Errorf("%v: %w", a, err)
			}
			for k, x := range values {
				want := int64(r.comm.Rank()*length + k)
				if root == AllRanks || root == r.comm.Rank() {
					want = int64(n*(n-1)/2*length + n*k)
				}
				if x != want {
					return fmt.Errorf("%v, root %d, %d values in segments of %d B: value %d of rank %d is %d, want %d", a, root, length, segment, k, r.comm.Rank(), x, want)
				}
			}
			if root != AllRanks {
				continue
			}
			if err := sameOnAllRanks(r, d, length); err != nil {
				return fmt.Errorf("%v, %d values in segments of %d B: %w", a, length, segment, err)
			}
		}
	}
	return nil
}

// CopiesWhenTimed is how many values the plans that were timed have copied for callers with vectors of their own (Settings.Apart).
func CopiesWhenTimed(r *Reducer) int { return len(r.copies.words) }

// Shortlist are the lengths of segments of the plans that are timed first for an algorithm by its name. Rank 0 alone calls it.
func Shortlist(r *Reducer, bytes, root int, name string) (segments []int) {
	for _, v := range r.decisionsFor(root).Shortlist(bytes, max(0, root)) {
		if p := r.decisionsFor(root).PlanOf(v); schedule.Text(p.Algorithm) == name {
			segments = append(segments, v.Segment)
		}
	}
	return segments
}

// sameOnAllRanks is collective: it adds numbers whose sums are rounded, and compares the results of all ranks.
func sameOnAllRanks(r *Reducer, d *decisions.Decision, length int) error {
	rounded := make([]float64, length)
	for k := range rounded {
		rounded[k] = math.Exp(float64((7*r.comm.Rank()+k)%13)) / 3
	}
	if err := perform(r, d, rounded, func(into, from []float64) { collective.Combine(mpi.Sum, into, from) }, AllRanks); err != nil {
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

// Force lets all reductions be done by one of the algorithms, for all ranks and for one root, in segments of so many bytes. The
// algorithm before the first is the incumbent.
func Force(r *Reducer, index, segment int) {
	for root := AllRanks; root < r.comm.Size(); root++ {
		i := index%(len(r.decisionsFor(root).Catalogue)+1) - 1
		for size := range 12 {
			p := r.decisionsFor(root).PlanOf(tuner.Variant{Index: i, Segment: segment})
			r.decisionsFor(root).Set(1<<size, root, &decisions.Decision{Plan: p, Best: p, Decided: true})
		}
	}
}

// SumOf is the sum of one vector per rank. What the ranks make is combined in random order. words is how many words each
// rank gave for its elements, of which there may be more than one each.
func SumOf[F float, W word](vectors [][]F, rng *rand.Rand) (result []F, words int) {
	ranks := len(vectors)
	sums := make([]sum[F, W], ranks)
	for i, x := range vectors {
		sums[i] = newSum[F, W](new(sumMemory), x, ranks)
	}
	result = make([]F, len(vectors[0]))
	measure := func() {
		var codes [][]int16
		for i := range sums {
			sums[i].measure()
			codes = append(codes, sums[i].codes)
		}
		combineAll(codes, mpi.Max, rng)
	}
	var special [][]F
	for len(sums[0].x) > 0 {
		measure()
		if !sums[0].isFinite() {
			for i := range sums {
				special = append(special, sums[i].separate())
			}
			combineAll(special, mpi.Sum, rng)
			measure()
		}
		var all [][]W
		for i := range sums {
			sums[i].round()
			all = append(all, sums[i].words)
		}
		words += len(sums[0].x)
		combineAll(all, mpi.Sum, rng)
		sums[0].settle(result)
		for i := range sums[1:] {
			sums[1+i].settle(nil)
			copy(sums[1+i].masks, sums[0].masks)
		}
		for i := range sums {
			sums[i].takeRests()
		}
	}
	for i := range result {
		if special != nil && special[0][i] != 0 {
			result[i] = special[0][i]
		}
	}
	return result, words
}

// combineAll combines lists two at a time, in random order. All get the result.
func combineAll[T collective.Number](lists [][]T, with mpi.Reduction, rng *rand.Rand) {
	order := rng.Perm(len(lists))
	for len(order) > 1 {
		i := rng.IntN(len(order) - 1)
		collective.Combine(with, lists[order[i]], lists[order[len(order)-1]])
		order = order[:len(order)-1]
	}
	for i := range lists {
		copy(lists[i], lists[order[0]])
	}
}

// SumAlone returns a function that does what one of 64 ranks computes in a sum, with words that it has 64 times.
func SumAlone[F float, W word]() func(values, result []F) {
	var m sumMemory
	return func(values, result []F) {
		s := newSum[F, W](&m, values, 64)
		s.measure()
		s.round()
		for i := range s.words {
			s.words[i] *= 64
		}
		s.settle(result)
	}
}

// SizeOf is the size of a value in bytes.
func SizeOf[T any]() uintptr {
	var x T
	return unsafe.Sizeof(x)
}

// Adopt lets r reduce vectors of some size as another reducer of the communicator does those of another size.
func Adopt(r, from *Reducer, tuned, bytes int) {
	r.toAll.Set(bytes, AllRanks, from.toAll.Of(tuned, AllRanks))
}
