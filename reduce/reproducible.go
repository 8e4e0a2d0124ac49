package reduce

import (
	"fmt"
	"math"

	"github.com/topocast/topocast/mpi"
)

// reproducibly reduces numbers so that the order of ranks does not matter.
func reproducibly[F float, W word](r *Reducer, values []F, with mpi.Reduction, root int) error {
	bytes, isLong := len(bytesOf(values)), false
	if long := formatOf[F]().longBytes(len(values)); long > 0 && with == mpi.Sum && r.comm.Size() > 2 {
		bytes, isLong = long, true
	}
	d, err := r.decide(bytes, root)
	if err != nil || d == nil {
		return err
	}
	result := values
	if root != AllRanks && root != r.comm.Rank() {
		result = nil
	}
	switch {
	case with == mpi.Product:
		return fmt.Errorf("reduce: rank %d: the product of floating-point numbers is not reproducible: use mpi.Sum, Min or Max, or a Reducer without Settings.Reproducible", r.comm.Rank())
	case with != mpi.Sum:
		err = extremum[F, W](r, values, result, with, root)
	case r.comm.Size() == 2: // a + b is b + a
		err = reduceNumbers(r, values, with, root, bytes)
	case isLong:
		err = addExactly(r, values, result, root)
	default:
		err = addReproducibly[F, W](r, values, result, root)
	}
	for i, x := range result {
		if x != x {
			result[i] = F(math.NaN()) // not that of a rank, of which there may be several
		}
	}
	return err
}

// addReproducibly sums values. result is where to, or nil. Rests of elements are reduced as it is decided for the vector: which of
// them there are depends on the data, and is no reason to decide anew.
func addReproducibly[F float, W word](r *Reducer, values, result []F, root int) error {
	s := newSum[F, W](&r.sums, values, r.comm.Size())
	decided := s.sizes()
	var special []F
	for len(s.x) > 0 {
		err := measureAll(r, &s, decided)
		if err == nil && !s.isFinite() {
			special = s.separate()
			if err = reduceNumbers(r, special, mpi.Sum, root, decided.words); err == nil {
				err = measureAll(r, &s, decided)
			}
		}
		if err != nil {
			return err
		}
		s.round()
		if root == AllRanks && s.sizes().words <= decided.codes {
			decided.words = decided.codes
		}
		if err := reduceNumbers(r, s.words, mpi.Sum, root, decided.words); err != nil {
			return err
		}
		s.settle(result)
		if root != AllRanks {
			if err := reduceNumbers(r, s.masks, mpi.Sum, AllRanks, decided.masks); err != nil {
				return err
			}
		}
		s.takeRests()
	}
	for i := range result {
		if special != nil && special[i] != 0 {
			result[i] = special[i]
		}
	}
	return nil
}

// measureAll makes the codes of all ranks.
func measureAll[F float, W word](r *Reducer, s *sum[F, W], decided sizes) error {
	s.measure()
	return reduceNumbers(r, s.codes, mpi.Max, AllRanks, decided.codes)
}

// extremum is the smallest or largest of integers in the order of the numbers. Numbers themselves leave open which of -0 and +0
// is the smaller one, and which of several NaN comes through.
func extremum[F float, W word](r *Reducer, values, result []F, with mpi.Reduction, root int) error {
	nan := F(math.NaN())
	if with == mpi.Min {
		nan = F(math.Copysign(math.NaN(), -1))
	}
	numbers := room[F](&r.sums.rests, len(values))
	for i, x := range values {
		numbers[i] = x
		if x != x {
			numbers[i] = nan
		}
	}
	words := reinterpret[W](numbers)
	for i, bits := range words {
		words[i] = orderOf(bits)
	}
	err := reduceNumbers(r, words, with, root, len(bytesOf(values)))
	for i := range result {
		words[i] = orderOf(words[i])
		result[i] = numbers[i]
	}
	return err
}

// A reduction is one of a kind that a decision is for.
type reduction struct{ bytes, root int }

// reductions are those for which vectors of these sizes need decisions.
func (r *Reducer) reductions(sizes []int, root int) (all []reduction) {
	for _, size := range sizes {
		if r.reproducible && r.comm.Size() > 2 {
			for _, f := range []format{formatOf[float32](), formatOf[float64]()} {
				elements := size * 8 / f.word
				if long := f.longBytes(elements); long > 0 {
					all = append(all, reduction{long, root})
					continue
				}
				x := f.sizes(elements)
				all = append(all, reduction{x.codes, AllRanks})
				if root != AllRanks {
					all = append(all, reduction{x.masks, AllRanks})
				}
			}
		}
		all = append(all, reduction{size, root})
	}
	return all
}
