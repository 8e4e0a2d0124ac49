package tuner

import (
	"cmp"
	"math"
	"slices"
)

// A Ranking is a session that orders variants, the fastest by its median first. All run in three rounds, then the
// better half of them in three more, until one is left. So each has at least three samples.
//
// The first variant may be so by luck. Nothing is said of it by these samples: a Duel takes new ones.
type Ranking struct {
	*Contest
	ranked  []int // the first left of them are still in
	left    int
	samples map[int][]Sample
	order   []int // of the round under way
	rounds  int   // since some were left out
}

// Rank returns a session that orders the variants. If the time does not suffice for three rounds their order stays.
func (c *Contest) Rank(variants []int) *Ranking {
	return &Ranking{Contest: c, ranked: slices.Clone(variants), left: len(variants), samples: make(map[int][]Sample)}
}

// Ranked are the variants, the fastest first. Variants that were left out late come before those left out early.
func (r *Ranking) Ranked() []int { return r.ranked }

// Next implements Session.
func (r *Ranking) Next(now float64) (Round, bool) {
	if r.left < 2 || !r.hasTime(now) {
		return Round{}, false
	}
	batch := 1
	if r.cheap {
		batch = r.batch
	}
	next := r.round(r.ranked[:r.left], batch)
	r.order = next.Variants
	return next, true
}

// Add implements Session.
func (r *Ranking) Add(samples []Sample) {
	for i, variant := range r.order {
		r.samples[variant] = append(r.samples[variant], samples[i])
	}
	const rounds = 3
	if r.rounds++; r.rounds < rounds {
		return
	}
	r.rounds = 0
	slices.SortStableFunc(r.ranked[:r.left], func(a, b int) int {
		return cmp.Compare(medians(r.samples[a]).score(), medians(r.samples[b]).score())
	})
	r.left = (r.left + 1) / 2
}

// score is what variants are ranked by: the geometric mean, so that a tenth of a cold broadcast weighs as much as a
// tenth of a hot one.
func (s Sample) score() float64 { return math.Sqrt(s.Cold * s.Hot) }
