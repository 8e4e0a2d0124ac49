package harness

import (
	"context"
	"testing"
	"time"

	"github.com/topocast/topocast/mpi"
)

// TestExtraRepetitionsKeepToTheBudget: none is begun that would not end in time.
func TestExtraRepetitionsKeepToTheBudget(t *testing.T) {
	again := make([][][2]int, 0)
	c := &campaign{
		comm: alone{}, plan: &plan{Repetitions: 1, Samples: 20}, asked: 1,
		settings: &Settings{Budget: 100 * time.Second, Again: func(int) ([][][2]int, bool) { return again, true }},
		order:    &schedule{plan: &plan{Chosen: make([][][2]int, 10)}}, done: 10, laps: 9, inRounds: 9, outcome: &Outcome{},
	}
	// One more repetition takes 10 s.
	if !c.wantsMore(89) {
		t.Error("11 s are left for a repetition of 10 s, but it is not wanted")
	}
	if c.wantsMore(91) {
		t.Error("9 s are left for a repetition of 10 s, but it is wanted")
	}
	// Two of its rounds take 2 s.
	again = [][][2]int{{{0, 1}}, {{1, 0}}}
	if !c.wantsMore(97) {
		t.Error("3 s are left for two rounds of 1 s, but they are not wanted")
	}
	if c.wantsMore(99) {
		t.Error("1 s is left for two rounds of 1 s, but they are wanted")
	}
	again = [][][2]int{{{0, 1}, {1, 0}}}
	if c.wantsMore(1) || len(c.outcome.Notes) != 1 {
		t.Errorf("a round of pairs in common is wanted, or not spoken of: %q", c.outcome.Notes)
	}
}

// alone is one of two ranks.
type alone struct{ mpi.Communicator }

func (alone) Size() int { return 2 }

// rankZero is the campaign of rank 0 between two repetitions of one round, t s
// after its start.
func rankZero(t float64) *campaign {
	return &campaign{
		ctx: context.Background(), now: func() float64 { return t }, settings: &Settings{}, asked: 2,
		plan: &plan{Repetitions: 2, Samples: 20}, order: &schedule{plan: &plan{Chosen: make([][][2]int, 1)}}, done: 1,
		outcome: &Outcome{},
	}
}

// TestBudgetUsedUpByTheLastRound: when all is measured nothing was cut off,
// however long it took.
func TestBudgetUsedUpByTheLastRound(t *testing.T) {
	for _, c := range []struct {
		t     float64 // s
		ended bool
		want  wish
	}{{9, false, goOn}, {11, false, stopBudget}, {9, true, finish}, {11, true, finish}} {
		k := rankZero(c.t)
		k.settings.Budget, k.ended = 10*time.Second, c.ended
		if got := k.wish(); got != c.want {
			t.Errorf("%+v: wish = %d, want %d", c, got, c.want)
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
		k := &campaign{plan: &plan{Repetitions: 3, Samples: 20}, done: 3, laps: 2, inRounds: 6}
		k.order = &schedule{plan: &plan{Chosen: make([][][2]int, 100)}}
		if got := k.cheaper(c.left); got.Repetitions != c.repetitions || got.Samples != c.samples {
			t.Errorf("for %g s: %d repetitions of %d samples, want %d of %d", c.left, got.Repetitions, got.Samples, c.repetitions, c.samples)
		}
	}
}

// TestDeliveriesKeepUp: whoever ends the process loses what half a second, or
// twenty times what it takes to bring the readings together, has measured.
func TestDeliveriesKeepUp(t *testing.T) {
	for _, c := range []struct {
		delivers          bool
		since, delivering float64 // s
		want              wish
	}{
		{true, 0.4, 0, goOn},
		{true, 0.6, 0, deliver},
		{true, 1.9, 0.1, goOn},
		{true, 2.1, 0.1, deliver},
		{false, 1e6, 0, goOn},
	} {
		const last = 100
		k := rankZero(last + c.since)
		k.delivered, k.delivering = last, c.delivering
		if c.delivers {
			k.settings.Deliver = func([]Row, Progress) {}
		}
		if got := k.wish(); got != c.want {
			t.Errorf("%+v: wish = %d, want %d", c, got, c.want)
		}
	}
}
