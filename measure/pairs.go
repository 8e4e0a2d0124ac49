package measure

import (
	"math"
	"slices"

	"github.com/topocast/topocast/internal/stats"
)

// A pairTimes is the measurements of a pair of ranks at one size: of both directions, in the order of repetitions.
type pairTimes struct {
	a, b int // ranks, a < b
	all  []*Measurement
}

// byPair sorts the measurements of one size (an index into Sizes) by their pairs. O(n^2 + measurements).
func (r *Result) byPair(size int) []pairTimes {
	count := make([]int, r.Ranks*r.Ranks) // of the measurements of a and b, at a*n+b
	total := 0
	at := func(x *Measurement) *int {
		p := x.pair()
		return &count[p[0]*r.Ranks+p[1]]
	}
	for x := range r.of(size) {
		*at(x)++
		total++
	}
	var pairs []pairTimes
	room := make([]*Measurement, total)
	for k, n := range count {
		if n > 0 {
			count[k] = len(pairs)
			pairs = append(pairs, pairTimes{a: k / r.Ranks, b: k % r.Ranks, all: room[:0:n]})
			room = room[n:]
		}
	}
	for x := range r.of(size) {
		p := &pairs[*at(x)]
		p.all = append(p.all, x)
	}
	return pairs
}

// A visit is a round in which a pair was measured.
type visit struct {
	repetition, round int
	log               float64 // ln of the shorter of both directions, in s: they are of one moment
}

// visits are those of a pair, in the order of time. Measurements of 0 are left out: the clock was too coarse for them.
func (p *pairTimes) visits() (all []visit) {
	for _, x := range p.all {
		if x.Q1 <= 0 {
			continue
		}
		v := visit{x.Repetition, x.Round, math.Log(x.Q1)}
		if last := len(all) - 1; last >= 0 && all[last].repetition == v.repetition && all[last].round == v.round {
			all[last].log = min(all[last].log, v.log)
		} else {
			all = append(all, v)
		}
	}
	return all
}

// confidence is that of the intervals of pairs.
const confidence = 0.95

// interval says between what limits, in s, the median of a pair lies with at least the confidence, by order statistics:
// whatever the distribution of the measurements. The limits are NaN of fewer than 6 measurements.
func (p *pairTimes) interval() (low, median, high float64) {
	var medians []float64
	for _, x := range p.all {
		medians = append(medians, x.Median)
	}
	slices.Sort(medians)
	low, high, _ = stats.MedianInterval(medians, confidence)
	return low, stats.MiddleMedian(medians), high
}

// precise tells whether the interval is known, and no wider on either side than a share of the median.
func (p *pairTimes) precise(share float64) bool {
	low, median, high := p.interval()
	return high-median <= share*median && median-low <= share*median
}

// A pairSeen sums up the measurements of a pair. Times are in s. Measurements of 0 are left out.
type pairSeen struct {
	a, b           int // ranks, a < b
	count          int
	first          int          // measurements of them in the first round of the job
	lowest, second float64      // the two lowest
	slowest        *Measurement // the highest
	beside         float64      // the highest but it
}

// seen sums up the pairs that were measured twice at least, in order.
func seen(pairs []pairTimes) (all []pairSeen) {
	for _, of := range pairs {
		p := pairSeen{a: of.a, b: of.b, lowest: math.Inf(1), second: math.Inf(1)}
		for _, x := range of.all {
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
	return all
}

// isFirst tells whether a measurement is of the first round of the job.
func (r *Measurement) isFirst() bool { return r.Repetition == 0 && r.Round == 0 }
