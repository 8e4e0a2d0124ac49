package local

import (
	"fmt"
	"io"
	"math"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/topocast/topocast/mpi"
)

// A job is what the two kinds of world have in common.
type job struct {
	host     string
	start    time.Time
	cpus     []int // that the process may use; nil: not known
	movers   []mover
	contexts atomic.Int64 // number of communicators made
	all      []mpi.Communicator

	mu       sync.Mutex
	ended    error       // what has ended the world; guarded by mu
	hasEnded atomic.Bool // ended is set
}

// A mover moves the messages of one rank. It belongs to the goroutine of the rank. Errors are the sentinels of
// package mpi, and mpi.ErrAborted once the world has ended. Peers are ranks in the communicator.
type mover interface {
	// send and recv block. A synchronous send returns when the message has been received.
	send(c *comm, op string, buf []byte, dst, tag int, synchronous bool) error
	recv(c *comm, buf []byte, src, tag int) error

	// begin starts a transfer of a set of requests, and finish waits for it and takes it back. op is the name of
	// the operation that waits.
	begin(q *requests, buf []byte, peer, tag int, receives bool) (*transfer, error)
	finish(op string, r request) error

	// advance does for transfers under way what can be done without waiting. isDone tells whether a transfer is
	// complete.
	advance()
	isDone(t *transfer) bool

	// rest gives way to others after a Test in vain. waitAny waits until one of the set may be complete. It
	// tells whether to look again; r is one that is not.
	rest()
	waitAny(q *requests, r request) bool

	// await waits in a collective operation until a counter has a value, and tells whether it has. If not, the
	// world has ended. root is -1 where there is none. wake lets ranks look again at their counters.
	await(c *comm, op string, root int, counter *atomic.Int64, value int64) bool
	wake(worldRanks []int)

	// end ends the world, unless it is ending already.
	end(cause error)

	// core is the CPU to which the rank is bound, -1 if it is bound to none.
	core() int

	// communicator returns what the rank shows of c to its user.
	communicator(c *comm) mpi.Communicator
}

// A comm is one rank's view of a group of ranks. It has what the modes have in common: the checks, sets of
// requests, Bcast and Split.
type comm struct {
	job     *job
	mover   mover
	rank    int
	group   []int // rank in the communicator -> rank in the world
	context int   // tells the messages of communicators apart
	isOpen  bool

	shared     *shared
	broadcasts int64 // number of broadcasts begun
	splits     int64 // number of Splits begun
}

var _ interface {
	mpi.Communicator
	mpi.SyncSender
	mpi.NonBlocking
	mpi.Clock
	mpi.Placed
	mpi.Splitter
	mpi.NativeBcast
	mpi.Failer
	io.Closer
} = (*comm)(nil)

// init starts the clock of a job. The world then adds the movers and calls makeWorld.
func (j *job) init(host string, cpus []int) {
	j.host, j.start, j.cpus = host, time.Now(), cpus
}

// makeWorld makes the communicators of all ranks.
func (j *job) makeWorld() {
	group := make([]int, len(j.movers))
	for rank := range group {
		group[rank] = rank
	}
	j.all = j.newComms(group)
}

// newComms makes the communicators of a group of ranks of the world.
func (j *job) newComms(group []int) []mpi.Communicator {
	comms := make([]mpi.Communicator, len(group))
	s := &shared{shown: make([]shown, len(group))}
	context := int(j.contexts.Add(1))
	for rank, worldRank := range group {
		m := j.movers[worldRank]
		comms[rank] = m.communicator(&comm{job: j, mover: m, rank: rank, group: group, context: context, isOpen: true, shared: s})
	}
	return comms
}

// setEnd notes what ends the world, and tells whether nothing has ended it before. The caller holds the lock.
func (j *job) setEnd(cause error) bool {
	if j.ended != nil {
		return false
	}
	j.ended = cause
	j.hasEnded.Store(true)
	return true
}

// cause is what has ended the world, or nil.
func (j *job) cause() error {
	j.mu.Lock()
	defer j.mu.Unlock()
	return j.ended
}

