package collective

import (
	"cmp"
	"unsafe"

	"github.com/topocast/topocast/mpi"
)

// Reduce is collective: values of rank root become the reduction of those of all ranks, element by element;
// those of other ranks stay as they are. Root, reduction and len(values) are equal on all ranks.
//
// On messages it is a binomial tree for short lists, and for long ones recursive
// halving, after which the root gathers the parts (Rabenseifner 2004). With groups the ranks of each reduce
// to one of them, and these to the root.
func Reduce[T Number](comm mpi.Communicator, values []T, with mpi.Reduction, root int) error {
	c, err := of(comm)
	if err == nil {
		err = cmp.Or(checkReduction(with), c.checkRoot(root))
	}
	switch {
	case err != nil:
	case c.reduce != nil && !c.byMessages(reduction, len(values)*sizeOf[T]()):
		err = c.reduce.Reduce(bytesOf(values), numberType[T](), with, root)
	default:
		err = reduce(c, values, func(into, from []T) { combine(with, into, from) }, root)
	}
	return failed("Reduce", err)
}

// ReduceFunc is Reduce by a function of one's own, for values that are no numbers, say. It puts
// from into into, element by element or in any other way that does not depend on where a list is cut (lists are
// cut between elements), is associative and commutative, and is not left to the library.
func ReduceFunc[T comparable](comm mpi.Communicator, values []T, f func(into, from []T), root int) error {
	c, err := of(comm)
	if err == nil {
		err = check[T](c)
	}
	if err == nil && f == nil {
		err = errNoFunction
	}
	if err == nil {
		err = c.checkRoot(root)
	}
	if err == nil {
		err = reduce(c, values, f, root)
	}
	return failed("Reduce", err)
}

func reduce[T any](c *Comm, values []T, f func(into, from []T), root int) error {
	isRoot := c.all.me == root
	if c.groups == nil {
		_, err := reduceTeam(c, c.all.turned(root), values, isRoot, f)
		return err
	}
	leaders, own, place := c.leadWith(root)
	work, err := reduceTeam(c, own, values, isRoot, f)
	if err != nil || own.me != 0 {
		return err
	}
	_, err = reduceTeam(c, leaders.turned(place), work, isRoot || !isSame(work, values), f)
	return err
}

func isSame[T any](a, b []T) bool { return unsafe.SliceData(a) == unsafe.SliceData(b) }

// reduceTeam reduces work of all places to place 0, and returns the reduction there. That is work itself if work may be
// spoilt; else work is not written, and what a leaf of the tree has is sent from where it is.
func reduceTeam[T any](c *Comm, t team, work []T, spoil bool, f func(into, from []T)) ([]T, error) {
	core, bytes := t.core(), len(work)*sizeOf[T]()
	// The parts come home as they would have gone around.
	if c.costs.binomial(&t, bytes) <= c.costs.halvingDoubling(&core, bytes) {
		return binomialReduce(c, t, work, spoil, f)
	}
	if !spoil && core.id >= 0 {
		work = append(takeValues[T](c, len(work))[:0], work...)
	}
	return work, halvingReduce(c, core, work, takeValues[T](c, len(work)), f)
}

func binomialReduce[T any](c *Comm, t team, work []T, spoil bool, f func(into, from []T)) ([]T, error) {
	var scratch []T
	for step := 1; step < t.size; step *= 2 {
		if t.me&step != 0 {
			return work, c.send(bytesOf(work), t.rank(t.me-step))
		}
		if t.me+step >= t.size {
			continue
		}
		if scratch == nil {
			scratch = takeValues[T](c, len(work))
		}
		if err := c.recv(bytesOf(scratch), t.rank(t.me+step)); err != nil {
			return work, err
		}
		switch {
		case len(work) == 0:
		case spoil:
			f(work, scratch)
		default: // the other way round, so that work stays
			f(scratch, work)
			work, scratch, spoil = scratch, nil, true
		}
	}
	return work, nil
}

// halvingReduce is that of Rabenseifner: recursive halving, and a gather along the way back.
func halvingReduce[T any](c *Comm, t core, work, scratch []T, f func(into, from []T)) error {
	if err := fold(c, &t, work, scratch, f); err != nil || t.id < 0 {
		return err
	}
	if err := halve(c, &t, work, scratch, f); err != nil {
		return err
	}
	for step := 1; step < t.count; step *= 2 {
		first := t.id &^ (step - 1)
		if t.id&step != 0 {
			return c.send(bytesOf(between(work, &t, first, first+step)), t.partner(t.id-step))
		}
		if err := c.recv(bytesOf(between(work, &t, first+step, first+2*step)), t.partner(t.id+step)); err != nil {
			return err
		}
	}
	return nil
}

// fold brings a team down to its core.
func fold[T any](c *Comm, t *core, work, scratch []T, f func(into, from []T)) error {
	switch {
	case !t.folded():
	case t.id < 0:
		return c.send(bytesOf(work), t.rank(t.me-1))
	default:
		if err := c.recv(bytesOf(scratch), t.rank(t.me+1)); err != nil {
			return err
		}
		f(work, scratch)
	}
	return nil
}

// unfold gives the result to those that have left their part to others.
func unfold[T any](c *Comm, t *core, work []T) error {
	switch {
	case !t.folded():
		return nil
	case t.id < 0:
		return c.recv(bytesOf(work), t.rank(t.me-1))
	}
	return c.send(bytesOf(work), t.rank(t.me+1))
}

// between are the parts first to last-1 of as many as the core has members.
func between[T any](work []T, t *core, first, last int) []T {
	return work[part(first, t.count, len(work)):part(last, t.count, len(work))]
}

// halve reduces part i of work on member i of the core, by recursive halving.
func halve[T any](c *Comm, t *core, work, scratch []T, f func(into, from []T)) error {
	first := 0 // of the parts that this rank still works on
	for step := t.count / 2; step > 0; step /= 2 {
		mine, others := first, first+step
		if t.id&step != 0 {
			mine, others = others, mine
		}
		keep := between(work, t, mine, mine+step)
		partner := t.partner(t.id ^ step)
		if err := c.exchange(bytesOf(between(work, t, others, others+step)), partner, bytesOf(scratch[:len(keep)]), partner); err != nil {
			return err
		}
		f(keep, scratch[:len(keep)])
		first = mine
	}
	return nil
}
