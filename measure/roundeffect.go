package measure

import (
	"fmt"
	"math"
	"slices"

	"github.com/topocast/topocast/internal/stats"
)

// A roundEffect says that the readings of one round stand out from those of
// the same pairs in other rounds.
type roundEffect struct {
	Repetition, Round int
	Pairs             int     // readings of the round that could be compared
	Effect            float64 // median of ln(reading / pair's typical reading)
	Sigmas            float64 // the effect in standard errors
}

// roundEffects fits, by median polish (Tukey 1977, chapter 11), ln of the lower
// quartile of each reading of one size as pair + round, and returns all rounds
// of which at least four pairs can be compared, by repetition and round. It is
// empty with fewer than three repetitions, where a pair's typical reading
// cannot be told from a disturbed one. O(n^2) per repetition.
func (r *Result) roundEffects(size int) []roundEffect {
	const (
		leastRepeats = 3 // of two, either may be the disturbed one
		leastPairs   = 4 // of three, two that were slow by chance are the median
		sweeps       = 4 // it settles in two or three
	)
	type cell struct{ pair, round int }
	var (
		cells   []cell
		logs    []float64
		pairIDs = make(map[[2]int]int)
		rounds  []roundEffect
		numbers = make(map[[2]int]int)
	)
	for k := range r.Repetitions {
		for _, x := range r.block(k, size) {
			if x.Q1 <= 0 {
				continue
			}
			p, ok := pairIDs[[2]int{x.From, x.To}]
			if !ok {
				p = len(pairIDs)
				pairIDs[[2]int{x.From, x.To}] = p
			}
			t, ok := numbers[[2]int{k, x.Round}]
			if !ok {
				t = len(rounds)
				numbers[[2]int{k, x.Round}] = t
				rounds = append(rounds, roundEffect{Repetition: k, Round: x.Round})
			}
			cells = append(cells, cell{p, t})
			logs = append(logs, math.Log(x.Q1))
		}
	}
	sigma := readingNoise(logs, func(i int) int { return cells[i].pair }, len(pairIDs))
	// Only pairs that were read often enough say anything of their rounds.
	counts := make([]int, len(pairIDs))
	for _, c := range cells {
		counts[c.pair]++
	}
	residuals := make([]float64, 0, len(logs))
	kept := cells[:0]
	for i, c := range cells {
		if counts[c.pair] >= leastRepeats {
			kept = append(kept, c)
			residuals = append(residuals, logs[i])
			rounds[c.round].Pairs++
		}
	}
	if len(kept) == 0 {
		return nil
	}
	byPair := func(i int) int { return kept[i].pair }
	byRound := func(i int) int { return kept[i].round }
	total := make([]float64, len(rounds))
	for range sweeps {
		sweep(residuals, byPair, len(pairIDs))
		for t, m := range sweep(residuals, byRound, len(rounds)) {
			total[t] += m
		}
	}
	sweep(residuals, byPair, len(pairIDs))

	found := rounds[:0]
	for t, e := range rounds {
		// The two directions of one pair are hardly independent: count them once.
		if e.Pairs /= 2; e.Pairs < leastPairs {
			continue
		}
		e.Effect = total[t]
		if se := medianError * sigma / math.Sqrt(float64(e.Pairs)); se > 0 {
			e.Sigmas = e.Effect / se
		} else if e.Effect != 0 {
			e.Sigmas = math.Copysign(math.Inf(1), e.Effect)
		}
		found = append(found, e)
	}
	slices.SortFunc(found, func(a, b roundEffect) int {
		if a.Repetition != b.Repetition {
			return a.Repetition - b.Repetition
		}
		return a.Round - b.Round
	})
	return found
}

// medianError is the standard error of a median of normal values over that of their mean:
// sqrt(pi/2), to five digits.
const medianError = 1.2533

// readingNoise is the standard deviation of a reading, robustly, from how much
// consecutive readings of one pair differ. The residuals of the polish would
// give too little: of three readings of a pair, one is the pair's median itself.
func readingNoise(logs []float64, pair func(i int) int, pairs int) float64 {
	last := make([]float64, pairs)
	for p := range last {
		last[p] = math.NaN()
	}
	var differences []float64
	for i, x := range logs {
		if d := math.Abs(x - last[pair(i)]); !math.IsNaN(d) {
			differences = append(differences, d)
		}
		last[pair(i)] = x
	}
	if len(differences) == 0 {
		return 0
	}
	return stats.SigmaPerMAD * stats.MiddleMedian(differences) / math.Sqrt2
}

// sweep subtracts from the residuals of each class their median, and returns
// the medians.
func sweep(residuals []float64, class func(i int) int, classes int) []float64 {
	members := make([][]float64, classes)
	for i, x := range residuals {
		c := class(i)
		members[c] = append(members[c], x)
	}
	medians := make([]float64, classes)
	for c, xs := range members {
		if len(xs) > 0 {
			medians[c] = stats.MiddleMedian(xs)
		}
	}
	for i := range residuals {
		residuals[i] -= medians[class(i)]
	}
	return medians
}

// unusual are the rounds beyond 3 sigma, unless they are about as many as
// chance gives among so many rounds.
func unusual(effects []roundEffect) []roundEffect {
	const (
		limit    = 3.0
		chance   = 0.0027    // share of a normal distribution beyond 3 sigma
		asChance = 3         // times as many are still chance: the noise is estimated, and its tails are heavier than normal
		alone    = 2 * limit // sigmas at which one round is enough: none of a million by chance
	)
	var beyond []roundEffect
	for _, e := range effects {
		if math.Abs(e.Sigmas) > limit {
			beyond = append(beyond, e)
		}
	}
	if float64(len(beyond)) <= 1+asChance*chance*float64(len(effects)) && math.Abs(largest(beyond).Sigmas) < alone {
		return nil
	}
	return beyond
}

// largest is the first of the rounds with the largest effect.
func largest(rounds []roundEffect) roundEffect {
	var worst roundEffect
	for _, e := range rounds {
		if math.Abs(e.Effect) > math.Abs(worst.Effect) {
			worst = e
		}
	}
	return worst
}

// slowRoundsSign says which rounds stand out; "" if none does.
func (r *Result) slowRoundsSign(size int) string {
	effects := r.roundEffects(size)
	beyond := unusual(effects)
	if len(beyond) == 0 {
		return ""
	}
	worst := largest(beyond)
	return fmt.Sprintf("%d of %d rounds differ from the others by more than 3 sigma, most of all round %d of repetition %d by %+.0f %%",
		len(beyond), len(effects), worst.Round, worst.Repetition, 100*(math.Exp(worst.Effect)-1))
}
