package measure

import (
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/stat/distuv"

	"github.com/topocast/topocast/internal/quantity"
	"github.com/topocast/topocast/internal/readings"
	"github.com/topocast/topocast/internal/stats"
)

// Measurement bias is what the measuring itself does to the readings: what looks like the machine
// and is not.

// pairsLookedAt are enough to tell how often a reading stands alone.
const pairsLookedAt = 10_000

// lowest is, in s, the lowest reading from each rank to each other one at one size, which is what
// nothing has disturbed; 0: none. Flat, O(n^2).
func (r *Result) lowest(size int) []float64 {
	all := make([]float64, r.Ranks*r.Ranks)
	for x := range r.of(size) {
		if at := x.From*r.Ranks + x.To; x.Q1 > 0 && (all[at] == 0 || x.Q1 < all[at]) {
			all[at] = x.Q1
		}
	}
	return all
}

// firstRound tells of pairs that were slow because they were the first of the job: in one
// direction, in the first round, where all other readings of the pair agree
// (seen on a real cluster: 1.77 us where all others are 1.05; Reinfjell 2023, section 5.1.1, has the same
// in the first cells). Chance does that, too: it has to be more than in other rounds.
func (r *Result) firstRound(size int, of string) condition {
	isFirst := func(x *Reading) bool { return x.Repetition == 0 && x.Round == 0 }
	byPair := make(map[[2]int][]Reading) // of the first round, and some others
	for _, x := range r.block(0, size) {
		if isFirst(&x) {
			byPair[x.pair()] = nil
		}
	}
	stride := max(1, r.Ranks*(r.Ranks-1)/2/pairsLookedAt)
	for x := range r.of(size) {
		if x.Q1 <= 0 {
			continue
		}
		p := x.pair()
		if all, ok := byPair[p]; ok || (p[0]*r.Ranks+p[1])%stride == 0 {
			byPair[p] = append(all, *x)
		}
	}
	var slow Reading // of the first round, the slowest
	var normal float64
	firsts, slowFirsts, others, slowOthers := 0, 0, 0, 0
	var rest []float64
	for x := range r.of(size) {
		all := byPair[x.pair()]
		if x.Q1 <= 0 || len(all) < 2 {
			continue
		}
		rest = rest[:0]
		for _, y := range all {
			if y.From != x.From || y.Repetition != x.Repetition {
				rest = append(rest, y.Q1)
			}
		}
		usual := stats.MiddleMedian(rest)
		isSlow := x.Q1 > readings.AsymmetryTolerance*slices.Max(rest)+r.ClockStep
		switch {
		case isFirst(x):
			if firsts++; isSlow {
				if slowFirsts++; slowFirsts == 1 || x.Q1/usual > slow.Q1/normal {
					slow, normal = *x, usual
				}
			}
		default:
			if others++; isSlow {
				slowOthers++
			}
		}
	}
	if slowFirsts == 0 {
		return condition{}
	}
	const chance = 0.01
	usualShare := (float64(slowOthers) + 0.5) / float64(others+1) // as many as may be in so few
	if (distuv.Binomial{N: float64(firsts), P: min(usualShare, 1)}).Survival(float64(slowFirsts-1)) > chance {
		return condition{}
	}
	return condition{fmt.Sprintf("%d of %d measurements of %s in the first round of the job are slow, and nothing else of these pairs is; most from rank %d to %d, %s where others are %s",
		slowFirsts, firsts, of, slow.From, slow.To, quantity.Seconds(slow.Q1), quantity.Seconds(normal)), "it was the beginning, not the machine, take more repetitions"}
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
func (r *Result) band(size int, of string) condition {
	n := r.Ranks
	if n < leastBandRanks {
		return condition{}
	}
	lowest := r.lowest(size)
	bands := make([][]float64, n/2+1) // by distance
	for i := range n {
		for j := range n {
			if v := lowest[i*n+j]; i != j && v > 0 {
				d := (j - i + n) % n
				bands[min(d, n-d)] = append(bands[min(d, n-d)], math.Log(v))
			}
		}
	}
	medians := make([]float64, len(bands))
	for d := range medians {
		if medians[d] = math.NaN(); len(bands[d]) > 0 {
			medians[d] = stats.MiddleMedian(slices.Clone(bands[d]))
		}
	}
	worst, excess, count := 0, 0.0, 0
	for d := 1; d < len(bands); d++ {
		var beside []float64
		for _, e := range []int{d - 2, d - 1, d + 1, d + 2} {
			if e >= 1 && e < len(bands) && !math.IsNaN(medians[e]) {
				beside = append(beside, medians[e])
			}
		}
		if len(beside) < 3 || len(bands[d]) == 0 {
			continue
		}
		more := medians[d] - slices.Max(beside)
		off := make([]float64, len(bands[d]))
		for i, v := range bands[d] {
			off[i] = math.Abs(v - medians[d])
		}
		// Both directions of a pair are hardly independent.
		se := medianError * stats.SigmaPerMAD * stats.MiddleMedian(off) / math.Sqrt(float64(len(off))/2)
		if more > slowBand && more > flatBeside*(slices.Max(beside)-slices.Min(beside)) && more > bandSigmas*se {
			if count++; more > excess {
				worst, excess = d, more
			}
		}
	}
	if count == 0 {
		return condition{}
	}
	return condition{fmt.Sprintf("pairs of ranks that are %d apart are slower by %.0f %% than those one or two nearer or farther, for %s",
		worst, 100*math.Expm1(excess), of), "that is what measuring does, not a machine, measure again with another seed"}
}
