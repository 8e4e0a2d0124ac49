package mpi

import (
	"fmt"
	"sync"
	"sync/atomic"
	"time"
)

// A Limited is a Comm whose calls have a limit of time: see Comm.WithLimit.
type Limited struct {
	*Comm
	watch *limitWatch
}

// WithLimit returns c as a communicator that ends the job, with one line on standard error and status 1, when
// a rank waits in one of its calls for longer than the limit: another rank is stuck then, or at
// other work. It has every ability of c, and so have those that its Split and Dup make. Each call
// costs some 10 ns more. stop ends the watch; c goes on to be usable. A limit of 0 or less is none.
//
// What is told is true: the rank has waited for so long. Of several that wait, rank 0 has
// the first word, unless it is the one that they wait for.
func (c *Comm) WithLimit(limit time.Duration) (limited Communicator, stop func()) {
	if limit <= 0 || c.size == 1 {
		return c, func() {}
	}
	w := &limitWatch{rank: c.rank, limit: limit, fail: c.Fail, quit: make(chan struct{})}
	w.ended.Go(w.look)
	return &Limited{c, w}, sync.OnceFunc(func() {
		close(w.quit)
		w.ended.Wait()
	})
}

// A limitWatch looks a few times per limit whether the rank is still in the same call, so that calls only
// note that they begin and end. It counts looks, of which a machine that stands still has none.
type limitWatch struct {
	rank  int
	limit time.Duration
	fail  func(error)
	quit  chan struct{}
	ended sync.WaitGroup
	count uint64        // of calls, on the goroutine that makes them
	call  atomic.Uint64 // that goes on: its count, operation and peer; 0: none
}

// limitLooks is how often per limit the watch looks.
const limitLooks = 8

// The operations that may wait for others, by their names.
type limitedOp uint64

func (op limitedOp) String() string {
	return nameOf(int(op), "", "Send", "Ssend", "Recv", "Bcast", "Barrier", "Perform", "PingPong", "Split", "Dup", "Reduce",
		"Allreduce", "Gather", "Scatter", "Allgather", "Alltoall", "WaitAll", "WaitAny")
}

const (
	opSend limitedOp = iota + 1
	opSsend
	opRecv
	opBcast
	opBarrier
	opPerform
	opPingPong
	opSplit
	opDup
	opReduce
	opAllreduce
	opGather
	opScatter
	opAllgather
	opAlltoall
	opWaitAll
	opWaitAny
)

// noPeer is the peer of a call that has none, or several.
const noPeer = 1<<24 - 1

func (w *limitWatch) begin(op limitedOp, peer int) {
	w.count++
	w.call.Store(w.count<<32 | uint64(op)<<24 | uint64(peer)&noPeer)
}

func (w *limitWatch) end() { w.call.Store(0) }

// look ends the job when the rank is seen in one call for too long.
func (w *limitWatch) look() {
	tick := w.limit / limitLooks
	// The next rank waits a little longer, until the job has been ended.
	wanted := limitLooks + int(time.Duration(min(w.rank, 3))*leaveStep/max(tick, 1))
	ticker := time.NewTicker(max(tick, 1))
	defer ticker.Stop()
	var seen uint64
	for times := 0; ; {
		select {
		case <-w.quit:
			return
		case <-ticker.C:
		}
		call := w.call.Load()
		if call == 0 || call != seen {
			seen, times = call, 0
			continue
		}
		if times++; times < wanted {
			continue
		}
		peer := int(call & noPeer)
		if peer == noPeer {
			peer = -1
		}
		w.fail(&Error{limitedOp(call >> 24 & 0xff).String(), w.rank, peer, -1, fmt.Errorf("%w for %v", ErrSilent, w.limit)})
		return
	}
}

// Send is Comm.Send under the watch, as are the others that follow.
func (l *Limited) Send(buf []byte, dst, tag int) error {
	l.watch.begin(opSend, dst)
	defer l.watch.end()
	return l.Comm.Send(buf, dst, tag)
}

