package measure

import (
	"cmp"
	"slices"

	"github.com/topocast/topocast/internal/stats"
)

// confidence is that of the intervals of pairs.
const confidence = 0.95

// A pairInterval says what the readings of a pair, of both directions and all
// repetitions, say of its latency.
type pairInterval struct {
	A, B     int     // ranks, A < B
	Readings int     // medians of samples
	Median   float64 // s, of these

	// Low and High are, in s, the limits of an interval in which the median lies
	// with at least the confidence, by order statistics: whatever the distribution of the
	// readings. NaN: fewer than 6 readings.
	Low, High float64
}

// precise tells whether the interval is known, and no wider on either side than a share
// of the median.
func (p *pairInterval) precise(share float64) bool {
	return p.High-p.Median <= share*p.Median && p.Median-p.Low <= share*p.Median
}

// pairIntervals are the intervals of all pairs that were measured at one size (an
// index into Sizes), sorted by A and B. O(readings log readings).
func (r *Result) pairIntervals(size int) []pairInterval {
	type reading struct {
		a, b  int
		value float64
	}
	var all []reading
	for x := range r.of(size) {
		p := x.pair()
		all = append(all, reading{p[0], p[1], x.Median})
	}
	slices.SortFunc(all, func(p, q reading) int {
		return cmp.Or(cmp.Compare(p.a, q.a), cmp.Compare(p.b, q.b), cmp.Compare(p.value, q.value))
	})
	var found []pairInterval
	var values []float64
	for i, x := range all {
		if values = append(values, x.value); i+1 < len(all) && all[i+1].a == x.a && all[i+1].b == x.b {
			continue
		}
		p := pairInterval{A: x.a, B: x.b, Readings: len(values)}
		p.Low, p.High, _ = stats.MedianInterval(values, confidence)
		p.Median = stats.MiddleMedian(values)
		found = append(found, p)
		values = values[:0]
	}
	return found
}
