package measure

import (
	"slices"

	"github.com/topocast/topocast/measure/harness"
)

// preciseRepetitions is how often, at most, pairs are measured again for Sampling.Precision: noise of 10 % takes some 100 measurements for 2 %.
const preciseRepetitions = 50

// again tells which rounds are worth another repetition, after so many; none with more: all.
func (c *collector) again(repetitions int) (rounds [][][2]int, more bool) {
	s, r := c.settings, c.result
	extra := s.extra
	if s.Precision > 0 && extra == 0 {
		extra = preciseRepetitions
	}
	if repetitions >= c.asked+extra {
		return nil, false
	}
	slices.SortFunc(r.measurements, compareMeasurements)
	if s.extra > 0 {
		if r.disturbed() {
			return nil, true
		}
		if rounds = c.slowRounds(); len(rounds) > 0 {
			return rounds, true
		}
	}
	if s.Precision > 0 {
		rounds = harness.Greedy(r.imprecise(s.Precision), func(p [2]int) []int { return p[:] })
	}
	return rounds, len(rounds) > 0
}

// slowRounds are those that were slower than the others by more than chance explains, and
// were not measured again yet. A fast one does no harm: noise only adds.
func (c *collector) slowRounds() [][][2]int {
	r := c.result
	var rounds [][][2]int
	for size := range r.Sizes {
		for _, e := range unusual(roundEffects(r.byPair(size))) {
			if at := [2]int{e.Repetition, e.Round}; e.Effect > 0 && !c.repeated[at] {
				c.repeated[at] = true
				rounds = append(rounds, r.pairsOf(e.Repetition, e.Round))
			}
		}
	}
	return rounds
}

// pairsOf are the pairs of one round.
func (r *Result) pairsOf(repetition, round int) [][2]int {
	var pairs [][2]int
	for size := range r.Sizes {
		for _, x := range r.block(repetition, size) {
			if p := [2]int{x.From, x.To}; x.Round == round && x.From < x.To && !slices.Contains(pairs, p) {
				pairs = append(pairs, p)
			}
		}
	}
	return pairs
}

// imprecise are the pairs whose median is not known to the share at all sizes.
func (r *Result) imprecise(share float64) [][2]int {
	var pairs [][2]int
	for size := range r.Sizes {
		for _, p := range r.byPair(size) {
			if !p.precise(share) {
				pairs = append(pairs, [2]int{p.a, p.b})
			}
		}
	}
	slices.SortFunc(pairs, func(a, b [2]int) int { return slices.Compare(a[:], b[:]) })
	return slices.Compact(pairs)
}
