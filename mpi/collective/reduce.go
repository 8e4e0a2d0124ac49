package collective

import (
	"cmp"
	"math/bits"

	"github.com/topocast/topocast/mpi"
)

// Reduce is collective: values of rank root become the reduction of the values of all ranks, element by element. The values of
// other ranks stay as they are. Root, reduction and len(values) are equal on all ranks.
//
// The simple algorithm is a binomial tree.
func Reduce[T Number](c *Comm, values []T, with mpi.Reduction, root int) error {
	err := cmp.Or(checkReduction(with), c.checkRoot(root))
	switch {
	case err != nil:
	case c.native != nil:
		err = c.native.Reduce(bytesOf(values), numberType[T](), with, root)
	default:
		err = reduce(c, values, func(into, from []T) { Combine(with, into, from) }, root)
	}
	return failed("Reduce", err)
}

// ReduceFunc is Reduce by a function, for values that are not numbers, say. The function combines into with from, element by
// element, and is associative and commutative.
func ReduceFunc[T comparable](c *Comm, values []T, f func(into, from []T), root int) error {
	err := cmp.Or(checkFunction(c, f), c.checkRoot(root))
	if err == nil {
		err = reduce(c, values, f, root)
	}
	return failed("Reduce", err)
}

// Allreduce is collective: values of all ranks become their reduction, element by element. Reduction and len(values) are
// equal on all ranks.
//
// The result is the same on all ranks, bit by bit, and on every run with the same ranks: rounding depends on the order of
// sums, and all ranks compute them in one order. A native Allreduce keeps to that as far as the MPI library does (MPI 4.0, section
// 6.9.1, recommends it). The library also decides what becomes of NaN under mpi.Min and Max.
//
// The simple algorithm is recursive doubling (Thakur, Rabenseifner, Gropp 2005). It lets NaN reach all ranks.
func Allreduce[T Number](c *Comm, values []T, with mpi.Reduction) error {
	err := checkReduction(with)
	switch {
	case err != nil:
	case c.native != nil:
		err = c.native.Allreduce(bytesOf(values), numberType[T](), with)
	default:
		err = allreduce(c, values, func(into, from []T) { Combine(with, into, from) })
	}
	return failed("Allreduce", err)
}

// AllreduceFunc is Allreduce by a function: see ReduceFunc.
func AllreduceFunc[T comparable](c *Comm, values []T, f func(into, from []T)) error {
	err := checkFunction(c, f)
	if err == nil {
		err = allreduce(c, values, f)
	}
	return failed("Allreduce", err)
}

func checkFunction[T any](c *Comm, f func(into, from []T)) error {
	if err := checkType[T](c); err != nil {
		return err
	}
	if f == nil {
		return errNoFunction
	}
	return nil
}

// allreduce doubles the number of ranks whose values each rank has combined, in each round. That needs a power of two of places. With
// extra ranks beyond it, each of the first extra odd ranks leaves its values to the rank before it and gets the result from it.
func allreduce[T any](c *Comm, values []T, f func(into, from []T)) error {
	received := scratchOf[T](c, 0, len(values))
	places := 1 << (bits.Len(uint(c.size)) - 1)
	extra := c.size - places
	isPair, place := c.rank < 2*extra, c.rank-extra
	if isPair {
		if c.rank%2 == 1 {
			if err := c.send(bytesOf(values), c.rank-1); err != nil {
				return err
			}
			return c.recv(bytesOf(values), c.rank-1)
		}
		if err := c.recv(bytesOf(received), c.rank+1); err != nil {
			return err
		}
		apply(f, values, received)
		place = c.rank / 2
	}
	for step := 1; step < places; step *= 2 {
		partner := place ^ step
		rank := partner + extra
		if partner < extra {
			rank = 2 * partner
		}
		if err := c.exchange(bytesOf(values), rank, bytesOf(received), rank, tag); err != nil {
			return err
		}
		// Both ranks combine into the values of the lower place, so that they get the same bits.
		if place < partner {
			apply(f, values, received)
		} else {
			apply(f, received, values)
			copy(values, received)
		}
	}
	if isPair {
		return c.send(bytesOf(values), c.rank+1)
	}
	return nil
}

// apply calls f, which need not know empty lists.
func apply[T any](f func(into, from []T), into, from []T) {
	if len(from) > 0 {
		f(into, from)
	}
}

// reduce reduces along a binomial tree, in which ranks count from the root. A rank between the leaves and the root combines in
// scratch memory, so that its values stay.
func reduce[T any](c *Comm, values []T, f func(into, from []T), root int) error {
	place := (c.rank - root + c.size) % c.size
	sum := values
	for step := 1; step < c.size; step *= 2 {
		if place&step != 0 {
			return c.send(bytesOf(sum), (c.rank-step+c.size)%c.size)
		}
		if place+step >= c.size {
			continue
		}
		received := scratchOf[T](c, 0, len(values))
		if err := c.recv(bytesOf(received), (c.rank+step)%c.size); err != nil {
			return err
		}
		if step == 1 && place != 0 {
			sum = append(scratchOf[T](c, 1, len(values))[:0], values...)
		}
		apply(f, sum, received)
	}
	return nil
}
