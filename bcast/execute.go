package bcast

import (
	"errors"
	"fmt"

	"github.com/topocast/topocast/bcast/schedule"
	"github.com/topocast/topocast/mpi"
)

// An executor performs the steps of its rank over a communicator: all of them in one call (mpi.Scheduler), or by sets
// of requests (mpi.NonBlocking), or one by one.
type executor struct {
	comm      mpi.Communicator
	tag       int
	scheduler mpi.Scheduler               // nil: none
	sets      *[mpi.StepSets]mpi.Requests // nil: no NonBlocking
	groups    *groups                     // nil: no broadcasts in groups
	current   program                     // what is performed, or was last
	pending   Pending                     // of Ibcast

	// failure is the first error. The sets may hold transfers from then on that never end, as the other ranks have
	// gone: they are neither waited for nor used again. While a broadcast is under way it is errUnderWay.
	failure error
}

// errUnderWay keeps everything else away from a broadcast that Ibcast has begun.
var errUnderWay = errors.New("a broadcast is under way: wait for it first")

func newExecutor(comm mpi.Communicator, tag int) *executor {
	e := &executor{comm: comm, tag: tag}
	e.scheduler, _ = comm.(mpi.Scheduler)
	if nb, ok := comm.(mpi.NonBlocking); ok {
		e.sets = new([mpi.StepSets]mpi.Requests)
		for i := range e.sets {
			e.sets[i] = nb.NewRequests()
		}
	}
	return e
}

// note keeps the first error, and returns the one given.
func (e *executor) note(err error) error {
	if e.failure == nil || e.failure == errUnderWay {
		e.failure = err
	}
	return err
}

// usable is nil as long as nothing has failed and nothing is under way.
func (e *executor) usable() error {
	switch e.failure {
	case nil:
		return nil
	case errUnderWay:
		return fmt.Errorf("bcast: rank %d: %w", e.comm.Rank(), errUnderWay)
	}
	return fmt.Errorf("bcast: rank %d: the communicator is unusable since: %w", e.comm.Rank(), e.failure)
}

// canOverlap reports whether several transfers can be under way at once.
func (e *executor) canOverlap() bool { return e.scheduler != nil || e.sets != nil }

// shortBytes is a message that libraries take from a Send at once. (Open MPI's shared memory takes up to about a
// kilobyte into a mailbox. A longer Send ends when the receiver has been there, though it is buffered.)
const shortBytes = 256

// A program is what a rank does in one broadcast: steps as communicators perform them, and the native broadcasts in
// groups between them.
type program struct {
	steps   []mpi.Step
	natives []nativeStep
	ops     []schedule.Op // scratch
}

// A nativeStep is a native broadcast in a group that comes before a step.
type nativeStep struct {
	before int // index of the step
	op     schedule.Op
}

// mode is how a message of the given bytes is best sent in so many steps.
func (e *executor) mode(bytes, steps int, blocking bool) schedule.Mode {
	switch {
	case !e.canOverlap():
		return schedule.OneByOne
	case blocking || bytes <= shortBytes || steps < 2:
		return schedule.InOrder
	}
	return schedule.Pipelined
}

// lower makes the program of the steps in ops.
func (e *executor) lower(p *program, mode schedule.Mode) {
	p.steps, p.natives = p.steps[:0], p.natives[:0]
	from := 0
	for i, op := range p.ops {
		if op.Kind == schedule.Native {
			p.steps = schedule.Lower(p.steps, p.ops[from:i], e.comm.Rank(), mode)
			p.natives = append(p.natives, nativeStep{len(p.steps), op})
			from = i + 1
		}
	}
	p.steps = schedule.Lower(p.steps, p.ops[from:], e.comm.Rank(), mode)
}

// run performs the current program on buf.
func (e *executor) run(buf []byte) error {
	p, from := &e.current, 0
	for _, n := range p.natives {
		if err := e.perform(p.steps[from:n.before], buf); err != nil {
			return err
		}
		if err := e.groups.broadcast(n.op, buf); err != nil {
			return fmt.Errorf("bcast: rank %d: %v: %w", e.comm.Rank(), n.op, err)
		}
		from = n.before
	}
	return e.perform(p.steps[from:], buf)
}

// perform performs steps in one call, or one after the other.
func (e *executor) perform(steps []mpi.Step, buf []byte) error {
	if len(steps) == 0 {
		return nil
	}
	if e.scheduler != nil {
		if failed, err := e.scheduler.Perform(buf, steps, e.tag); err != nil {
			return e.failed(steps[failed], err)
		}
		return nil
	}
	_, _, err := e.proceed(steps, buf, waitAll)
	return err
}

// A waitFunc completes the transfers of a set, and reports whether it could: one that does not wait may not.
type waitFunc func(mpi.Requests) (bool, error)

func waitAll(set mpi.Requests) (bool, error) { return true, set.WaitAll() }

func test(set mpi.Requests) (bool, error) { return set.Test() }

// proceed performs steps until all are done or wait could not, and returns how many are done.
func (e *executor) proceed(steps []mpi.Step, buf []byte, wait waitFunc) (n int, done bool, err error) {
	for i := range steps {
		s := &steps[i]
		switch s.Kind {
		case mpi.StepWait:
			done, err := wait(e.sets[s.Set])
			if err != nil {
				return i, false, e.failed(*s, err)
			}
			if !done {
				return i, false, nil
			}
			continue
		case mpi.StepSend:
			err = e.comm.Send(buf[s.Offset:s.Offset+s.Length], s.Peer, e.tag)
		case mpi.StepRecv:
			err = e.comm.Recv(buf[s.Offset:s.Offset+s.Length], s.Peer, e.tag)
		case mpi.StepStartSend:
			err = e.sets[s.Set].Isend(buf[s.Offset:s.Offset+s.Length], s.Peer, e.tag)
		case mpi.StepStartRecv:
			err = e.sets[s.Set].Irecv(buf[s.Offset:s.Offset+s.Length], s.Peer, e.tag)
		}
		if err != nil {
			return i, false, e.failed(*s, err)
		}
	}
	return len(steps), true, nil
}

func (e *executor) failed(s mpi.Step, err error) error {
	return fmt.Errorf("bcast: rank %d: %v: %w", e.comm.Rank(), s, err)
}
