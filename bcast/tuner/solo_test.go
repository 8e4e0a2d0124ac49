package tuner

import (
	"math"
	"math/rand/v2"
	"testing"
)

// A stage plays sessions without a communicator, by a clock that goes as a test likes: thousands of them in no time.
type stage struct {
	now  float64 // s
	play func(v Variant, roots []int) Sample
	all  []Round // that were played
}

// numbered are variants that differ in their number.
func numbered(list ...int) (variants []Variant) {
	for _, i := range list {
		variants = append(variants, Variant{Index: i})
	}
	return variants
}

// conduct performs all rounds of a session.
func (s *stage) conduct(session Session) {
	for {
		round, on := session.Next(s.now)
		if !on {
			return
		}
		s.all = append(s.all, round)
		samples := make([]Sample, len(round.Variants))
		for i, v := range round.Variants {
			s.now += 1e-6 // the rest before a timing
			samples[i] = s.play(v, round.Roots)
		}
		session.Add(round, samples)
	}
}

// A script says what broadcasts take.
type script struct {
	cold, hot float64                                      // s, of the first of a batch and of each further one
	noise     float64                                      // sigma of the logarithm, of a whole batch
	also      func(round int, root int, cold bool) float64 // factor; nil: 1
}

// add makes a variant take the scripted times.
func (s *stage) add(number int, x script, rng *rand.Rand) {
	others, round := s.play, 0
	s.play = func(v Variant, roots []int) Sample {
		if v.Index != number {
			return others(v, roots)
		}
		round++
		factor := math.Exp(x.noise * rng.NormFloat64())
		var sample Sample
		for i, root := range roots {
			t := x.hot
			if i == 0 {
				t = x.cold
			}
			t *= factor
			if x.also != nil {
				t *= x.also(round, root, i == 0)
			}
			s.now += t
			sample.Hot += t / float64(len(roots))
			if i == 0 {
				sample.Cold = t
			}
		}
		return sample
	}
}

// newContest is a contest of a stage; limit 0 is none.
func (s *stage) newContest(roots []int, oversubscribed bool, limit float64) *contest {
	end := math.Inf(1)
	if limit > 0 {
		end = s.now + limit
	}
	margin := usualMargin
	if oversubscribed {
		margin = oversubscribedMargin
	}
	return &contest{roots: roots, oneHost: true, margin: margin, limit: end, begun: s.now, batch: 1}
}

// runDuel runs the duel of a challenger against an incumbent, both scripted.
func runDuel(t testing.TB, seed uint64, challenger, incumbent script, roots []int, oversubscribed bool, limit float64) *duel {
	t.Helper()
	s, rng := &stage{}, rand.New(rand.NewPCG(seed, 7))
	s.add(0, challenger, rng)
	s.add(1, incumbent, rng)
	c := s.newContest(roots, oversubscribed, limit)
	c.batch = 4
	d := c.duel(Variant{Index: 0}, Variant{Index: 1}, mostPairs)
	s.conduct(d)
	return d
}
