package reduce

import (
	"fmt"
	"slices"
	"unsafe"

	"github.com/topocast/topocast/bcast/schedule"
	"github.com/topocast/topocast/mpi"
)

// An executor performs steps over the requests of a communicator. Receives are posted ahead, into memory of their own. A
// send is awaited when its values are about to change.
type executor struct {
	comm     mpi.Communicator
	tag      int
	requests mpi.NonBlocking
	receives [schedule.ReceivesAhead]receiving
	sends    []sending // as many as were ever under way at once
	posted   int       // receives of the steps under way
	copied   memory
	held     memory // by the last Hold
}

type receiving struct {
	set mpi.Requests
	memory
}

// A sending has values under way.
type sending struct {
	set      mpi.Requests
	from, to int // values; equal: none
}

// newExecutor returns nil if the communicator has no requests.
func newExecutor(comm mpi.Communicator, tag int) *executor {
	nb, ok := comm.(mpi.NonBlocking)
	if !ok {
		return nil
	}
	e := &executor{comm: comm, tag: tag, requests: nb}
	for i := range e.receives {
		e.receives[i].set = nb.NewRequests()
	}
	return e
}

// run performs the steps on values, with f to combine into with from.
func run[T any](e *executor, list []schedule.Op, values []T, f func(into, from []T)) error {
	e.posted = 0
	ahead, taken := 0, 0 // the step up to which receives are posted, and the receives that are done
	for _, s := range list {
		for ; ahead < len(list) && e.posted-taken < schedule.ReceivesAhead; ahead++ {
			if next := list[ahead]; next.Kind.Receives() {
				r := &e.receives[e.posted%schedule.ReceivesAhead]
				if err := r.set.Irecv(bytesOf(room[T](&r.memory, next.Length)), next.Peer, e.tag); err != nil {
					return fmt.Errorf("%v: %w", next, err)
				}
				e.posted++
			}
		}
		own := values[s.Offset : s.Offset+s.Length]
		if s.Kind == schedule.Send {
			if err := e.send(bytesOf(own), s); err != nil {
				return fmt.Errorf("%v: %w", s, err)
			}
			continue
		}
		if s.Kind == schedule.CombineHeld {
			f(own, room[T](&e.held, len(own)))
			continue
		}
		r := &e.receives[taken%schedule.ReceivesAhead]
		taken++
		err := r.set.WaitAll()
		if err == nil {
			err = e.awaitSends(s.Offset, s.Offset+s.Length)
		}
		if err != nil {
			return fmt.Errorf("%v: %w", s, err)
		}
		received := room[T](&r.memory, len(own))
		switch s.Kind {
		case schedule.Combine:
			f(own, received)
		case schedule.Hold:
			copy(room[T](&e.held, len(own)), own)
			copy(own, received)
		default:
			copy(own, received)
		}
	}
	if err := e.awaitSends(0, len(values)); err != nil {
		return fmt.Errorf("sends: %w", err)
	}
	return nil
}

// send starts to send. It waits for nothing: the peer may have to receive from this rank before it receives this.
func (e *executor) send(buf []byte, s schedule.Op) error {
	i := slices.IndexFunc(e.sends, func(x sending) bool { return x.from == x.to })
	if i < 0 {
		i = len(e.sends)
		e.sends = append(e.sends, sending{set: e.requests.NewRequests()})
	}
	x := &e.sends[i]
	x.from, x.to = s.Offset, s.Offset+s.Length
	return x.set.Isend(buf, s.Peer, e.tag)
}

// awaitSends waits for the sends of any of the values [from, to).
func (e *executor) awaitSends(from, to int) error {
	for i := range e.sends {
		if x := &e.sends[i]; x.from < to && from < x.to {
			if err := x.await(); err != nil {
				return err
			}
		}
	}
	return nil
}

func (x *sending) await() error {
	if x.from == x.to {
		return nil
	}
	x.from, x.to = 0, 0
	return x.set.WaitAll()
}

// A memory is room for values of any type, which is kept.
type memory struct{ words []uint64 }

// room is room for n values in m. What was there is there until it grows.
func room[T any](m *memory, n int) []T {
	var x T
	if words := (n*int(unsafe.Sizeof(x)) + 7) / 8; words > len(m.words) {
		m.words = make([]uint64, words)
	}
	return unsafe.Slice((*T)(unsafe.Pointer(unsafe.SliceData(m.words))), n)
}

// bytesOf is the memory of values.
func bytesOf[T any](s []T) []byte {
	var x T
	return unsafe.Slice((*byte)(unsafe.Pointer(unsafe.SliceData(s))), len(s)*int(unsafe.Sizeof(x)))
}

// reinterpret is the memory of values as values of another type of the same size.
func reinterpret[To, From any](s []From) []To {
	return unsafe.Slice((*To)(unsafe.Pointer(unsafe.SliceData(s))), len(s))
}
