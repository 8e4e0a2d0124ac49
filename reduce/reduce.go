package reduce

import (
	"errors"
	"fmt"
	"reflect"

	"github.com/topocast/topocast/mpi"
	"github.com/topocast/topocast/mpi/collective"
)

// Value is what functions may combine: values without pointers, whose bytes mean the same on all ranks.
type Value interface {
	collective.Number | ~complex64 | ~complex128
}

// AllRanks is the root of a reduction whose result all ranks want.
const AllRanks = -1

// AllreduceSlice is collective: values of all ranks become their reduction, element by element. len(values) and with are
// equal on all ranks. The first of a class of sizes takes longer, and as much memory again: it finds out how others are done. Tune
// does this beforehand. Later ones do not allocate.
func AllreduceSlice[T collective.Number](r *Reducer, values []T, with mpi.Reduction) error {
	return reduceSlice(r, values, with, AllRanks, nil)
}

// ReduceSlice is collective: values of rank root become the reduction of the values of all ranks, element by element. The
// values of other ranks stay. len(values), with and root are equal on all ranks.
func ReduceSlice[T collective.Number](r *Reducer, values []T, with mpi.Reduction, root int) error {
	return reduceSlice(r, values, with, root, r.checkRoot(root))
}

// AllreduceFunc is AllreduceSlice by a function, which combines into with from, element by element. It is associative and
// commutative.
func AllreduceFunc[T Value](r *Reducer, values []T, f func(into, from []T)) error {
	return reduceFunc(r, values, f, AllRanks, nil)
}

// ReduceFunc is ReduceSlice by a function: see AllreduceFunc.
func ReduceFunc[T Value](r *Reducer, values []T, f func(into, from []T), root int) error {
	return reduceFunc(r, values, f, root, r.checkRoot(root))
}

// reduceSlice reduces values, unless something is wrong with the call.
func reduceSlice[T collective.Number](r *Reducer, values []T, with mpi.Reduction, root int, wrong error) error {
	if with > mpi.Max && wrong == nil {
		wrong = fmt.Errorf("reduce: reduction %d: want mpi.Sum, Product, Min or Max", with)
	}
	elements := reflect.TypeFor[T]().Kind()
	if err := r.agree(len(bytesOf(values)), root, int(with), elements, wrong); err != nil {
		return err
	}
	if r.reproducible {
		switch elements {
		case reflect.Float32:
			return reproducibly[float32, int32](r, reinterpret[float32](values), with, root)
		case reflect.Float64:
			return reproducibly[float64, int64](r, reinterpret[float64](values), with, root)
		}
	}
	return reduceNumbers(r, values, with, root, len(bytesOf(values)))
}

// reduceNumbers reduces values as it is decided for vectors of so many bytes.
func reduceNumbers[T collective.Number](r *Reducer, values []T, with mpi.Reduction, root, bytes int) error {
	d, err := r.decide(bytes, root)
	if err != nil || d == nil {
		return err
	}
	if d.Algorithm == nil {
		return r.failed(incumbent(r, values, with, root))
	}
	return r.failed(perform(r, d, values, func(into, from []T) { collective.Combine(with, into, from) }, root))
}

// byFunction stands for a function where reductions have numbers.
const byFunction = -1

// reduceFunc reduces values, unless something is wrong with the call.
func reduceFunc[T Value](r *Reducer, values []T, f func(into, from []T), root int, wrong error) error {
	if f == nil && wrong == nil {
		wrong = errors.New("reduce: the function of the reduction is nil")
	}
	if err := r.agree(len(bytesOf(values)), root, byFunction, reflect.TypeFor[T]().Kind(), wrong); err != nil {
		return err
	}
	d, err := r.decide(len(bytesOf(values)), root)
	if err != nil || d == nil {
		return err
	}
	if d.Best.Algorithm != nil { // there are no native reductions by functions
		return r.failed(perform(r, d, values, f, root))
	}
	if root == AllRanks {
		return r.failed(collective.AllreduceFunc(r.incumbent, values, f))
	}
	return r.failed(collective.ReduceFunc(r.incumbent, values, f, root))
}