func (l *Limited) Ssend(buf []byte, dst, tag int) error {
	l.watch.begin(opSsend, dst)
	defer l.watch.end()
	return l.Comm.Ssend(buf, dst, tag)
}

func (l *Limited) Recv(buf []byte, src, tag int) error {
	l.watch.begin(opRecv, src)
	defer l.watch.end()
	return l.Comm.Recv(buf, src, tag)
}

func (l *Limited) Bcast(buf []byte, root int) error {
	l.watch.begin(opBcast, root)
	defer l.watch.end()
	return l.Comm.Bcast(buf, root)
}

func (l *Limited) Barrier() error {
	l.watch.begin(opBarrier, noPeer)
	defer l.watch.end()
	return l.Comm.Barrier()
}

func (l *Limited) Perform(buf []byte, steps []Step, tag int, ahead bool) (failed int, err error) {
	l.watch.begin(opPerform, noPeer)
	defer l.watch.end()
	return l.Comm.Perform(buf, steps, tag, ahead)
}

func (l *Limited) PingPong(samples []float64, peer, tag, size, iters int, first bool) error {
	l.watch.begin(opPingPong, peer)
	defer l.watch.end()
	return l.Comm.PingPong(samples, peer, tag, size, iters, first)
}

func (l *Limited) Reduce(values []byte, number NumberType, with Reduction, root int) error {
	l.watch.begin(opReduce, root)
	defer l.watch.end()
	return l.Comm.Reduce(values, number, with, root)
}

func (l *Limited) Allreduce(values []byte, number NumberType, with Reduction) error {
	l.watch.begin(opAllreduce, noPeer)
	defer l.watch.end()
	return l.Comm.Allreduce(values, number, with)
}

func (l *Limited) Gather(dst []byte, counts []int, src []byte, root int) error {
	l.watch.begin(opGather, root)
	defer l.watch.end()
	return l.Comm.Gather(dst, counts, src, root)
}

func (l *Limited) Scatter(dst, src []byte, counts []int, root int) error {
	l.watch.begin(opScatter, root)
	defer l.watch.end()
	return l.Comm.Scatter(dst, src, counts, root)
}

func (l *Limited) Allgather(dst []byte, counts []int, src []byte) error {
	l.watch.begin(opAllgather, noPeer)
	defer l.watch.end()
	return l.Comm.Allgather(dst, counts, src)
}

func (l *Limited) Alltoall(dst []byte, dstCounts []int, src []byte, srcCounts []int) error {
	l.watch.begin(opAlltoall, noPeer)
	defer l.watch.end()
	return l.Comm.Alltoall(dst, dstCounts, src, srcCounts)
}

func (l *Limited) Split(color, key int) (Communicator, error) {
	l.watch.begin(opSplit, noPeer)
	defer l.watch.end()
	return l.limited(l.Comm.Split(color, key))
}

func (l *Limited) Dup() (Communicator, error) {
	l.watch.begin(opDup, noPeer)
	defer l.watch.end()
	return l.limited(l.Comm.Dup())
}

// limited is a new communicator, if there is one, under the same watch.
func (l *Limited) limited(c Communicator, err error) (Communicator, error) {
	if c == nil || err != nil {
		return nil, err
	}
	return &Limited{c.(*Comm), l.watch}, nil
}

// NewRequests returns an empty set, whose waits are under the watch.
func (l *Limited) NewRequests() Requests {
	return &limitedRequests{l.Comm.NewRequests().(allRequests), l.watch}
}

// allRequests are all abilities of the requests of a Comm.
type allRequests interface {
	Requests
	AnyWaiter
	Tester
	Ibcaster
}

type limitedRequests struct {
	allRequests
	watch *limitWatch
}

func (r *limitedRequests) WaitAll() error {
	r.watch.begin(opWaitAll, noPeer)
	defer r.watch.end()
	return r.allRequests.WaitAll()
}

func (r *limitedRequests) WaitAny() (int, error) {
	r.watch.begin(opWaitAny, noPeer)
	defer r.watch.end()
	return r.allRequests.WaitAny()
}
