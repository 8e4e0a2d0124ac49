package harness

import (
	"fmt"
	"sync"
	"time"

	"github.com/topocast/topocast/mpi"
)

// A SilentError says that a rank has waited in vain for another one for as long as
// Settings.Silence allows. AllPairs has ended the job, and returns it where there
// is still somebody to return it to.
type SilentError struct {
	Rank, Peer        int    // who waits, for whom
	Host, PeerHost    string // "" if not known
	Repetition, Round int
	Doing             Doing
	Waited            time.Duration
}

// Doing is what ranks wait for each other in.
type Doing int

// What ranks do with each other.
const (
	Measuring  Doing = iota // the test of a pair: either of them may be the one that does not answer
	Meeting                 // the barrier before a round
	Delivering              // the delivery of rows to rank 0
)

func (e *SilentError) Error() string {
	on := func(rank int, host string) string {
		if host == "" {
			return fmt.Sprintf("rank %d", rank)
		}
		return fmt.Sprintf("rank %d on %s", rank, host)
	}
	self, peer, waited := on(e.Rank, e.Host), on(e.Peer, e.PeerHost), e.Waited.Round(time.Millisecond)
	round := fmt.Sprintf("round %d of repetition %d", e.Round, e.Repetition)
	switch e.Doing {
	case Meeting:
		return fmt.Sprintf("%s has not come to %s, for which %s has waited for %v", peer, round, self, waited)
	case Delivering:
		return fmt.Sprintf("%s has not delivered what it measured before %s, for which %s has waited for %v", peer, round, self, waited)
	}
	return fmt.Sprintf("%s and %s have not ended %s for %v: one of them does not answer", self, peer, round, waited)
}

// A watch ends the job when its rank waits for too long. Ranks of a simulation are
// not watched, nor are those of other communicators that are no mpi.Failer: nobody
// could end what they wait in.
//
// It looks a few times per limit whether the rank still waits for the same as
// before, so that those who wait only count. What a rank is blamed for is true:
// exchanges are given the limit, and barriers twice the limit in their first step and
// once more in each further one. Of those that wait in a barrier, the
// first to give up is in the earliest step that any waits in, so the
// one that it waits for is not in the barrier; and it is not in an exchange
// either, which would have been given up before.
type watch struct {
	comm  mpi.Failer
	limit time.Duration
	quit  chan struct{}
	ended sync.WaitGroup

	mu     sync.Mutex
	what   SilentError
	limits int            // that are to pass; 0: the rank does not wait
	count  uint64         // of waits
	hosts  map[int]string // of the ranks that were met
	silent *SilentError   // why the job was ended
}

// looks is how often per limit the watch looks.
const looks = 8

// newWatch begins to watch the calling rank; nil if it cannot or is not to be watched.
func newWatch(comm mpi.Communicator, limit time.Duration) *watch {
	f, ok := comm.(mpi.Failer)
	if !ok || limit < 0 || comm.Size() == 1 {
		return nil
	}
	w := &watch{comm: f, limit: limit, quit: make(chan struct{}), hosts: make(map[int]string)}
	w.what.Rank = comm.Rank()
	w.ended.Go(w.look)
	return w
}

// look ends the job when the same wait is seen for as long as it may take.
func (w *watch) look() {
	ticker := time.NewTicker(max(w.limit/looks, 1))
	defer ticker.Stop()
	var last uint64
	var began time.Time
	for {
		select {
		case <-w.quit:
			return
		case <-ticker.C:
		}
		w.mu.Lock()
		if w.limits == 0 || w.count != last {
			last, began = w.count, time.Now()
		}
		waited := time.Since(began)
		if w.limits > 0 && waited >= time.Duration(w.limits)*w.limit {
			found := w.what
			found.Waited, found.Host, found.PeerHost = waited, w.hosts[found.Rank], w.hosts[found.Peer]
			w.silent = &found
			w.mu.Unlock()
			w.comm.Fail(&found)
			return
		}
		w.mu.Unlock()
	}
}

// at says which round is to come.
func (w *watch) at(repetition, round int) {
	if w == nil {
		return
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	w.what.Repetition, w.what.Round = repetition, round
}

// wait begins a wait for a rank, which may take so many limits.
func (w *watch) wait(peer int, doing Doing, limits int) {
	if w == nil {
		return
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	w.what.Peer, w.what.Doing, w.limits = peer, doing, limits
	w.count++
}

// done ends the wait.
func (w *watch) done() {
	if w == nil {
		return
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	w.limits = 0
}

// stop ends the watch, and returns why it has ended the job, or nil.
func (w *watch) stop() error {
	if w == nil {
		return nil
	}
	close(w.quit)
	w.ended.Wait()
	if w.silent == nil {
		return nil
	}
	return w.silent
}

// knows tells whether the host of a rank is known.
func (w *watch) knows(rank int) bool {
	_, ok := w.hosts[rank]
	return ok
}

// meets keeps the host of a rank.
func (w *watch) meets(rank int, host string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.hosts[rank] = host
}