func (c *comm) Rank() int { return c.rank }
func (c *comm) Size() int { return len(c.group) }

// Close makes the communicator unusable on this rank. No other rank may go on using it. Closing again does nothing.
func (c *comm) Close() error {
	c.isOpen = false
	return nil
}

// Send returns at once or when the message has been received, as the Mode has it.
func (c *comm) Send(buf []byte, dst, tag int) error { return c.send("Send", buf, dst, tag, false) }

// Ssend returns when the message has been received.
func (c *comm) Ssend(buf []byte, dst, tag int) error { return c.send("Ssend", buf, dst, tag, true) }

func (c *comm) send(op string, buf []byte, dst, tag int, synchronous bool) error {
	if err := c.check(op, len(buf), dst, tag); err != nil {
		return err
	}
	if err := c.mover.send(c, op, buf, dst, tag, synchronous); err != nil {
		return c.fail(op, dst, tag, err)
	}
	return nil
}

// Recv receives a message of len(buf) bytes.
func (c *comm) Recv(buf []byte, src, tag int) error {
	if err := c.check("Recv", len(buf), src, tag); err != nil {
		return err
	}
	if err := c.mover.recv(c, buf, src, tag); err != nil {
		return c.fail("Recv", src, tag, err)
	}
	return nil
}

// Now is the time since the world's start in s.
func (c *comm) Now() float64 { return time.Since(c.job.start).Seconds() }

// Place is the logical CPU to which the rank is bound. A rank that is bound to none may run on all CPUs of the process.
func (c *comm) Place() mpi.Place {
	p := mpi.Place{Host: c.job.host, Core: c.mover.core()}
	if p.Core < 0 {
		p.CPUs = slices.Clone(c.job.cpus)
	} else {
		p.CPUs = []int{p.Core}
	}
	return p
}

// Fail ends the world: Run returns the error.
func (c *comm) Fail(err error) {
	c.mover.end(fmt.Errorf("local: rank %d: %w", c.group[c.rank], err))
}

// address puts context and tag into one word. MaxTag takes 15 bits.
func (c *comm) address(tag int) uint64 { return uint64(c.context)<<15 | uint64(tag) }

func (c *comm) fail(op string, peer, tag int, err error) error {
	return &mpi.Error{Op: op, Rank: c.rank, Peer: peer, Tag: tag, Err: err}
}

// check finds wrong arguments of an operation before anything is sent.
func (c *comm) check(op string, size, peer, tag int) error {
	switch {
	case !c.isOpen:
		return c.fail(op, peer, tag, mpi.ErrClosed)
	case peer < 0 || peer >= len(c.group) || peer == c.rank:
		return c.fail(op, peer, tag, mpi.ErrRank)
	case tag < 0 || tag > mpi.MaxTag:
		return c.fail(op, peer, tag, mpi.ErrTag)
	}
	return c.checkCount(op, size, peer, tag)
}

// checkCollective finds that the communicator cannot be used for an operation of all ranks.
func (c *comm) checkCollective(op string, root int) error {
	switch {
	case !c.isOpen:
		return c.fail(op, root, -1, mpi.ErrClosed)
	case c.job.hasEnded.Load():
		return c.fail(op, root, -1, mpi.ErrAborted)
	}
	return nil
}

// checkCount refuses sizes that do not fit MPI's counts, which are C ints.
func (c *comm) checkCount(op string, size, peer, tag int) error {
	if size < 0 || size > math.MaxInt32 {
		return c.fail(op, peer, tag, fmt.Errorf("%w: %d bytes", mpi.ErrCount, size))
	}
	return nil
}

// lengthError compares the length of a message with that of its buffer.
func lengthError(message, buffer int) error {
	switch {
	case message > buffer:
		return fmt.Errorf("%w: %d bytes into %d", mpi.ErrTruncated, message, buffer)
	case message < buffer:
		return fmt.Errorf("%w: %d bytes into %d", mpi.ErrLength, message, buffer)
	}
	return nil
}
