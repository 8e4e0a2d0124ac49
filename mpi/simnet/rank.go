package simnet

import (
	"fmt"
	"math/rand/v2"
	"runtime/debug"
	"slices"

	"github.com/topocast/topocast/mpi"
)

// A rank is a coroutine with a clock. Its clock may be ahead of the world's: a
// rank goes on with what its messages cost it until it has to wait. Nothing
// that it does before can be seen by others, since all it starts lies at or
// after its own time.
type rank struct {
	world       *world
	id          int32
	host        int32
	core        int32 // of its host on the machine
	cpu         int32 // of its own on the machine
	isLost      bool
	hasLeft     bool // body has returned
	clock       instant
	looked      instant // when it has last looked in vain; -1: never
	ahead, fast float64 // of the clock that Now tells: s, and s per s
	resume      func() (struct{}, bool)
	yield       func(struct{}) bool
	own         requests // of Send and Recv
	doing       pending
	timed       *exchange // that runs without the rank
	streams     []stream  // of messages that move
	random      rand.PCG
	stalls      []stall // so far
	stallRandom rand.PCG
	all         Comm // of all ranks

	// Where entries of own and streams begin to grow.
	firstEntry   [1]entry
	firstStreams [2]stream
}

// lose ends a rank, and takes what it sends and receives off the links.
func (w *world) lose(r *rank) {
	if r.isLost || r.hasLeft {
		return
	}
	r.isLost = true
	for i := 0; i < len(w.queue); {
		if e := w.queue[i]; e.m != nil && e.kind() == arrival && (e.m.src == r.id || e.m.dst == r.id) {
			w.queue.remove(i)
			if e.m.size > 0 {
				w.net.stop(e.m)
			}
			i = 0 // remove has moved others about
			continue
		}
		i++
	}
	r.timed = nil
	r.clock = max(r.clock, w.now)
	w.lookers = slices.DeleteFunc(w.lookers, func(looker *rank) bool { return looker == r })
	w.ready = append(w.ready, r)
}

// run is the coroutine of a rank.
func (r *rank) run(body func(mpi.Communicator) error) {
	w := r.world
	returned := false
	var err error
	defer func() {
		r.hasLeft = true
		w.running--
		p := recover()
		switch cause, isError := p.(error); {
		case isError:
			w.fail(fmt.Errorf("simnet: rank %d: panic: %w\n%s", r.id, cause, debug.Stack()))
		case p != nil:
			w.fail(fmt.Errorf("simnet: rank %d: panic: %v\n%s", r.id, p, debug.Stack()))
		case !returned:
			w.fail(fmt.Errorf("simnet: rank %d: goroutine was ended by runtime.Goexit", r.id))
		case err != nil && !r.isLost:
			w.fail(fmt.Errorf("simnet: rank %d: %w", r.id, err))
		}
	}()
	if w.cause == nil {
		err = body(&r.all)
	}
	returned = true
}

// block waits until the rank is resumed. The error says that what it waits for
// will not come.
func (r *rank) block(p pending) error {
	r.doing = p
	r.yield(struct{}{})
	r.doing = pending{}
	return r.fate()
}

// look lets the world catch up with the rank. No time passes between two looks
// of a rank that does nothing in between, so the second lasts until something
// happens anywhere.
func (r *rank) look(p pending) error {
	w := r.world
	if r.looked == r.clock {
		w.lookers = append(w.lookers, r)
	} else {
		w.schedule(look, r.id, r.clock, nil)
	}
	err := r.block(p)
	r.clock = max(r.clock, w.now)
	r.looked = r.clock
	return err
}

// fate is the error that all operations of the rank return, if there is one.
func (r *rank) fate() error {
	if r.isLost {
		return ErrLost
	}
	if r.world.cause != nil {
		return mpi.ErrAborted
	}
	return nil
}

// wake resumes the rank at this instant, after those that were woken before.
func (r *rank) wake() {
	if r.timed != nil && !r.timed.proceed() {
		return
	}
	r.world.ready = append(r.world.ready, r)
}

// cost is what an overhead takes on this rank.
func (r *rank) cost(o Overhead, bytes int) instant {
	if o == (Overhead{}) {
		return 0
	}
	net := r.world.net
	return picoseconds((o.Seconds + o.PerByte*float64(bytes)) * net.slower(int32(net.arcs)+r.host, r.clock))
}

// readClock returns the rank's time, and lets it pass by the cost of doing so.
func (r *rank) readClock() instant {
	r.goOn()
	now := r.clock
	r.clock += picoseconds(r.world.settings.ClockCost)
	return now
}

// Factors of a message's time: noise is cut where it would turn into outliers or below
// nothing, outliers are spread evenly, as in internal/gen.
const (
	leastNoise, mostNoise     = 0.5, 1.5
	leastOutlier, mostOutlier = 1.5, 10
)

// noise is the random factor of a message's time.
func (r *rank) noise(n Noise) float64 {
	rng := rand.New(&r.random)
	f := max(leastNoise, min(mostNoise, 1+n.Sigma*rng.NormFloat64()))
	if rng.Float64() < n.Outliers {
		f *= leastOutlier + (mostOutlier-leastOutlier)*rng.Float64()
	}
	return f
}
