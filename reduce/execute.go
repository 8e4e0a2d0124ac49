package reduce

import (
	"fmt"
	"unsafe"

	"github.com/topocast/topocast/mpi"
	"github.com/topocast/topocast/reduce/steps"
)

const (
	receivesAhead = 4 // that are posted before their step has come
	sendsBehind   = 8 // that may still be under way
)

// An executor performs steps over the requests of a communicator. Receives are posted ahead, into memory of their own. A
// send is awaited when its values are about to change.
type executor struct {
	comm     mpi.Communicator
	tag      int
	receives [receivesAhead]receiving
	sends    [sendsBehind]sending
	posted   int // receives of the steps under way
	begun    int // sends
	copied   memory
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
	e := &executor{comm: comm, tag: tag}
	for i := range e.receives {
		e.receives[i].set = nb.NewRequests()
	}
	for i := range e.sends {
		e.sends[i].set = nb.NewRequests()
	}
	return e
}

// run performs the steps on values, with f to combine into with from.
func run[T any](e *executor, list []steps.Step, values []T, f func(into, from []T)) error {
	e.posted, e.begun = 0, 0
	ahead, taken := 0, 0 // the step up to which receives are posted, and the receives that are done
	for _, s := range list {
		for ; ahead < len(list) && e.posted-taken < receivesAhead; ahead++ {
			if next := list[ahead]; !next.Kind.IsSend() {
				r := &e.receives[e.posted%receivesAhead]
				if err := r.set.Irecv(bytesOf(room[T](&r.memory, next.To-next.From)), next.Peer, e.tagOf(next)); err != nil {
					return fmt.Errorf("%v: %w", next, err)
				}
				e.posted++
			}
		}
		if s.Kind.IsSend() {
			if err := e.send(bytesOf(values[s.From:s.To]), s); err != nil {
				return fmt.Errorf("%v: %w", s, err)
			}
			continue
		}
		r := &e.receives[taken%receivesAhead]
		taken++
		err := r.set.WaitAll()
		if err == nil {
			err = e.awaitSends(s.From, s.To)
		}
		if err != nil {
			return fmt.Errorf("%v: %w", s, err)
		}
		if received := room[T](&r.memory, s.To-s.From); s.Kind == steps.Combine {
			f(values[s.From:s.To], received)
		} else {
			copy(values[s.From:s.To], received)
		}
	}
	if err := e.awaitSends(0, len(values)); err != nil {
		return fmt.Errorf("sends: %w", err)
	}
	return nil
}

// send starts to send. The oldest of the sends under way is awaited first if there are too many.
func (e *executor) send(buf []byte, s steps.Step) error {
	x := &e.sends[e.begun%sendsBehind]
	e.begun++
	if err := x.await(); err != nil {
		return err
	}
	x.from, x.to = s.From, s.To
	return x.set.Isend(buf, s.Peer, e.tagOf(s))
}

// tagOf is the tag of a step's message: results have one of their own.
func (e *executor) tagOf(s steps.Step) int {
	if s.Kind.IsResult() {
		return e.tag - 1
	}
	return e.tag
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
