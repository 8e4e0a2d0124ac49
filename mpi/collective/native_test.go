package collective

import (
	"errors"
	"fmt"
	"testing"

	"github.com/topocast/topocast/mpi"
	"github.com/topocast/topocast/mpi/local"
)

// library is a communicator with collectives of its own: those of this package, on messages, by the types it is told.
type library struct {
	mpi.Communicator
	below *Comm
	calls int
}

func newLibrary(comm mpi.Communicator) (*library, error) {
	below, err := New(comm, &Settings{Messages: true, Tag: 7})
	return &library{comm, below, 0}, err
}

func (l *library) Barrier() error {
	l.calls++
	return Barrier(l.below)
}

func (l *library) Reduce(values []byte, number mpi.NumberType, with mpi.Reduction, root int) error {
	l.calls++
	return byType(values, number, func(v any) error { return typed(v, reducer{l.below, with, root}) })
}

func (l *library) Allreduce(values []byte, number mpi.NumberType, with mpi.Reduction) error {
	l.calls++
	return byType(values, number, func(v any) error { return typed(v, reducer{l.below, with, None}) })
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

func byType(values []byte, number mpi.NumberType, f func(any) error) error {
	switch number {
	case mpi.Int8:
		return f(valuesOf[int8](values, len(values)))
	case mpi.Int16:
		return f(valuesOf[int16](values, len(values)/2))
	case mpi.Int32:
		return f(valuesOf[int32](values, len(values)/4))
	case mpi.Int64:
		return f(valuesOf[int64](values, len(values)/8))
	case mpi.Uint8:
		return f(values)
	case mpi.Uint16:
		return f(valuesOf[uint16](values, len(values)/2))
	case mpi.Uint32:
		return f(valuesOf[uint32](values, len(values)/4))
	case mpi.Uint64:
		return f(valuesOf[uint64](values, len(values)/8))
	case mpi.Float32:
		return f(valuesOf[float32](values, len(values)/4))
	case mpi.Float64:
		return f(valuesOf[float64](values, len(values)/8))
	}
	return fmt.Errorf("number type %d", number)
}

func (l *library) Gather(dst []byte, counts []int, src []byte, root int) error {
	l.calls++
	return Gatherv(l.below, dst, counts, src, root)
}

func (l *library) Scatter(dst, src []byte, counts []int, root int) error {
	l.calls++
	return Scatterv(l.below, dst, src, counts, root)
}

func (l *library) Allgather(dst []byte, counts []int, src []byte) error {
	l.calls++
	return Allgatherv(l.below, dst, counts, src)
}

func (l *library) Alltoall(dst []byte, dstCounts []int, src []byte, srcCounts []int) error {
	l.calls++
	return Alltoallv(l.below, dst, dstCounts, src, srcCounts)
}

// silent is a communicator on which no message may go.
type silent struct{ mpi.Communicator }

var errMessage = errors.New("a message where the library has a collective")

func (silent) Send([]byte, int, int) error { return errMessage }
func (silent) Recv([]byte, int, int) error { return errMessage }

// What a communicator can do by itself is left to it, with the type and the bytes of every kind of number.
func TestLibrarysOwnCollectivesAreUsed(t *testing.T) {
	for _, ranks := range []int{1, 3, 4} {
		err := local.Run(ranks, nil, func(comm mpi.Communicator) error {
			l, err := newLibrary(comm)
			if err != nil {
				return err
			}
			l.Communicator = silent{comm}
			d := draw{n: 5, root: ranks - 1, counts: make([]int, ranks), with: mpi.Sum}
			for i := range d.counts {
				d.counts[i] = (3*i + 2) % 4
			}
			if err := errors.Join(
				reductions[int8](l, &d), reductions[int16](l, &d), reductions[int32](l, &d), reductions[int64](l, &d), reductions[int](l, &d),
				reductions[uint8](l, &d), reductions[uint16](l, &d), reductions[uint32](l, &d), reductions[uint64](l, &d), reductions[uint](l, &d),
				reductions[float32](l, &d), reductions[float64](l, &d), rounding(l, &d), Barrier(l),
			); err != nil {
				return err
			}
			// Sendrecv, the last of moves, is messages.
			if err := moves(l, &d); ranks > 1 && !errors.Is(err, errMessage) || ranks == 1 && err != nil {
				return err
			}
			if want := 2*12 + 2 + 1 + 10; l.calls != want {
				return fmt.Errorf("%d calls of the library's own, want %d", l.calls, want)
			}
			// With Messages none is.
			l.Communicator = comm
			c, err := New(l, &Settings{Messages: true})
			l.Communicator = silent{comm}
			if err != nil {
				return err
			}
			if err := Barrier(c); ranks > 1 && !errors.Is(err, errMessage) {
				return fmt.Errorf("Barrier with Messages: %v, want %w", err, errMessage)
			}
			return nil
		})
		if err != nil {
			t.Error(err)
		}
	}
}

// blockLibrary has collectives of equal blocks besides, and counts their calls.
type blockLibrary struct {
	*library
	equal int
}

func (l *blockLibrary) GatherBlocks(dst, src []byte, root int) error {
	l.equal++
	return Gather(l.below, dst, src, root)
}

func (l *blockLibrary) ScatterBlocks(dst, src []byte, root int) error {
	l.equal++
	return Scatter(l.below, dst, src, root)
}

func (l *blockLibrary) AllgatherBlocks(dst, src []byte) error {
	l.equal++
	return Allgather(l.below, dst, src)
}

func (l *blockLibrary) AlltoallBlocks(dst, src []byte) error {
	l.equal++
	return Alltoall(l.below, dst, src)
}

// Blocks of equal length go by the library's forms for these, others by those with counts.
func TestEqualBlocksGoByTheFormsForThem(t *testing.T) {
	err := local.Run(3, nil, func(comm mpi.Communicator) error {
		counted, err := newLibrary(comm)
		if err != nil {
			return err
		}
		l := &blockLibrary{library: counted}
		d := draw{n: 5, root: 2, counts: []int{2, 0, 3}}
		if err := moves(l, &d); err != nil {
			return err
		}
		// Gather, Scatter, Allgather twice, Alltoall; as many with counts.
		if l.equal != 5 || l.calls != 5 {
			return fmt.Errorf("%d calls for equal blocks and %d for others, want 5 and 5", l.equal, l.calls)
		}
		return nil
	})
	if err != nil {
		t.Error(err)
	}
}
