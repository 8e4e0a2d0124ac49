package tuner

import (
	"math"
	"math/rand/v2"
	"testing"
)

// A stage plays sessions without a communicator, by a clock that goes as a test likes: thousands of them in no time.
type stage struct {
	now  float64 // s
	play map[int]func(roots []int) Sample
	all  []Round // that were played
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
			samples[i] = s.play[v](round.Roots)
		}
		session.Add(samples)
	}
}

// A script says what broadcasts take.
type script struct {
	cold, hot float64                                      // s, of the first of a batch and of each further one
	noise     float64                                      // sigma of the logarithm, of a whole batch
	also      func(round int, root int, cold bool) float64 // factor; nil: 1
}

// add makes a variant take the scripted times.
func (s *stage) add(variant int, x script, rng *rand.Rand) {
	if s.play == nil {
		s.play = make(map[int]func([]int) Sample)
	}
	round := 0
	s.play[variant] = func(roots []int) Sample {
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
func (s *stage) newContest(roots []int, oversubscribed bool, limit float64) *Contest {
	end := math.Inf(1)
	if limit > 0 {
		end = s.now + limit
	}
	return NewContest(Settings{Roots: roots, OneHost: true, Oversubscribed: oversubscribed, Limit: end}, s.now)
}

// duel is the verdict of a challenger against an incumbent, both scripted, and the time that it took.
func duel(t testing.TB, seed uint64, challenger, incumbent script, roots []int, oversubscribed bool, limit float64) (Verdict, float64) {
	t.Helper()
	s, rng := &stage{}, rand.New(rand.NewPCG(seed, 7))
	s.add(0, challenger, rng)
	s.add(1, incumbent, rng)
	c := s.newContest(roots, oversubscribed, limit)
	c.batch = 4
	d := c.Duel(0, 1)
	s.conduct(d)
	return d.Verdict(), s.now
}
