package harness

import (
	"encoding/binary"
	"fmt"
	"sync"
	"time"

	"github.com/topocast/topocast/mpi"
)

// A SilentError says that a rank has waited in vain for another one for as long as
// the measurement's Silence allows. The measurement has ended the job, and returns it where
// there is still somebody to return it to.
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
	Sharing                 // transfers between several ranks at the same time: any of them may be the one
	Hearing                 // the word of rank 0 of what comes next
)

// What ranks do other than to measure in pairs takes several times the limit.
const (
	// reportLimits are for what others tell once their exchange is over, which is
	// itself given one limit.
	reportLimits = 2
	// HearLimits are for the word of rank 0, which thinks between rounds: it plans,
	// reconstructs and fits, and collects from all.
	HearLimits = 12
)

// NoRepetition is the repetition of a measurement that has none.
const NoRepetition = -1

func (e *SilentError) Error() string {
	on := func(rank int, host string) string {
		if host == "" {
			return fmt.Sprintf("rank %d", rank)
		}
		return fmt.Sprintf("rank %d on %s", rank, host)
	}
	self, peer, waited := on(e.Rank, e.Host), on(e.Peer, e.PeerHost), e.Waited.Round(time.Millisecond)
	round := fmt.Sprintf("round %d of repetition %d", e.Round, e.Repetition)
	if e.Repetition == NoRepetition {
		round = fmt.Sprintf("round %d", e.Round)
	}
	switch e.Doing {
	case Meeting:
		return fmt.Sprintf("%s has not come to %s, for which %s has waited for %v", peer, round, self, waited)
	case Delivering:
		return fmt.Sprintf("%s has not delivered what it measured before %s, for which %s has waited for %v", peer, round, self, waited)
	case Sharing:
		return fmt.Sprintf("transfers of %s with %s and others in %s have not ended for %v: one of them does not answer", self, peer, round, waited)
	case Hearing:
		return fmt.Sprintf("%s has heard nothing from %s after %s for %v", self, peer, round, waited)
	}
	return fmt.Sprintf("%s and %s have not ended %s for %v: one of them does not answer", self, peer, round, waited)
}

// A Watch ends the job when its rank waits for too long. Ranks of a simulation are
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
type Watch struct {
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

// Watched calls work with a watch of the calling rank, which is nil, and then does
// nothing, where it cannot be watched. The silence of rank 0 counts: 0 is 5 minutes, a negative one
// no watch. If the watch has ended the job, its error takes the place of that of work. Work
// says what it waits for (Wait, Done), and its barriers do so by themselves (Barrier.Under). It is collective. It
// takes one message to each rank, and where ranks are watched those of mpi.Places, so that errors name hosts.
func Watched(comm mpi.Communicator, silence time.Duration, work func(*Watch) error) error {
	if silence == 0 {
		silence = defaultSilence
	}
	word, err := Tell(comm, binary.LittleEndian.AppendUint64(nil, uint64(silence)))
	if err != nil {
		return fmt.Errorf("harness: sharing how long a rank may be silent: %w", err)
	}
	if len(word) != 8 {
		return fmt.Errorf("harness: sharing how long a rank may be silent: %d bytes: want 8", len(word))
	}
	w := newWatch(comm, time.Duration(binary.LittleEndian.Uint64(word)))
	w.At(NoRepetition, 0)
	if err = w.askPlaces(); err == nil {
		err = work(w)
	}
	if silent := w.stop(); silent != nil { // it has ended what the communicator was doing
		return silent
	}
	return err
}

// askPlaces finds out where all ranks run.
func (w *Watch) askPlaces() error {
	if w == nil {
		return nil
	}
	w.Wait(0, Hearing, HearLimits)
	defer w.Done()
	places, err := mpi.Places(w.comm)
	w.mu.Lock()
	defer w.mu.Unlock()
	w.places = places
	return err
}

// host is that of a rank; "" if it is not known.
func (w *Watch) host(rank int) string {
	if w.places == nil {
		return ""
	}
	return w.places[rank].Host
}

// looks is how often per limit the watch looks.
const looks = 8

// newWatch begins to watch the calling rank; nil if it cannot or is not to be watched.
func newWatch(comm mpi.Communicator, limit time.Duration) *Watch {
	f, ok := comm.(mpi.Failer)
	if !ok || limit < 0 || comm.Size() == 1 {
		return nil
	}
	w := &Watch{comm: comm, job: f, limit: limit, quit: make(chan struct{})}
	w.what.Rank = comm.Rank()
	w.ended.Go(w.look)
	return w
}

// look ends the job when the same wait is seen for as long as it may take.
func (w *Watch) look() {
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
func (w *Watch) overdue(now time.Time) bool {
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

// At says which round of which repetition is to come; NoRepetition where there are none.
func (w *Watch) At(repetition, round int) {
	if w == nil {
		return
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	w.what.Repetition, w.what.Round = repetition, round
}

// Wait begins a wait for a rank, which may take so many limits.
func (w *Watch) Wait(peer int, doing Doing, limits int) {
	if w == nil {
		return
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	w.what.Peer, w.what.Doing, w.limits = peer, doing, limits
	w.count++
}

// Done ends the wait.
func (w *Watch) Done() {
	if w == nil {
		return
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	w.limits = 0
}

// stop ends the watch, and returns why it has ended the job, or nil.
func (w *Watch) stop() error {
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

// Next says that the next round is to come.
func (w *Watch) Next() {
	if w == nil {
		return
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	w.what.Round++
}
