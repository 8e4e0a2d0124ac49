package tuner

import "math"

// A contest is what sessions about one message have in common: the roots, the limit of time, and how many broadcasts
// one sample times. Its sessions run one after the other.
type contest struct {
	roots   []int   // from which variants broadcast in turn, 1 to mostRoots
	oneHost bool    // all ranks share a host
	margin  float64 // by which factor times have to differ
	limit   float64 // s: no round begins that would not end by then, judged by the last one; +Inf: none
	begun   float64 // s, the start of the last round, or of the contest

	batch int  // broadcasts back to back
	cheap bool // a batch costs next to nothing
	turn  int  // rounds so far
	over  bool // the limit is reached
}

// mostRoots is from how many roots a contest takes its samples.
const mostRoots = 3

// SampleRoots are the roots of a contest on behalf of the class of a root: that one, and others spread over the class.
// class is that of a rank in [0, ranks) as a root.
func SampleRoots(class func(rank int) int, ranks, root int) []int {
	var alike []int
	for i := range ranks {
		if rank := (root + i) % ranks; class(rank) == class(root) {
			alike = append(alike, rank)
		}
	}
	roots := make([]int, min(mostRoots, len(alike)))
	for i := range roots {
		roots[i] = alike[i*len(alike)/len(roots)]
	}
	return roots
}

const (
	batchTime = 1e-3 // s of a batch, about; variants that take no longer are ranked by batches, too
	mostBatch = 256  // broadcasts of a batch
)

// headBytes is how much of a buffer warms up a variant: so much makes libraries connect ranks and choose how they send.
const headBytes = 64 << 10

// hasTime tells whether another round that takes as long as the last one would end before the limit.
func (c *contest) hasTime(now float64) bool {
	last := now - c.begun
	c.begun = now
	c.over = c.over || now+last > c.limit
	return !c.over
}

// round is the next round of the variants. Another variant goes first in each round, and another root. The order of
// the variants keeps step neither with the first root nor with the kind of the batch.
func (c *contest) round(variants []Variant, batch int) Round {
	n := len(c.roots)
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
func (c *contest) rootsOf(batch int) []int {
	step := 1
	if c.oneHost {
		step -= c.turn / 2 % 2
	}
	list := make([]int, batch)
	for i := range list {
		list[i] = c.roots[(c.turn+step*i)%len(c.roots)]
	}
	return list
}

// warmUp is a session in which each variant broadcasts the head of the buffer from each root, as libraries connect
// ranks at their first message. Then it times the first variant, to find how many broadcasts make a batch.
func (c *contest) warmUp(variants []Variant) Session {
	return &warmUp{contest: c, variants: variants, least: math.Inf(1)}
}

type warmUp struct {
	*contest
	variants []Variant
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
		return Round{Variants: w.variants[w.done : w.done+1], Roots: w.roots, Head: true}, true
	}
	return Round{Variants: w.variants[:1], Roots: w.roots[:1]}, true
}

// Add implements Session.
func (w *warmUp) Add(_ Round, samples []Sample) {
	if w.done++; w.done <= len(w.variants) {
		return
	}
	w.least = min(w.least, samples[0].Cold)
	w.batch = int(min(mostBatch, max(2, math.Ceil(batchTime/w.least)))) // the most for a clock that stands still
	w.cheap = w.least <= batchTime
}
