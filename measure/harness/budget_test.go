package harness

import (
	"testing"
	"time"

	"github.com/topocast/topocast/mpi"
)

// alone is one of two ranks.
type alone struct{ mpi.Communicator }

func (alone) Size() int { return 2 }

// rankZero is what rank 0 knows when so many rounds of the chosen ones are done, t s after its start.
func rankZero(s *Settings, rounds, done int, t float64) *leader {
	return &leader{
		pairing:  &pairing{Conductor: &Conductor{Comm: alone{}, Now: func() float64 { return t }, end: s.Budget.Seconds()}},
		settings: s, far: Progress{Done: done}, usualRounds: rounds, planned: effort{max(s.Repetitions, 1), 20},
	}
}

// TestExtraRepetitionsKeepToTheBudget: none is begun that would not end in time.
func TestExtraRepetitionsKeepToTheBudget(t *testing.T) {
	for _, c := range []struct {
		name  string
		t     float64 // s, of a budget of 100, in which each of 10 rounds has taken 1 s
		again [][][2]int
		want  bool
		notes int
	}{
		{"11 s for ten rounds", 89, nil, true, 0},
		{"9 s for ten rounds", 91, nil, false, 0},
		{"3 s for two rounds", 97, [][][2]int{{{0, 1}}, {{1, 0}}}, true, 0},
		{"1 s for two rounds", 99, [][][2]int{{{0, 1}}, {{1, 0}}}, false, 0},
		{"pairs in common", 1, [][][2]int{{{0, 1}, {1, 0}}}, false, 1},
	} {
		l := rankZero(&Settings{Control: Control{Budget: 100 * time.Second}, Again: func(int) ([][][2]int, bool) { return c.again, true }}, 10, 10, c.t)
		l.inRounds, l.timed = 9, 9
		if _, wanted := l.again(); wanted != c.want || len(l.notes) != c.notes {
			t.Errorf("%s: wanted: %t, want %t; notes %q", c.name, wanted, c.want, l.notes)
		}
	}
}

// TestCheaperPlans: of a budget too small, repetitions go before samples, but
// not below 10 samples as long as there is a second one; below 5 samples nothing goes.
func TestCheaperPlans(t *testing.T) {
	for _, c := range []struct {
		left                 float64 // s; a round takes 3 s with 20 samples, 2 s with 10
		repetitions, samples int
	}{
		{900, 3, 20}, // all of the 300 rounds but 3 that are done
		{800, 3, 16}, // 297*(16+10)/10 = 772
		{594, 3, 10},
		{593, 2, 20}, // 197*3 = 591
		{400, 2, 10}, // 197*2 = 394
		{390, 1, 20}, // 97*3 = 291
		{200, 1, 10},
		{150, 1, 5}, // 97*1.5 = 145.5
		{50, 1, 5},  // pairs will be missing
	} {
		l := rankZero(&Settings{Repetitions: 3}, 100, 3, 0)
		l.inRounds, l.timed = 6, 2
		if got := l.cheaper(c.left); got.repetitions != c.repetitions || got.samples != c.samples {
			t.Errorf("for %g s: %v, want %d of %d", c.left, got, c.repetitions, c.samples)
		}
	}
}

// TestDeliveriesKeepUp: whoever ends the process loses what half a second, or
// twenty times what it takes to bring the measurements together, has measured.
func TestDeliveriesKeepUp(t *testing.T) {
	for _, c := range []struct {
		perRound, sharing float64 // s
		want              int
	}{
		{0.05, 0, 10},
		{0.05, 0.01, 10},
		{0.05, 0.1, 40},
		{1, 0, 1},
	} {
		l := rankZero(&Settings{}, 1000, 200, 0)
		l.perRound, l.sharing, l.nextCheck = c.perRound, c.sharing, 800
		if got := len(l.next(make([]round, 800), false).rounds); got != c.want {
			t.Errorf("%+v: %d rounds before the next delivery, want %d", c, got, c.want)
		}
	}
}
