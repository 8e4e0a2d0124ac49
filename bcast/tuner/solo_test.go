package tuner

import (
	"errors"
	"math"
	"math/rand/v2"
	"testing"
)

// solo is the only rank of a communicator whose clock goes as a test likes: contests run on it by
// the thousand, in no time.
type solo struct{ now float64 }

func (*solo) Rank() int                   { return 0 }
func (*solo) Size() int                   { return 1 }
func (*solo) Send([]byte, int, int) error { return errors.New("nobody is there") }
func (*solo) Recv([]byte, int, int) error { return errors.New("nobody is there") }
func (s *solo) Now() float64              { return s.now }

// A script says what broadcasts take.
type script struct {
	cold, hot float64                                      // s, of the first of a batch and of each further one
	noise     float64                                      // sigma of the logarithm, of a whole batch
	also      func(round int, root int, cold bool) float64 // factor; nil: 1
}

// play is a way that takes the scripted time. Rounds count the broadcasts with which a batch begins,
// after warming up.
func (s *solo) play(x script, rng *rand.Rand, warm int) Way {
	round, last, factor := -warm, math.Inf(-1), 1.0
	return func(_ []byte, root int) error {
		cold := s.now != last // something else has been since
		if cold {
			round++
			factor = math.Exp(x.noise * rng.NormFloat64())
		}
		t := x.hot
		if cold {
			t = x.cold
		}
		t *= factor
		if x.also != nil {
			t *= x.also(round, root, cold)
		}
		s.now += t
		last = s.now
		return nil
	}
}

// quick is a stopwatch on a rank alone, which does not rest, and between two timings lets 1 us pass.
func quick(t testing.TB, s *solo) *Stopwatch {
	t.Helper()
	w, err := NewStopwatch(s, 1, nil, false)
	if err != nil {
		t.Fatal(err)
	}
	w.rest = func() { s.now += 1e-6 }
	return w
}

// duel is Beats of a challenger against an incumbent, both scripted.
func duel(t testing.TB, seed uint64, challenger, incumbent script, roots []int, crowded bool, limit float64) (Verdict, float64) {
	t.Helper()
	s := &solo{}
	rng := rand.New(rand.NewPCG(seed, 7))
	w := quick(t, s)
	c := w.Contest(roots, make([]byte, 8), crowded, limit)
	c.batch = 4
	v, err := c.Beats(s.play(challenger, rng, 0), s.play(incumbent, rng, 0))
	if err != nil {
		t.Fatal(err)
	}
	return v, s.now
}
