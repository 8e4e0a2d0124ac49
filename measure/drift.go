package measure

import (
	"fmt"
	"math"
	"slices"

	"github.com/topocast/topocast/internal/stats"
)

// A drift says how the readings of one size have changed over a run, as a whole.
type drift struct {
	Change float64 // of the readings from the first round to the last, 0.01: 1 % longer; NaN: no pair was read twice
	Sigma  float64 // its standard error, as far as rounds do not differ by more than pairs do; NaN: fewer than three pairs, which do not tell
	Pairs  int     // that were read twice
}

// drift compares, for each pair, the first reading with the last: ln of the ratio against the
// share of the rounds in between, by least absolute deviations (the weighted median of the slopes).
// Matrices leaves it in. It is part of what disturbs single readings, since each
// repetition has its own order; and whether clock, machine or load has drifted is not known,
// so that it need not be the same between other ranks. O(readings).
func (r *Result) drift(size int) drift {
	type sight struct{ at, log float64 }
	type pair struct{ first, last sight }
	pairs := make(map[[2]int]*pair)
	var order [][2]int // a map has none
	before := 0        // rounds of the repetitions before
	for k := range r.Repetitions {
		low, high := math.MaxInt, -1
		block := r.block(k, size)
		for _, x := range block {
			low, high = min(low, x.Round), max(high, x.Round)
		}
		for _, x := range block {
			if x.From > x.To || x.Q1 <= 0 { // both directions are of one moment
				continue
			}
			s := sight{float64(before + x.Round - low), math.Log(x.Q1)}
			p := pairs[[2]int{x.From, x.To}]
			if p == nil {
				p = &pair{first: s}
				pairs[[2]int{x.From, x.To}] = p
				order = append(order, [2]int{x.From, x.To})
			}
			p.last = s
		}
		before += max(high-low+1, 0)
	}
	type slope struct{ value, weight float64 }
	var slopes []slope
	var rises []sight // at: share of the run in between
	total, squares := 0.0, 0.0
	for _, key := range order {
		p := pairs[key]
		dt := (p.last.at - p.first.at) / float64(before)
		if dt == 0 {
			continue
		}
		dy := p.last.log - p.first.log
		slopes = append(slopes, slope{dy / dt, dt})
		rises = append(rises, sight{dt, dy})
		total += dt
		squares += dt * dt
	}
	if len(slopes) == 0 {
		return drift{Change: math.NaN(), Sigma: math.NaN()}
	}
	slices.SortFunc(slopes, func(a, b slope) int {
		switch {
		case a.value < b.value:
			return -1
		case a.value > b.value:
			return 1
		}
		return 0
	})
	median, sum := 0.0, 0.0
	for _, s := range slopes {
		if sum += s.weight; 2*sum >= total {
			median = s.value
			break
		}
	}
	found := drift{Change: math.Expm1(median), Sigma: math.NaN(), Pairs: len(slopes)}
	if len(slopes) < scatterPairs {
		return found
	}
	residuals := make([]float64, len(rises))
	for i, s := range rises {
		residuals[i] = math.Abs(s.log - median*s.at)
	}
	found.Sigma = medianError * stats.SigmaPerMAD * stats.MiddleMedian(residuals) / math.Sqrt(squares)
	return found
}

// scatterPairs is how many pairs it takes to see a scatter about their median slope, which goes through one of them.
const scatterPairs = 3

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
