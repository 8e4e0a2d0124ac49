package measure

import "slices"

// preciseRepetitions is how often, at most, pairs are measured again for Sampling.Precision: noise of 10 % takes some 100 readings for 2 %.
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
	slices.SortFunc(r.readings, compareReadings)
	if s.extra > 0 {
		if r.disturbed() {
			return nil, true
		}
		if rounds = c.slowRounds(); len(rounds) > 0 {
			return rounds, true
		}
	}
	if s.Precision > 0 {
		rounds = disjoint(r.imprecise(s.Precision), r.Ranks)
	}
	return rounds, len(rounds) > 0
}

// slowRounds are those that were slower than the others by more than chance explains, and
// were not measured again yet. A fast one does no harm: noise only adds.
func (c *collector) slowRounds() [][][2]int {
	r := c.result
	var rounds [][][2]int
	for size := range r.Sizes {
		for _, e := range unusual(r.roundEffects(r.cells(size))) {
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
		for _, p := range r.pairIntervals(size) {
			if !p.precise(share) {
				pairs = append(pairs, [2]int{p.A, p.B})
			}
		}
	}
	slices.SortFunc(pairs, func(a, b [2]int) int { return slices.Compare(a[:], b[:]) })
	return slices.Compact(pairs)
}

// disjoint puts pairs of so many ranks into rounds of disjoint ones: each into the first that has
// room for it. Of d pairs of one rank that takes fewer than 2d rounds.
func disjoint(pairs [][2]int, ranks int) [][][2]int {
	var rounds [][][2]int
	taken := make([][]bool, ranks) // by rank and round
	for _, p := range pairs {
		a, b := taken[p[0]], taken[p[1]]
		i := 0
		for i < len(a) && a[i] || i < len(b) && b[i] {
			i++
		}
		if i == len(rounds) {
			rounds = append(rounds, nil)
		}
		rounds[i] = append(rounds[i], p)
		for _, rank := range p {
			if more := i + 1 - len(taken[rank]); more > 0 {
				taken[rank] = append(taken[rank], make([]bool, more)...)
			}
			taken[rank][i] = true
		}
	}
	return rounds
}
