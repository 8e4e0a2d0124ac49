package tuner

import (
	"cmp"
	"math"
	"runtime"
	"time"

	"github.com/topocast/topocast/internal/share"
	"github.com/topocast/topocast/mpi"
)

// A Stopwatch takes the time of broadcasts from the moment the root starts until the last rank
// has the data. All of its functions but Doubt are collective, and give the same arguments on all
// ranks. After an error the communicator is unusable.
type Stopwatch struct {
	comm           mpi.Communicator
	tag            int
	clocks         *clocks
	tree           *share.Tree  // of rank 0, where times are collected and decisions made
	oversubscribed bool         // some host has more ranks than cores
	rest           func()       // gives the other ranks time to enter the broadcast
	barrier        func() error // lets all ranks begin at once; nil: they wait for the root
}

// A Sample is what one round says of one variant.
type Sample struct {
	Cold float64 // s, of a broadcast among ranks that wait for it
	Hot  float64 // s, of one of several back to back: the time of all over their number
}

// NewStopwatch is collective: it compares the clocks of the ranks. hosts tells for each rank on
// which host it runs, as a number; that of rank 0 counts; nil: all on one. oversubscribed says
// that ranks share cores. A rank then sleeps, so that the others come.
// Messages use the tag.
func NewStopwatch(comm mpi.Communicator, tag int, hosts []int, oversubscribed bool) (*Stopwatch, error) {
	w := &Stopwatch{comm: comm, tag: tag, tree: share.Binomial(comm, 0, tag), oversubscribed: oversubscribed, rest: spin}
	if oversubscribed {
		w.rest = func() { time.Sleep(oversubscribedRest) }
	}
	err := w.tell(&hosts)
	if err == nil {
		w.clocks, err = newClocks(comm, tag, hosts)
	}
	return w, err
}

// Among is a stopwatch for a part of the ranks. It needs no messages: it keeps the clocks of the whole, whether
// the part's communicator has one or not. Its clocks are compared again by the whole.
func (w *Stopwatch) Among(part mpi.Communicator) *Stopwatch {
	among := *w
	among.comm, among.tree = part, share.Binomial(part, 0, w.tag)
	return &among
}

// Together is a stopwatch for operations that all ranks begin at once, after a barrier of theirs. Times are from the moment
// the last rank starts.
func (w *Stopwatch) Together(barrier func() error) *Stopwatch {
	together := *w
	together.barrier = barrier
	return &together
}

const (
	rest               = 50 * time.Microsecond
	oversubscribedRest = 300 * time.Microsecond
)

func spin() {
	for begin := time.Now(); time.Since(begin) < rest; {
		runtime.Gosched()
	}
}

// Doubt is the largest error in s that the difference between two ranks' clocks may add to
// a time: half of the narrowest bounds that messages gave for it, summed along the tree. 0: the
// ranks share a clock.
func (w *Stopwatch) Doubt() float64 { return w.clocks.doubt }

// Now is the time in s by this rank's clock.
func (w *Stopwatch) Now() float64 { return w.clocks.now() }

// Common is the time in s by the clock of rank 0, as far as this rank knows it.
func (w *Stopwatch) Common() float64 { return w.clocks.now() + w.clocks.ahead }

// Time is collective: it broadcasts from the roots, one after the other without a pause. It returns on rank 0 what the
// first broadcast took, and all of them on average, and NaN elsewhere. Every rank tells the first root that it is about
// to start, so no rank is late, and none is held back by another rank that leaves a barrier.
func (w *Stopwatch) Time(broadcast func(root int) error, roots ...int) (Sample, error) {
	starts, err := w.begin(roots[0])
	if err != nil {
		return Sample{}, err
	}
	start := w.Common()
	first := start
	for i, root := range roots {
		if err := broadcast(root); err != nil {
			return Sample{}, err
		}
		if i == 0 {
			first = w.Common()
		}
	}
	times := []float64{math.Inf(-1), first, w.Common()}
	if starts {
		times[0] = start
	}
	if err := w.tree.CollectMax(times); err != nil {
		return Sample{}, err
	}
	if !w.tree.IsRoot() {
		return Sample{math.NaN(), math.NaN()}, nil
	}
	// Doubtful clocks may give a short broadcast no time at all, but none takes less.
	cold, all := max(0, times[1]-times[0]), max(0, times[2]-times[0])
	return Sample{cold, all / float64(len(roots))}, nil
}

// begin is collective: it returns when this rank may start, and tells whether its start counts.
func (w *Stopwatch) begin(root int) (starts bool, err error) {
	if w.barrier != nil {
		return true, w.barrier()
	}
	tree := share.Binomial(w.comm, root, w.tag)
	if err := tree.CollectMax(nil); err != nil {
		return false, err
	}
	if tree.IsRoot() {
		w.rest()
	}
	return tree.IsRoot(), nil
}

// Max is collective: all ranks get the greatest of each value.
func (w *Stopwatch) Max(values []float64) error { return w.tree.Max(values) }

// tell is collective: all ranks get what v of rank 0 points to.
func (w *Stopwatch) tell(v any) error {
	refused, failed := w.tree.TellValue(v, nil)
	return cmp.Or(failed, refused)
}
