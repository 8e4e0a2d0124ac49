package collective

import (
	"errors"
	"fmt"
	"reflect"
	"testing"
	"unsafe"

	"github.com/topocast/topocast/mpi"
	"github.com/topocast/topocast/mpi/local"
)

// A library is a communicator with native collectives: the simple algorithms of this package, by the number types that it is
// told. It counts calls, and those for blocks of equal length.
type library struct {
	mpi.Communicator
	below        *Comm
	calls, equal int
}

func newLibrary(comm mpi.Communicator) *library {
	return &library{Communicator: comm, below: New(comm)}
}

var _ mpi.Collectives = (*library)(nil)

func (l *library) Barrier() error {
	l.calls++
	return Barrier(l.below)
}

func (l *library) Reduce(values []byte, number reflect.Kind, with mpi.Reduction, root int) error {
	l.calls++
	return byType(values, number, func(v any) error { return typed(v, reducer{l.below, with, root}) })
}

func (l *library) Allreduce(values []byte, number reflect.Kind, with mpi.Reduction) error {
	l.calls++
	return byType(values, number, func(v any) error { return typed(v, reducer{l.below, with, None}) })
}

func (l *library) Gather(dst []byte, counts []int, src []byte, root int) error {
	l.calls++
	if counts == nil {
		l.equal++
		return Gather(l.below, dst, src, root)
	}
	return Gatherv(l.below, dst, counts, src, root)
}

func (l *library) Scatter(dst, src []byte, counts []int, root int) error {
	l.calls++
	if counts == nil {
		l.equal++
		return Scatter(l.below, dst, src, root)
	}
	return Scatterv(l.below, dst, src, counts, root)
}

func (l *library) Allgather(dst []byte, counts []int, src []byte) error {
	l.calls++
	if counts == nil {
		l.equal++
		return Allgather(l.below, dst, src)
	}
	return Allgatherv(l.below, dst, counts, src)
}

func (l *library) Alltoall(dst []byte, dstCounts []int, src []byte, srcCounts []int) error {
	l.calls++
	if dstCounts == nil && srcCounts == nil {
		l.equal++
		return Alltoall(l.below, dst, src)
	}
	return Alltoallv(l.below, dst, dstCounts, src, srcCounts)
}

type reducer struct {
	c    *Comm
	with mpi.Reduction
	root int
}

func typed(v any, r reducer) error {
	switch v := v.(type) {
	case []int8:
		return act(v, r)
	case []int16:
		return act(v, r)
	case []int32:
		return act(v, r)
	case []int64:
		return act(v, r)
	case []uint8:
		return act(v, r)
	case []uint16:
		return act(v, r)
	case []uint32:
		return act(v, r)
	case []uint64:
		return act(v, r)
	case []float32:
		return act(v, r)
	case []float64:
		return act(v, r)
	}
	return fmt.Errorf("values of %T", v)
}

func act[T Number](v []T, r reducer) error {
	if r.root == None {
		return Allreduce(r.c, v, r.with)
	}
	return Reduce(r.c, v, r.with, r.root)
}

// valuesIn is memory as values.
func valuesIn[T any](b []byte, n int) []T {
	return unsafe.Slice((*T)(unsafe.Pointer(unsafe.SliceData(b))), n)
}

func byType(values []byte, number reflect.Kind, f func(any) error) error {
	switch number {
	case reflect.Int8:
		return f(valuesIn[int8](values, len(values)))
	case reflect.Int16:
		return f(valuesIn[int16](values, len(values)/2))
	case reflect.Int32:
		return f(valuesIn[int32](values, len(values)/4))
	case reflect.Int64:
		return f(valuesIn[int64](values, len(values)/8))
	case reflect.Uint8:
		return f(values)
	case reflect.Uint16:
		return f(valuesIn[uint16](values, len(values)/2))
	case reflect.Uint32:
		return f(valuesIn[uint32](values, len(values)/4))
	case reflect.Uint64:
		return f(valuesIn[uint64](values, len(values)/8))
	case reflect.Float32:
		return f(valuesIn[float32](values, len(values)/4))
	case reflect.Float64:
		return f(valuesIn[float64](values, len(values)/8))
	}
	return fmt.Errorf("number type %d", number)
}

// silent is a communicator on which no message may go.
type silent struct{ mpi.Communicator }

var errMessage = errors.New("a message where the library has a collective")

func (silent) Send([]byte, int, int) error { return errMessage }
func (silent) Recv([]byte, int, int) error { return errMessage }

// Native collectives are called with the type and the bytes of every kind of number, and without counts for blocks of equal length.
func TestNativeCollectivesAreUsed(t *testing.T) {
	for _, ranks := range []int{1, 3, 4} {
		err := local.Run(ranks, nil, func(comm mpi.Communicator) error {
			l := newLibrary(comm)
			l.Communicator = silent{comm}
			c := New(l)
			d := draw{n: 5, root: ranks - 1, counts: make([]int, ranks), with: mpi.Sum}
			for i := range d.counts {
				d.counts[i] = (3*i + 2) % 4
			}
			if err := errors.Join(
				reductions[int8](c, &d), reductions[int16](c, &d), reductions[int32](c, &d), reductions[int64](c, &d), reductions[int](c, &d),
				reductions[uint8](c, &d), reductions[uint16](c, &d), reductions[uint32](c, &d), reductions[uint64](c, &d), reductions[uint](c, &d),
				reductions[float32](c, &d), reductions[float64](c, &d), rounding(c, &d), Barrier(c),
			); err != nil {
				return err
			}
			// Sendrecv, the last of moves, is messages.
			if err := moves(c, &d); ranks > 1 && !errors.Is(err, errMessage) || ranks == 1 && err != nil {
				return err
			}
			// Reductions of 12 types, rounding, Barrier, and moves: Gather, Scatter, Allgather twice and Alltoall, as many with counts.
			if want := 2*12 + 2 + 1 + 10; l.calls != want || l.equal != 6 {
				return fmt.Errorf("%d native calls, %d for equal blocks, want %d and 6", l.calls, l.equal, want)
			}
			return nil
		})
		if err != nil {
			t.Error(err)
		}
	}
}
