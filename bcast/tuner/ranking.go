package tuner

import (
	"cmp"
	"math"
	"slices"
)

// A ranking is a session that orders variants, the fastest by its median first. All run in three rounds, then the
// better half of them in three more, until as few are left as are wanted. So each has at least three samples.
//
// The first variant may be so by luck. Nothing is said of it by these samples: a duel takes new ones.
type ranking struct {
	*contest
	ranked  []Variant // the fastest first; the first left of them are still in, and those left out late come before those left out early
	left    int
	wanted  int
	samples map[Variant][]Sample
	rounds  int // so far
}

// rank returns a session that orders the variants to find so many of them. If the time does not suffice for three rounds
// their order stays.
func (c *contest) rank(variants []Variant, wanted int) *ranking {
	return &ranking{contest: c, ranked: slices.Clone(variants), left: len(variants), wanted: wanted, samples: make(map[Variant][]Sample)}
}

// Next implements Session.
func (r *ranking) Next(now float64) (Round, bool) {
	if r.left <= r.wanted || !r.hasTime(now) {
		return Round{}, false
	}
	batch := 1
	if r.cheap {
		batch = r.batch
	}
	return r.round(r.ranked[:r.left], batch), true
}

// Add implements Session.
func (r *ranking) Add(done Round, samples []Sample) {
	for i, variant := range done.Variants {
		r.samples[variant] = append(r.samples[variant], samples[i])
	}
	const rounds = 3
	if r.rounds++; r.rounds%rounds > 0 {
		return
	}
	slices.SortStableFunc(r.ranked[:r.left], func(a, b Variant) int {
		return cmp.Compare(medians(r.samples[a]).score(), medians(r.samples[b]).score())
	})
	r.left = (r.left + 1) / 2
}

// score is what variants are ranked by: the geometric mean, so that a tenth of a cold broadcast weighs as much as a
// tenth of a hot one.
func (s Sample) score() float64 { return math.Sqrt(s.Cold * s.Hot) }
