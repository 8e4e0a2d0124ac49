package harness

import (
	"fmt"
	"sync"
	"time"

	"github.com/topocast/topocast/internal/share"
	"github.com/topocast/topocast/mpi"
)

// A SilentError says that a rank has waited in vain for another one for as long as
// the measurement's Silence allows. The measurement has ended the job, and returns it where
// there is still somebody to return it to.
type SilentError struct {
	Rank, Peer        int    // who waits, for whom
	Host, PeerHost    string // "" if not known
	Repetition, Round int
	Waited            time.Duration

	doing doing
}

// doing is what ranks wait for each other in.
type doing int

// What ranks do with each other.
const (
	measuring  doing = iota // the test of a pair: either of them may be the one that does not answer
	meeting                 // the barrier before a round
	delivering              // the delivery of rows to rank 0
	sharing                 // transfers between several ranks at the same time: any of them may be the one
	hearing                 // the word of rank 0 of what comes next
	beginning               // a part of the measurement
)

// What ranks do other than to measure in pairs takes several times the limit.
const (
	// meetLimits are for the exchange of one that has not come to a barrier yet, in its first step; each further one takes one more.
	meetLimits = 2
	// reportLimits are for what others tell once their exchange is over, which is
	// itself given one limit.
	reportLimits = 2
	// hearLimits are for the word of rank 0, and for its coming to a part of a measurement, which thinks between rounds: it plans,
	// reconstructs and fits, and collects from all.
	hearLimits = 12
)

// noRepetition is the repetition of a measurement that has none.
const noRepetition = -1

func (e *SilentError) Error() string {
	on := func(rank int, host string) string {
		if host == "" {
			return fmt.Sprintf("rank %d", rank)
		}
		return fmt.Sprintf("rank %d on %s", rank, host)
	}
	self, peer, waited := on(e.Rank, e.Host), on(e.Peer, e.PeerHost), e.Waited.Round(time.Millisecond)
	round := fmt.Sprintf("round %d of repetition %d", e.Round, e.Repetition)
	if e.Repetition == noRepetition {
		round = fmt.Sprintf("round %d", e.Round)
	}
	switch e.doing {
	case meeting:
		return fmt.Sprintf("%s has not come to %s, for which %s has waited for %v", peer, round, self, waited)
	case delivering:
		return fmt.Sprintf("%s has not delivered what it measured before %s, for which %s has waited for %v", peer, round, self, waited)
	case sharing:
		return fmt.Sprintf("transfers of %s with %s and others in %s have not ended for %v: one of them does not answer", self, peer, round, waited)
	case beginning:
		return fmt.Sprintf("%s has not begun part %d of the measurement, for which %s has waited for %v", peer, e.Round, self, waited)
	case hearing:
		return fmt.Sprintf("%s has heard nothing from %s after %s for %v", self, peer, round, waited)
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
// first to give up is in the earliest step that any waits in. So the
// one that it waits for is not in the barrier. It is not in an exchange
// either, which would have been given up before.
type watch struct {
	comm  mpi.Communicator
	job   mpi.Failer // comm
	limit time.Duration
	quit  chan struct{}
	ended sync.WaitGroup

	mu     sync.Mutex
	what   SilentError
	limits int          // that are to pass; 0: the rank does not wait
	count  uint64       // of waits
	places []mpi.Place  // of all ranks; nil: not known yet
	silent *SilentError // why the job was ended

	// Of the looks.
	seen  uint64    // count at the last one
	times int       // that the same wait was seen again
	since time.Time // the first of them
}

// watched calls work with a watch of the calling rank. The watch is nil, and then does nothing, where the rank cannot be
// watched. The silence of rank 0 applies: 0 is 5 minutes, a negative one no watch. If the watch has ended the job, its
// error takes the place of the error of work. It is collective. It takes one message to each rank. Where ranks are watched
// it also takes the messages of mpi.Places, so that errors name hosts.
func watched(comm mpi.Communicator, silence time.Duration, work func(*watch) error) error {
	if silence == 0 {
		silence = defaultSilence
	}
	if _, failed := share.Binomial(comm, 0, tagData).TellValue(&silence, nil); failed != nil {
		return fmt.Errorf("harness: sharing how long a rank may be silent: %w", failed)
	}
	w := newWatch(comm, silence)
	w.at(noRepetition, 0)
	err := w.askPlaces()
	if err == nil {
		err = work(w)
	}
	if silent := w.stop(); silent != nil { // it has ended what the communicator was doing
		return silent
	}
	return err
}

// askPlaces finds out where all ranks run.
func (w *watch) askPlaces() error {
	if w == nil {
		return nil
	}
	w.wait(0, hearing, hearLimits)
	defer w.done()
	places, err := mpi.Places(w.comm)
	w.mu.Lock()
	defer w.mu.Unlock()
	w.places = places
	return err
}

// host is that of a rank; "" if it is not known.
func (w *watch) host(rank int) string {
	if w.places == nil {
		return ""
	}
	return w.places[rank].Host
}

// looks is how often per limit the watch looks.
const looks = 8

// newWatch begins to watch the calling rank; nil if it cannot or is not to be watched.
func newWatch(comm mpi.Communicator, limit time.Duration) *watch {
	f, ok := comm.(mpi.Failer)
	if !ok || limit < 0 || comm.Size() == 1 {
		return nil
	}
	w := &watch{comm: comm, job: f, limit: limit, quit: make(chan struct{})}
	w.what.Rank = comm.Rank()
	w.ended.Go(w.look)
	return w
}

// look ends the job when the same wait is seen for as long as it may take.
func (w *watch) look() {
	ticker := time.NewTicker(max(w.limit/looks, 1))
	defer ticker.Stop()
	for {
		select {
		case <-w.quit:
			return
		case now := <-ticker.C:
			if w.overdue(now) {
				w.job.Fail(w.silent)
				return
			}
		}
	}
}

// overdue tells, at each look, whether the rank waits for too long. It counts looks, of which a machine
// that stands still has none: what a suspended process missed is not the others' silence.
func (w *watch) overdue(now time.Time) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.limits == 0 || w.count != w.seen {
		w.seen, w.times, w.since = w.count, 0, now
		return false
	}
	if w.times++; w.times < w.limits*looks {
		return false
	}
	found := w.what
	found.Waited, found.Host, found.PeerHost = now.Sub(w.since), w.host(found.Rank), w.host(found.Peer)
	w.silent = &found
	return true
}

// change changes what the rank waits for, if it is watched.
func (w *watch) change(apply func()) {
	if w == nil {
		return
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	apply()
}

// at says which round of which repetition is to come; noRepetition where there are none.
func (w *watch) at(repetition, round int) {
	w.change(func() { w.what.Repetition, w.what.Round = repetition, round })
}

// next says that the next round is to come.
func (w *watch) next() {
	w.change(func() { w.what.Round++ })
}

// wait begins a wait for a rank, which may take so many limits.
func (w *watch) wait(peer int, doing doing, limits int) {
	w.change(func() {
		w.what.Peer, w.what.doing, w.limits = peer, doing, limits
		w.count++
	})
}

// done ends the wait.
func (w *watch) done() {
	w.change(func() { w.limits = 0 })
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
