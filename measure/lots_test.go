package measure

import (
	"math"
	"strings"
	"testing"

	"github.com/topocast/topocast/mpi"
)

// disturbedComm is a Timed communicator whose samples are exact but for what
// disturb does to them: it gets the number of the lot among those that the
// calling rank has asked of the peer, of the sample in it, and the true time of
// the sample.
type disturbedComm struct {
	timedComm
	lots    map[int]int
	disturb func(rank, peer, lot, sample int, truth float64) float64
}

func (c *disturbedComm) PingPong(samples []float64, peer, tag, size, iters int, first bool) error {
	if err := c.timedComm.PingPong(samples, peer, tag, size, iters, first); err != nil {
		return err
	}
	if first && len(samples) == lotSize {
		for i := range samples {
			samples[i] = c.disturb(c.Rank(), peer, c.lots[peer], i, samples[i])
		}
		c.lots[peer]++
	}
	return nil
}

const lotSize = 12 // no other exchange has as many samples

// underDisturbance measures two ranks, without warm-up lots in the count.
func underDisturbance(t *testing.T, s *Settings, disturb func(rank, peer, lot, sample int, truth float64) float64) *Result {
	t.Helper()
	s.Samples = lotSize
	return results(t, 2, nil, s, func(c mpi.Communicator) mpi.Communicator {
		return &disturbedComm{timedComm{bare: bare{c}}, make(map[int]int), disturb}
	})[0]
}

// TestDisturbedLotsAreTakenAgain: the warm-up asks for the first lot, which is
// quiet here, so that the measurement begins with lot 1.
func TestDisturbedLotsAreTakenAgain(t *testing.T) {
	truth := halfRoundTrip(0, 1)
	for _, c := range []struct {
		name    string
		disturb func(lot, sample int, truth float64) float64
		lots    int
		unsure  bool
		low     float64 // of Q1 in units of the truth
	}{
		{"quiet", func(_, _ int, truth float64) float64 { return truth }, 1, false, 1},
		{"a few slow samples do no harm", func(_, sample int, truth float64) float64 {
			if sample < 2 {
				return 1000 * truth
			}
			return truth
		}, 1, false, 1},
		{"the first lot is hit by a time slice", func(lot, sample int, truth float64) float64 {
			if lot == 1 && sample > 0 {
				return 1000 * truth
			}
			return truth
		}, 2, false, 1},
		{"three lots are hit", func(lot, sample int, truth float64) float64 {
			if lot >= 1 && lot <= 3 && sample > 0 {
				return truth * 10 * float64(1+lot)
			}
			return truth
		}, 4, false, 1},
		{"noise that is always there is what the pair takes", func(_, sample int, truth float64) float64 {
			return truth * (1 + float64(sample)/lotSize)
		}, 2, false, 1 + 2./lotSize},
		// 12 samples have the third as their lower quartile and the ninth as the upper.
		{"quartiles within their bounds", func(_, sample int, truth float64) float64 {
			return truth * []float64{1, 1.1, 1.45}[(sample+4)/6]
		}, 1, false, 1.1},
		{"a lower quartile beyond its bound", func(_, sample int, truth float64) float64 {
			return truth * []float64{1, 1.3, 1.4}[(sample+4)/6]
		}, 2, false, 1.3},
		{"an upper quartile beyond its bound", func(_, sample int, truth float64) float64 {
			return truth * []float64{1, 1.1, 1.7}[(sample+4)/6]
		}, 2, false, 1.1},
		{"no two lots agree", func(lot, sample int, truth float64) float64 {
			if sample == 0 {
				return truth
			}
			return truth * float64(2+lot)
		}, 6, true, 3},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := underDisturbance(t, &Settings{Sampling: Sampling{Repetitions: 1}}, func(_, _, lot, sample int, truth float64) float64 {
				if lot == 0 {
					return truth
				}
				return c.disturb(lot, sample, truth)
			})
			for _, x := range r.Measurements() {
				if x.Lots != c.lots || x.Unsure != c.unsure || x.Count != lotSize {
					t.Errorf("measurement %+v, want %d lots, unsure %t", x, c.lots, c.unsure)
				}
				if got := x.Q1 / truth; math.Abs(got-c.low) > 0.03*c.low {
					t.Errorf("lower quartile is %.3f of the truth, want %.3f", got, c.low)
				}
			}
			if warned := strings.Contains(strings.Join(r.Warnings, "\n"), "disturbed in all of 6 lots"); warned != c.unsure {
				t.Errorf("warnings %q", r.Warnings)
			}
		})
	}
}

