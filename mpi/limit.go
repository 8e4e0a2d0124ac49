package mpi

import (
	"fmt"
	"sync"
	"sync/atomic"
	"time"
)

// LimitCalls ends the job, with one line on standard error and status 1, when a call of the library on this
// rank lasts longer than the limit: another rank is stuck then, or busy with other work. It applies to all
// communicators of the process, costs some 10 ns per call, and ends when stop is called. A limit of 0 or
// less is none.
//
// If several ranks wait, rank 0 ends the job first, unless it is the one that the others wait for.
func (c *Comm) LimitCalls(limit time.Duration) (stop func()) {
	if limit <= 0 || c.size == 1 || c.lib.watch != nil {
		return func() {}
	}
	w := &callWatch{rank: c.rank, limit: limit, fail: c.Fail, lib: c.lib, quit: make(chan struct{})}
	w.looking.Go(w.look)
	c.lib.watch = w
	return sync.OnceFunc(func() {
		c.lib.watch = nil
		close(w.quit)
		w.looking.Wait()
	})
}

// A callWatch looks a few times per limit whether the rank is still in the same call. A call only notes that it
// begins and ends. The watch counts its looks instead of reading the clock: a machine that
// stands still does not look either.
type callWatch struct {
	rank     int
	limit    time.Duration
	fail     func(error)
	lib      *library
	quit     chan struct{}
	looking  sync.WaitGroup
	function atomic.Uintptr // that is called
	count    atomic.Uint64  // of begins and ends: odd during a call
}

// looksPerLimit is how often per limit the watch looks.
const looksPerLimit = 8

// begin notes that calls begin, of which the last one waits. Without a watch it does nothing, as beginCall and end do.
func (w *callWatch) begin(calls []batchCall) {
	if w != nil {
		w.beginCall(calls[len(calls)-1].function)
	}
}

func (w *callWatch) beginCall(function uintptr) {
	if w != nil {
		w.function.Store(function)
		w.count.Add(1)
	}
}

func (w *callWatch) end() {
	if w != nil {
		w.count.Add(1)
	}
}

// look ends the job when the rank is seen in one call for too long.
func (w *callWatch) look() {
	tick := max(w.limit/looksPerLimit, 1)
	// Each of the next ranks waits a little longer, until the job has ended.
	wanted := looksPerLimit + int(time.Duration(min(w.rank, 3))*betweenRanks/tick)
	ticker := time.NewTicker(tick)
	defer ticker.Stop()
	var seen uint64
	for times := 0; ; {
		select {
		case <-w.quit:
			return
		case <-ticker.C:
		}
		if count := w.count.Load(); count%2 == 0 || count != seen {
			seen, times = count, 0
			continue
		}
		if times++; times < wanted {
			continue
		}
		w.fail(&Error{w.lib.nameOf(w.function.Load()), w.rank, -1, -1, fmt.Errorf("some rank has not answered for %v", w.limit)})
		return
	}
}
