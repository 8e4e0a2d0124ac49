package simnet

import (
	"math/rand/v2"
	"sort"
)

// Stalls are times in which a rank stands still, as a process does that has lost its core to another
// one: its calls wait until it goes on, and so do messages that it sends or receives then. Each
// rank stalls by itself, as a Poisson process, for a time that is uniform between Least and Most.
type Stalls struct {
	Every       float64 // s between the starts of two stalls of a rank, in the mean; 0: never
	Least, Most float64 // s
}

// A stall is one of a rank.
type stall struct{ from, to instant }

// stallStream keeps the times of stalls apart from the noise of messages, which has the stream of the rank's number.
const stallStream = 1 << 32

// stallsFrom are the stalls of the rank that end after the first time, in order, up to one that begins
// after the second.
func (r *rank) stallsFrom(from, until instant) []stall {
	s := &r.world.settings.Stalls
	if s.Every == 0 {
		return nil
	}
	rng := rand.New(&r.stallRandom)
	for n := len(r.stalls); n == 0 || r.stalls[n-1].from <= until; n++ {
		var last instant
		if n > 0 {
			last = r.stalls[n-1].to
		}
		begin := min(forever, last+picoseconds(s.Every*rng.ExpFloat64()))
		r.stalls = append(r.stalls, stall{begin, min(forever, begin+picoseconds(s.Least+(s.Most-s.Least)*rng.Float64()))})
		if begin == forever {
			break
		}
	}
	first := sort.Search(len(r.stalls), func(i int) bool { return r.stalls[i].to > from })
	return r.stalls[first:]
}

// goOn lets the rank's clock pass the stall that it is in.
func (r *rank) goOn() {
	if s := r.stallsFrom(r.clock, r.clock); len(s) > 0 && s[0].from <= r.clock {
		r.clock = s[0].to
	}
}

// held is how long the stalls of the rank last that begin while something goes on that takes so long without them,
// or go on when it begins.
func (r *rank) held(from, takes instant) (all instant) {
	for _, s := range r.stallsFrom(from, from+takes) {
		if s.from >= from+takes {
			break
		}
		all += s.to - max(s.from, from)
	}
	return all
}
