package measure

import (
	"fmt"
	"math"

	"github.com/topocast/topocast/internal/quantity"
	"github.com/topocast/topocast/internal/readings"
	"github.com/topocast/topocast/internal/stats"
	"github.com/topocast/topocast/measure/pingpong"
)

// A disagreement tells of how many pairs not even the best two readings
// agree, of both directions and all repetitions. Half a round trip is the same
// both ways, and noise only adds, so the lowest reading is what a pair takes
// if it is seen twice. Otherwise it may be any that was ever seen. Two agree that
// differ no more than the two directions of a pair may.
type disagreement struct {
	pairs, of int // of with two readings at least
	worst     [2]int
	lowest    float64 // s, of the worst pair
	second    float64 // s
}

// fewDisagree is the share of the pairs that may: what linkage.Robust stands of outliers.
const fewDisagree = 0.02

// disagreement looks at all readings of one size.
func (r *Result) disagreement(size int) disagreement {
	type best struct{ lowest, second float64 }
	pairs := make(map[[2]int]best)
	for x := range r.of(size) {
		p := x.pair()
		b, ok := pairs[p]
		switch {
		case !ok:
			b = best{x.Q1, math.Inf(1)}
		case x.Q1 < b.lowest:
			b = best{x.Q1, b.lowest}
		case x.Q1 < b.second:
			b.second = x.Q1
		}
		pairs[p] = b
	}
	var d disagreement
	for p, b := range pairs {
		if math.IsInf(b.second, 1) || b.lowest == 0 { // the clock is too coarse, which is another warning
			continue
		}
		d.of++
		if b.second <= readings.AsymmetryTolerance*b.lowest+r.ClockStep {
			continue
		}
		d.pairs++
		// Ties are broken by the lowest ranks: a map has no order.
		ratio, worst := b.second/b.lowest, d.second/d.lowest
		if d.pairs == 1 || ratio > worst || ratio == worst && (p[0] < d.worst[0] || p[0] == d.worst[0] && p[1] < d.worst[1]) {
			d.worst, d.lowest, d.second = p, b.lowest, b.second
		}
	}
	return d
}

// much tells whether more pairs disagree than a few.
func (d disagreement) much() bool { return float64(d.pairs) > fewDisagree*float64(d.of) }

// disturbed tells whether another repetition is worth its time.
func (r *Result) disturbed() bool {
	for k := range r.Sizes {
		if r.disagreement(k).much() {
			return true
		}
	}
	return false
}

// sign says of how many pairs readings disagree; "" of a few.
func (d disagreement) sign() string {
	if !d.much() {
		return ""
	}
	return fmt.Sprintf("the best two measurements differ by more than %.0f %% on %d of %d pairs, most between ranks %d and %d: %s and %s",
		100*(readings.AsymmetryTolerance-1), d.pairs, d.of, d.worst[0], d.worst[1], quantity.Seconds(d.lowest), quantity.Seconds(d.second))
}

const (
	wideSamples = 0.5 // width of the middle half of the samples over their median; quiet machines have 0.01 to 0.1
	manyUnsure  = 0.1 // share of the readings whose lots all disagree: a reading more or less is an outlier
)

// spreadSign says how widely samples spread: the median over all readings of the width of the middle
// half of the samples, relative to their median. "" if they do not.
func (r *Result) spreadSign(size int) string {
	var all []float64
	for x := range r.of(size) {
		if x.Median > 0 {
			all = append(all, (x.Q3-x.Q1)/x.Median)
		}
	}
	if len(all) == 0 {
		return ""
	}
	spread := stats.Median(all)
	if spread <= wideSamples {
		return ""
	}
	return fmt.Sprintf("the middle half of a pair's samples covers %.0f %% of their median", 100*spread)
}

// unsureSign says of how many readings no two lots agreed; "" of a few.
func (r *Result) unsureSign(size int) string {
	share := r.share(size, func(x *Reading) bool { return x.Unsure })
	if share <= manyUnsure {
		return ""
	}
	return fmt.Sprintf("%.0f %% were disturbed in all of %d lots of samples", 100*share, pingpong.MaxLots)
}
