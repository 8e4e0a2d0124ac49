package tuner

import "math"

// A Round is what is timed next. In a round each variant broadcasts from Roots, back to back, one variant after the other.
type Round struct {
	Variants []int // numbers of the variants, in the order in which they run
	Roots    []int // of the broadcasts of each variant, at least one
	Head     bool  // only the head of the buffer is broadcast, and the times do not count
}

// A Session says what to time, and judges the times. It touches no communicator: whoever has one performs the rounds
// and hands the samples back. Rank 0 alone holds the session.
type Session interface {
	// Next is the next round at the time now, in s. It is false at the end of the session.
	Next(now float64) (Round, bool)

	// Add takes the samples of the round that Next has returned last, in the order of its variants.
	Add(samples []Sample)
}

// A Contest is what sessions about one message have in common: the roots, the limit of time, and how many broadcasts
// one sample times. Its sessions run one after the other.
type Contest struct {
	s      Settings
	margin float64
	batch  int     // broadcasts back to back
	cheap  bool    // a batch costs next to nothing
	turn   int     // rounds so far
	begun  float64 // s, the start of the last round
	over   bool    // the limit is reached
}

// Settings say under which conditions variants are compared.
type Settings struct {
	Roots          []int   // from which they broadcast in turn, 1 to MostRoots
	OneHost        bool    // all ranks share a host
	Oversubscribed bool    // some host has more ranks than cores
	Limit          float64 // s: no round begins that would not end by then, judged by the last one; +Inf: none
}

// MostRoots is from how many roots a contest takes its samples.
const MostRoots = 3

// SampleRoots are the roots of a contest on behalf of the class of a root: that one, and others spread over the class.
// class is that of a rank in [0, ranks) as a root.
func SampleRoots(class func(rank int) int, ranks, root int) []int {
	var alike []int
	for i := range ranks {
		if rank := (root + i) % ranks; class(rank) == class(root) {
			alike = append(alike, rank)
		}
	}
	roots := make([]int, min(MostRoots, len(alike)))
	for i := range roots {
		roots[i] = alike[i*len(alike)/len(roots)]
	}
	return roots
}

const (
	batchTime = 1e-3 // s of a batch, about
	mostBatch = 256  // broadcasts of a batch
	cheapTime = 1e-3 // s of a broadcast up to which batches are ranked, too
)

// HeadBytes is how much of a buffer warms up a variant: so much makes libraries connect ranks and choose how they send.
const HeadBytes = 64 << 10

// NewContest begins a contest at the time now, in s.
func NewContest(s Settings, now float64) *Contest {
	c := &Contest{s: s, margin: margin, batch: 1, begun: now}
	if s.Oversubscribed {
		c.margin = oversubscribedMargin
	}
	return c
}

// hasTime tells whether another round that takes as long as the last one would end before the limit.
func (c *Contest) hasTime(now float64) bool {
	if c.over {
		return false
	}
	last := now - c.begun
	c.begun = now
	c.over = now+last > c.s.Limit
	return !c.over
}

// round is the next round of the variants. Another variant goes first in each round, and another root. The order of
// the variants keeps step neither with the first root nor with the kind of the batch.
func (c *Contest) round(variants []int, batch int) Round {
	n := len(c.s.Roots)
	first := c.turn
	if n%2 == 0 {
		first += c.turn / n
	}
	r := Round{Roots: c.rootsOf(batch)}
	for i := range variants {
		r.Variants = append(r.Variants, variants[(first+i)%len(variants)])
	}
	c.turn++
	return r
}

// rootsOf are the roots of a batch: all in turn, from another one on in each round.
//
// Where all ranks share a host, two rounds of four have one root only. Between hosts they have not: a root that sends
// alone gets rid of its messages as fast as the library takes them, and their arrival does not show.
func (c *Contest) rootsOf(batch int) []int {
	step := 1
	if c.s.OneHost {
		step -= c.turn / 2 % 2
	}
	list := make([]int, batch)
	for i := range list {
		list[i] = c.s.Roots[(c.turn+step*i)%len(c.s.Roots)]
	}
	return list
}

// WarmUp is a session in which each variant broadcasts the head of the buffer from each root, as libraries connect
// ranks at their first message. Then it times the first variant, to find how many broadcasts make a batch.
func (c *Contest) WarmUp(variants []int) Session {
	return &warmUp{Contest: c, variants: variants, least: math.Inf(1)}
}

type warmUp struct {
	*Contest
	variants []int
	done     int     // rounds
	least    float64 // s, of a broadcast by the first variant
}

// Next implements Session.
func (w *warmUp) Next(now float64) (Round, bool) {
	const timed = 2 // the first one may still be making room for the rest of the buffer
	if w.done == len(w.variants)+timed || !w.hasTime(now) {
		return Round{}, false
	}
	if w.done < len(w.variants) {
		return Round{Variants: w.variants[w.done : w.done+1], Roots: w.s.Roots, Head: true}, true
	}
	return Round{Variants: w.variants[:1], Roots: w.s.Roots[:1]}, true
}

// Add implements Session.
func (w *warmUp) Add(samples []Sample) {
	if w.done++; w.done <= len(w.variants) {
		return
	}
	w.least = min(w.least, samples[0].Cold)
	w.batch = int(min(mostBatch, max(2, math.Ceil(batchTime/w.least)))) // the most for a clock that stands still
	w.cheap = w.least <= cheapTime
}