// TestSlowPilotsMakeNoShortSamples: pilots in a disturbed moment say that one
// round trip is long enough for a sample; the samples say that it is not. 50 steps
// of the clock are 1250 ns, or 13 round trips.
func TestSlowPilotsMakeNoShortSamples(t *testing.T) {
	r := results(t, 2, nil, &Settings{Sampling: Sampling{Repetitions: 1, Samples: lotSize}}, func(c mpi.Communicator) mpi.Communicator {
		return &slowPilots{timedComm{bare: bare{c}}}
	})[0]
	for _, x := range r.Measurements() {
		if x.Batch != 13 || x.Lots > 2 || math.Abs(x.Q1-fastRoundTrip/2) > 1e-12 {
			t.Errorf("measurement %+v, want %g s in batches of 13 round trips", x, fastRoundTrip/2)
		}
	}
	if lots := r.Measurements()[0].Lots; lots != 2 {
		t.Errorf("%d lots after slow pilots, want 2: one too short, one of the right length", lots)
	}
}

const (
	fastRoundTrip = 100e-9 // s
	pilots        = 5      // round trips from which pingpong sizes its batches
	pilotedSteps  = 50     // steps of the clock that it wants of a sample
)

// slowPilots is a fast pair whose pilots are disturbed.
type slowPilots struct{ timedComm }

func (c *slowPilots) PingPong(samples []float64, peer, tag, size, iters int, first bool) error {
	for i := range samples {
		samples[i] = fastRoundTrip*float64(iters) + clockCost
		if len(samples) == pilots {
			samples[i] += 1e-3
		}
	}
	return nil
}

// TestMeasurementsThatDisagreeAreRepeated: rank 1 is disturbed in all lots of the
// first repetitions, always in the same way, so that each of its measurements looks quiet. The
// two directions then disagree, until one of its measurements is undisturbed.
func TestMeasurementsThatDisagreeAreRepeated(t *testing.T) {
	const warmUps = 1 // lots per repetition
	for _, c := range []struct {
		extra, disturbed int // repetitions
		want             int
		warns            bool
	}{
		{0, 1, 1, true},
		{3, 0, 1, false},
		{3, 1, 2, false},
		{3, 9, 2, false}, // two measurements of rank 0 agree
	} {
		r := underDisturbance(t, &Settings{Sampling: Sampling{Repetitions: 1}, extra: c.extra}, func(rank, _, lot, _ int, truth float64) float64 {
			if rank == 1 && lot < c.disturbed*(1+warmUps) {
				return 3 * truth
			}
			return truth
		})
		if r.Repetitions != c.want || len(r.Matrices()) != c.want || r.Rounds != c.want || r.TotalRounds != c.want {
			t.Errorf("%+v: %d repetitions, %d of %d rounds, want %d", c, r.Repetitions, r.Rounds, r.TotalRounds, c.want)
		}
		if warned := strings.Contains(strings.Join(r.Warnings, "\n"), "the best two measurements"); warned != c.warns {
			t.Errorf("%+v: warnings %q", c, r.Warnings)
		}
	}
}

func (*disturbedComm) CallCosts() (call, loop float64) { return 0, 0 }

func (*slowPilots) CallCosts() (call, loop float64) { return 0, 0 }
