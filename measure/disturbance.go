package measure

import (
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/stat/distuv"

	"github.com/topocast/topocast/internal/measured"
	"github.com/topocast/topocast/internal/quantity"
	"github.com/topocast/topocast/internal/stats"
	"github.com/topocast/topocast/measure/pingpong"
)

// This file tells what has disturbed the measurements of pairs, and what the measuring itself does to them: what looks
// like the machine and is not.

// A disagreement tells of how many pairs not even the best two measurements
// agree, of both directions and all repetitions. Half a round trip is the same
// both ways, and noise only adds. So the lowest measurement is what a pair takes
// if it is seen twice. Otherwise it may be any that was ever seen. Two agree that
// differ no more than the two directions of a pair may.
type disagreement struct {
	pairs, of int // of with two measurements at least
	worst     pairSeen
}

// fewDisagree is the share of the pairs that may disagree: what linkage.Robust stands of outliers.
const fewDisagree = 0.02

// disagreement looks at all pairs of one size.
func (r *Result) disagreement(pairs []pairSeen) disagreement {
	d := disagreement{of: len(pairs)}
	for _, p := range pairs {
		if p.second <= measured.AsymmetryTolerance*p.lowest+r.ClockStep {
			continue
		}
		if d.pairs++; d.pairs == 1 || p.second/p.lowest > d.worst.second/d.worst.lowest {
			d.worst = p
		}
	}
	return d
}

// much tells whether more pairs disagree than a few.
func (d disagreement) much() bool { return float64(d.pairs) > fewDisagree*float64(d.of) }

// disturbed tells whether another repetition is worth its time.
func (r *Result) disturbed() bool {
	for k := range r.Sizes {
		if r.disagreement(seen(r.byPair(k))).much() {
			return true
		}
	}
	return false
}

// sign says of how many pairs measurements disagree; "" of a few.
func (d disagreement) sign() string {
	if !d.much() {
		return ""
	}
	return fmt.Sprintf("the best two measurements differ by more than %.0f %% on %d of %d pairs, most between ranks %d and %d: %s and %s",
		100*(measured.AsymmetryTolerance-1), d.pairs, d.of, d.worst.a, d.worst.b, quantity.Seconds(d.worst.lowest), quantity.Seconds(d.worst.second))
}

const (
	wideSamples = 0.5 // width of the middle half of the samples over their median; quiet machines have 0.01 to 0.1
	manyUnsure  = 0.1 // share of the measurements whose lots all disagree: a measurement more or less is an outlier
)

// spreadSign says how widely samples spread: the median over all measurements of the width of the middle
// half of the samples, relative to their median. "" if they do not.
func (r *Result) spreadSign(size int) string {
	var all []float64
	for x := range r.of(size) {
		if x.Median > 0 {
			all = append(all, (x.Q3-x.Q1)/x.Median)
		}
	}
	spread := stats.Median(all)
	if !(spread > wideSamples) {
		return ""
	}
	return fmt.Sprintf("the middle half of a pair's samples covers %.0f %% of their median", 100*spread)
}

// unsureSign says of how many measurements no two lots agreed; "" of a few.
func (r *Result) unsureSign(size int) string {
	share := r.share(size, func(x *Measurement) bool { return x.Unsure })
	if share <= manyUnsure {
		return ""
	}
	return fmt.Sprintf("%.0f %% were disturbed in all of %d lots of samples", 100*share, pingpong.MaxLots)
}

// firstRound tells of pairs that were slow because they were the first of the job: in one
// direction, in the first round, where all other measurements of the pair agree
// (seen on a real cluster: 1.77 us where all others are 1.05; Reinfjell 2023, section 5.1.1, has the same
// in the first cells). Chance does that, too: it has to be more than in other rounds.
func (r *Result) firstRound(pairs []pairSeen, of string) condition {
	const chance = 0.01
	firsts, slowFirsts, others, slowOthers := 0, 0, 0, 0
	var worst pairSeen
	for _, p := range pairs {
		firsts += p.first
		others += p.count - p.first
		switch {
		case p.slowest.Q1 <= measured.AsymmetryTolerance*p.beside+r.ClockStep:
		case !p.slowest.isFirst():
			slowOthers++
		default:
			if slowFirsts++; slowFirsts == 1 || p.slowest.Q1/p.beside > worst.slowest.Q1/worst.beside {
				worst = p
			}
		}
	}
	usualShare := (float64(slowOthers) + 0.5) / float64(others+1) // as many as may be in so few
	if slowFirsts == 0 || (distuv.Binomial{N: float64(firsts), P: min(usualShare, 1)}).Survival(float64(slowFirsts-1)) > chance {
		return condition{}
	}
	slow := worst.slowest
	return condition{fmt.Sprintf("%d of %d measurements of %s in the first round of the job are slow, and nothing else of these pairs is; most from rank %d to %d, %s where others are at most %s",
		slowFirsts, firsts, of, slow.From, slow.To, quantity.Seconds(slow.Q1), quantity.Seconds(worst.beside)), "it was the beginning, not the machine, take more repetitions"}
}

const (
	leastBandRanks = 16   // of fewer, a band is a few pairs
	slowBand       = 0.05 // in ln, over the bands beside
	flatBeside     = 3    // times as much as those differ among themselves
	bandSigmas     = 3
)

// band tells of diagonal bands: pairs of ranks at one distance in number, round the circle of
// ranks, that are slower than those at all four distances beside, which are alike. A
// harness does that (Reinfjell 2023, section 5.1.2: bands stay where they are when the ranks
// are placed otherwise, and move with the barrier). In machines what changes from one distance
// to the next goes on, or comes back.
func (r *Result) band(pairs []pairSeen, of string) condition {
	n := r.Ranks
	if n < leastBandRanks {
		return condition{}
	}
	bands := make([][]float64, n/2+1) // by distance
	for _, p := range pairs {
		d := min(p.b-p.a, n-p.b+p.a)
		bands[d] = append(bands[d], math.Log(p.lowest))
	}
	medians := make([]float64, len(bands))
	for d, band := range bands {
		medians[d] = stats.MiddleMedian(slices.Clone(band))
	}
	worst, excess := 0, 0.0
	for d, band := range bands {
		var beside []float64
		for _, e := range []int{d - 2, d - 1, d + 1, d + 2} {
			if e >= 1 && e < len(bands) && len(bands[e]) > 0 {
				beside = append(beside, medians[e])
			}
		}
		if len(beside) < 3 || len(band) == 0 {
			continue
		}
		more := medians[d] - slices.Max(beside)
		if more > max(slowBand, excess) && more > flatBeside*(slices.Max(beside)-slices.Min(beside)) && more > bandSigmas*stats.ErrorOfMedian(stats.SigmaAbout(medians[d], band), len(band)) {
			worst, excess = d, more
		}
	}
	if worst == 0 {
		return condition{}
	}
	return condition{fmt.Sprintf("pairs of ranks that are %d apart are slower by %.0f %% than those one or two nearer or farther, for %s",
		worst, 100*math.Expm1(excess), of), "that is what measuring does, not a machine, measure again with another seed"}
}
