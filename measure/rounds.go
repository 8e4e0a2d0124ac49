package measure

import (
	"cmp"
	"fmt"
	"maps"
	"math"
	"slices"

	"gonum.org/v1/gonum/stat"

	"github.com/topocast/topocast/internal/stats"
)

// A roundEffect says that the measurements of one round stand out from those of
// the same pairs in other rounds.
type roundEffect struct {
	Repetition, Round int
	Pairs             int     // measurements of the round that could be compared
	Effect            float64 // median of ln(measurement / the pair's typical one)
	Sigmas            float64 // the effect in standard errors
}

// roundEffects compares what a pair took in each round with its median. It returns all rounds
// of which at least four pairs can be compared, by repetition and round. It is
// empty with fewer than three repetitions, where a pair's typical measurement
// cannot be told from a disturbed one. The noise is how much a pair differs from one round to its next. The
// residuals would give too little: of three measurements of a pair, one is the median itself.
func roundEffects(pairs []pairTimes) (found []roundEffect) {
	const (
		leastRepeats = 3 // of two, either may be the disturbed one
		leastPairs   = 4 // of three, two that were slow by chance are the median
	)
	off := make(map[[2]int][]float64) // by repetition and round
	var apart []float64
	for _, p := range pairs {
		visits := p.visits()
		logs := make([]float64, len(visits))
		for i, v := range visits {
			logs[i] = v.log
			if i > 0 {
				apart = append(apart, math.Abs(v.log-logs[i-1]))
			}
		}
		if len(visits) < leastRepeats {
			continue
		}
		typical := stats.MiddleMedian(logs)
		for _, v := range visits {
			at := [2]int{v.repetition, v.round}
			off[at] = append(off[at], v.log-typical)
		}
	}
	sigma := stats.SigmaOfOne(apart)
	for _, round := range slices.SortedFunc(maps.Keys(off), func(a, b [2]int) int { return slices.Compare(a[:], b[:]) }) {
		e := roundEffect{Repetition: round[0], Round: round[1], Pairs: len(off[round])}
		if e.Pairs < leastPairs {
			continue
		}
		e.Effect = stats.MiddleMedian(off[round])
		if se := stats.ErrorOfMedian(sigma, e.Pairs); se > 0 {
			e.Sigmas = e.Effect / se
		} else if e.Effect != 0 {
			e.Sigmas = math.Copysign(math.Inf(1), e.Effect)
		}
		found = append(found, e)
	}
	return found
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
	if float64(len(beyond)) <= 1+asChance*chance*float64(len(effects)) && (len(beyond) == 0 || math.Abs(largest(beyond).Sigmas) < alone) {
		return nil
	}
	return beyond
}

// largest is the first of the rounds with the largest effect.
func largest(rounds []roundEffect) roundEffect {
	return slices.MaxFunc(rounds, func(a, b roundEffect) int { return cmp.Compare(math.Abs(a.Effect), math.Abs(b.Effect)) })
}

// slowRoundsSign says which rounds stand out; "" if none does.
func slowRoundsSign(pairs []pairTimes) string {
	effects := roundEffects(pairs)
	beyond := unusual(effects)
	if len(beyond) == 0 {
		return ""
	}
	worst := largest(beyond)
	return fmt.Sprintf("%d of %d rounds differ from the others by more than 3 sigma, most of all round %d of repetition %d by %+.0f %%",
		len(beyond), len(effects), worst.Round, worst.Repetition, 100*(math.Exp(worst.Effect)-1))
}

// A drift says how the measurements of one size have changed over a run, as a whole.
type drift struct {
	Change float64 // of the measurements from the first round to the last, 0.01: 1 % longer; NaN: no pair was measured twice
	Sigma  float64 // its standard error, as far as rounds do not differ by more than pairs do; NaN: fewer than three pairs, which do not tell
	Pairs  int     // that were measured twice
}

// scatterPairs is how many pairs it takes to see a scatter about their median, which is one of them.
const scatterPairs = 3

// driftOf compares, for each pair, its first round with its last: the median rise of the logarithm, for the mean share
// of the run in between. Matrices leaves the drift in. It is part of what disturbs single measurements, since each
// repetition has its own order. Whether clock, machine or load has drifted is not known,
// so that it need not be the same between other ranks.
func driftOf(pairs []pairTimes) drift {
	at := make(map[[2]int]float64) // share of the run, by repetition and round
	for _, p := range pairs {
		for _, x := range p.all {
			at[[2]int{x.Repetition, x.Round}] = 0
		}
	}
	for i, round := range slices.SortedFunc(maps.Keys(at), func(a, b [2]int) int { return slices.Compare(a[:], b[:]) }) {
		at[round] = float64(i) / float64(len(at))
	}
	var rises, spans []float64
	for _, p := range pairs {
		visits := p.visits()
		if len(visits) < 2 {
			continue
		}
		first, last := visits[0], visits[len(visits)-1]
		rises = append(rises, last.log-first.log)
		spans = append(spans, at[[2]int{last.repetition, last.round}]-at[[2]int{first.repetition, first.round}])
	}
	if len(rises) == 0 {
		return drift{Change: math.NaN(), Sigma: math.NaN()}
	}
	span := stat.Mean(spans, nil)
	slope := stats.MiddleMedian(slices.Clone(rises)) / span
	found := drift{Change: math.Expm1(slope), Sigma: math.NaN(), Pairs: len(rises)}
	if len(rises) < scatterPairs {
		return found
	}
	for i := range rises {
		rises[i] -= slope * spans[i]
	}
	found.Sigma = stats.ErrorOfMedian(stats.SigmaAbout(0, rises), len(rises)) / span
	return found
}

// A drift that is worth a word is one that tells other levels apart: those of switches
// differ by 12 % and more.
const (
	muchDrift   = 0.02
	driftSigmas = 3
)

func (d drift) condition(of string) condition {
	if !(math.Abs(d.Change) > muchDrift && math.Abs(d.Change) > driftSigmas*d.Sigma) {
		return condition{}
	}
	return condition{
		fmt.Sprintf("the measurements of %s have drifted by %+.0f %% over the run (+- %.1g %%)", of, 100*d.Change, 100*d.Sigma),
		"the matrices have it in them, measure again when load and clocks are steady",
	}
}
