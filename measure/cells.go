package measure

import (
	"math"
	"slices"

	"github.com/topocast/topocast/internal/stats"
)

// Cells are the measurements of one size, sorted by their ordered pair of ranks.
type cells struct {
	ranks int
	all   []*Reading // of a pair in the order of time
	start []int32    // of the pair at from*ranks+to; and the end
}

// cells sorts the measurements of one size. O(n^2 + measurements).
func (r *Result) cells(size int) *cells {
	c := &cells{ranks: r.Ranks, start: make([]int32, r.Ranks*r.Ranks+1)}
	for x := range r.of(size) {
		c.start[x.From*r.Ranks+x.To+1]++
	}
	for i := range r.Ranks * r.Ranks {
		c.start[i+1] += c.start[i]
	}
	c.all = make([]*Reading, c.start[r.Ranks*r.Ranks])
	next := slices.Clone(c.start)
	for x := range r.of(size) {
		at := x.From*r.Ranks + x.To
		c.all[next[at]] = x
		next[at]++
	}
	return c
}

// between are the measurements that rank from has begun with rank to.
func (c *cells) between(from, to int) []*Reading {
	at := from*c.ranks + to
	return c.all[c.start[at]:c.start[at+1]]
}

// both are the measurements of a pair in both directions.
func (c *cells) both(a, b int) []*Reading { return slices.Concat(c.between(a, b), c.between(b, a)) }

// A pairSeen sums up the measurements of a pair at one size, of both directions and all repetitions. Times are in s.
// Measurements of 0 are left out: the clock was too coarse for them.
type pairSeen struct {
	a, b           int // ranks, a < b
	count          int
	first          int      // measurements of them in the first round of the job
	lowest, second float64  // the two lowest
	slowest        *Reading // the highest
	beside         float64  // the highest but it
}

// pairs sums up the pairs that were measured twice at least, in order.
func (c *cells) pairs() (all []pairSeen) {
	for a := range c.ranks {
		for b := a + 1; b < c.ranks; b++ {
			p := pairSeen{a: a, b: b, lowest: math.Inf(1), second: math.Inf(1)}
			for _, x := range c.both(a, b) {
				if x.Q1 <= 0 {
					continue
				}
				p.count++
				if x.isFirst() {
					p.first++
				}
				p.lowest, p.second = min(p.lowest, x.Q1), min(p.second, max(p.lowest, x.Q1))
				if p.slowest == nil {
					p.slowest = x
					continue
				}
				if p.beside = max(p.beside, min(p.slowest.Q1, x.Q1)); x.Q1 > p.slowest.Q1 {
					p.slowest = x
				}
			}
			if p.count >= 2 {
				all = append(all, p)
			}
		}
	}
	return all
}

// isFirst tells whether a measurement is of the first round of the job.
func (r *Reading) isFirst() bool { return r.Repetition == 0 && r.Round == 0 }

// confidence is that of the intervals of pairs.
const confidence = 0.95

// A pairInterval says what the measurements of a pair, of both directions and all
// repetitions, say of its latency.
type pairInterval struct {
	A, B     int     // ranks, A < B
	Readings int     // medians of samples
	Median   float64 // s, of these

	// Low and High are, in s, the limits of an interval in which the median lies
	// with at least the confidence, by order statistics: whatever the distribution of the
	// measurements. NaN: fewer than 6 measurements.
	Low, High float64
}

// precise tells whether the interval is known, and no wider on either side than a share
// of the median.
func (p *pairInterval) precise(share float64) bool {
	return p.High-p.Median <= share*p.Median && p.Median-p.Low <= share*p.Median
}

// pairIntervals are the intervals of all pairs that were measured at one size (an
// index into Sizes), sorted by A and B. O(n^2 + measurements).
func (r *Result) pairIntervals(size int) (found []pairInterval) {
	c := r.cells(size)
	for a := range r.Ranks {
		for b := a + 1; b < r.Ranks; b++ {
			var medians []float64
			for _, x := range c.both(a, b) {
				medians = append(medians, x.Median)
			}
			if len(medians) == 0 {
				continue
			}
			slices.Sort(medians)
			p := pairInterval{A: a, B: b, Readings: len(medians)}
			p.Low, p.High, _ = stats.MedianInterval(medians, confidence)
			p.Median = stats.MiddleMedian(medians)
			found = append(found, p)
		}
	}
	return found
}
