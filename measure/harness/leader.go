package harness

import (
	"cmp"
	"fmt"
	"time"
)

// A leader is what rank 0 knows of a measurement of all pairs, and from which it plans the next batch:
// how long rounds take, how far the measurement is, and what is left of the budget.
type leader struct {
	*pairing
	settings *Settings
	wall     time.Time // when Lead was called: progress goes by the wall clock

	asked   effort
	planned effort // what is to be done in all

	usualRounds int // in which all pairs, or all chosen ones, are measured once
	usualPairs  int // of these rounds

	repetition int      // the one under way
	extra      bool     // it is one that Again has asked for
	far        Progress // rounds and pairs that are done, with those of an earlier run, and in the plan
	earlier    int      // pairs of an earlier run: as many as its rounds have in the mean

	warmed    float64 // s, from the first exchange of a repetition to its first round
	inRounds  float64 // s, in all rounds so far
	timed     int     // their number
	perRound  float64 // s, of the last batch
	sharing   float64 // s, that it took to gather it
	nextCheck int     // rounds after which the plan is held against the budget

	notes []string // what was decided
}

// An effort is how much is measured of each pair.
type effort struct{ repetitions, samples int }

// Groups run by themselves between two barriers of all ranks: so short that one who wants to
// stop hardly waits, and so long that the barriers cost little.
const together = 0.02 // s

// Deliveries come every half a second at most, and take at most a twentieth of the time. So
// they cost the measurement at most 5 %.
const (
	deliverEvery = 0.5 // s, at least
	deliverShare = 20  // times what the last delivery took, at least
)

// mostTold bounds the pairs of a batch: all ranks are told of all of them, in 200 KB.
const mostTold = 1 << 14

// lead plays batches of rounds until all is measured or the ranks have stopped.
func (l *leader) lead(play Play) error {
	rounds, err := l.begin()
	if err != nil {
		return err
	}
	// Who wants to stop before the start is heard before all ranks are told of rounds.
	if _, err := l.playBatch(play, &batch{rounds: make([][]Pair, 1), levels: make([]int, 1), every: 1}); err != nil {
		return err
	}
	for {
		for warmUp := true; len(rounds) > 0 && l.Stopped() == ""; warmUp = false {
			done, err := l.measure(play, rounds, warmUp)
			if err != nil {
				return err
			}
			rounds = rounds[done:]
		}
		if l.Stopped() != "" {
			return nil
		}
		if rounds = l.further(); len(rounds) == 0 {
			return nil
		}
	}
}

// begin plans what was asked for, and returns the rounds of the first repetition that an earlier run has not measured.
func (l *leader) begin() ([]round, error) {
	l.wall = time.Now()
	done := l.settings.Done
	rounds := l.rounds()
	l.usualRounds, l.usualPairs = len(rounds), countPairs(rounds)
	plan := l.asked
	if done > 0 {
		if l.usualRounds == 0 || done > MaxRepetitions*l.usualRounds {
			return nil, fmt.Errorf("Settings.Done: %d: there are %d rounds per repetition", done, l.usualRounds)
		}
		// It may have begun more repetitions than are wanted now.
		plan.repetitions = max(plan.repetitions, (done+l.usualRounds-1)/l.usualRounds)
		l.repetition = min(done/l.usualRounds, plan.repetitions-1)
		rounds = l.rounds()[done-l.repetition*l.usualRounds:]
		l.earlier = done * l.usualPairs / l.usualRounds
	}
	l.adopt(plan)
	l.far.Units, l.far.Done, l.far.Pairs = "rounds", done, l.earlier
	l.nextCheck = done + firstCheck
	l.report()
	return rounds, nil
}

// rounds are those of the repetition in which all pairs, or all chosen ones, are measured once.
func (l *leader) rounds() []round {
	return l.settings.Pairs.rounds(l.Comm.Size(), l.settings.Seed, l.repetition)
}

// adopt makes an effort the plan.
func (l *leader) adopt(e effort) {
	l.planned = e
	l.far.Total, l.far.TotalPairs = e.repetitions*l.usualRounds, e.repetitions*l.usualPairs
}

// further are the rounds of the next repetition; none if all is measured.
func (l *leader) further() []round {
	if l.repetition+1 < l.planned.repetitions {
		l.repetition++
		return l.rounds()
	}
	if l.Ctx.Err() != nil {
		return nil
	}
	chosen, wanted := l.again()
	if !wanted {
		return nil
	}
	l.repetition++
	l.planned.repetitions, l.extra = l.repetition+1, true
	rounds := given(chosen, l.usualRounds)
	if len(chosen) == 0 {
		rounds = l.rounds()
	}
	l.far.Total, l.far.TotalPairs = l.far.Done+len(rounds), l.far.Pairs+countPairs(rounds)
	return rounds
}

// again asks whether another repetition is worth its time, and finds out whether it
// is within the budget.
func (l *leader) again() (chosen [][][2]int, wanted bool) {
	if l.settings.Again == nil || l.planned.repetitions >= MaxRepetitions {
		return nil, false
	}
	chosen, wanted = l.settings.Again(l.planned.repetitions)
	rounds := cmp.Or(len(chosen), l.usualRounds)
	if !wanted || rounds == 0 {
		return nil, false
	}
	if err := checkRounds("what Again returns", chosen, l.Comm.Size()); err != nil {
		l.note(err.Error())
		return nil, false
	}
	need := l.warmed
	if l.timed > 0 {
		need += l.inRounds / float64(l.timed) * float64(rounds)
	}
	return chosen, l.Now()+need <= l.End()
}

// measure plays the next batch of the rounds that are left of a repetition, delivers it, and returns how many of them are
// done. It finds out how long rounds take, and how long it takes to gather them.
func (l *leader) measure(play Play, rounds []round, warmUp bool) (done int, err error) {
	l.check()
	b := l.next(rounds, warmUp)
	var begun []float64 // s, when each round began
	b.begin = func() { begun = append(begun, l.Now()) }
	b.over = func(over int) {
		if warmUp && over == 1 {
			return
		}
		done++
		l.far.Done++
		if over < len(b.rounds) { // the last round of a batch is told with its pairs
			l.report()
		}
	}
	rows, err := l.playBatch(play, b)
	if err != nil {
		return done, err
	}
	l.deliver(rows)
	if done == 0 {
		return 0, nil
	}
	if warmUp {
		l.warmed = begun[1] - begun[0]
		begun = begun[1:]
	}
	end, last := l.Now(), begun[done-1]
	l.inRounds += end - begun[0]
	l.timed += done
	l.perRound = (end - begun[0]) / float64(done)
	if done > 1 { // the last of them takes as long as the others
		l.sharing = max(0, end-last-(last-begun[0])/float64(done-1))
	}
	return done, nil
}

// next is a batch of the first of some rounds. Batches grow as long as rounds become known better, up to what may be lost with a
// job that is killed. The first one of a repetition begins with a round in which the pairs of the next warm up.
func (l *leader) next(rounds []round, warmUp bool) *batch {
	b := &batch{repetition: l.repetition, first: rounds[0].number, every: 1 << 15}
	count := len(rounds)
	if l.nextCheck > l.far.Done {
		count = min(count, l.nextCheck-l.far.Done)
	}
	if l.perRound > 0 {
		limit := func(seconds float64) int { return int(max(1, min(seconds/l.perRound, 1<<15))) }
		count = min(count, limit(max(deliverEvery, deliverShare*l.sharing)))
		b.every = limit(together)
	}
	add := func(r round, level, task int) {
		var pairs []Pair
		for _, p := range r.pairs {
			pairs = append(pairs, Pair{p[0], p[1], task})
		}
		b.rounds, b.levels = append(b.rounds, pairs), append(b.levels, level)
	}
	if warmUp {
		b.first--
		add(rounds[0], 0, WarmUp)
	}
	told := 0
	for _, r := range rounds[:count] {
		if told >= mostTold {
			break
		}
		add(r, r.level, l.planned.samples)
		told += len(r.pairs)
	}
	return b
}

// deliver hands on the rows of a batch.
func (l *leader) deliver(rows []Row) {
	l.far.Pairs += len(rows) / 2 // both ranks of a pair tell of it
	l.report()
	if l.settings.Deliver != nil {
		l.settings.Deliver(rows, l.progress())
	}
}

// note keeps a decision, and tells it.
func (l *leader) note(text string) {
	l.notes = append(l.notes, text)
	if l.settings.Notify != nil {
		l.settings.Notify(text)
	}
}

func (l *leader) report() {
	if l.settings.Progress != nil {
		l.settings.Progress(l.progress())
	}
}

// progress is how far rank 0 knows the measurement to be.
func (l *leader) progress() Progress {
	p := l.far
	p.Elapsed = time.Since(l.wall)
	p.estimate(p.Done-l.settings.Done, p.Pairs-l.earlier)
	return p
}

// outcome is how it has ended.
func (l *leader) outcome() *Outcome {
	return &Outcome{
		Repetitions: l.planned.repetitions, Rounds: l.far.Done, TotalRounds: l.far.Total,
		Pairs: l.far.Pairs, Stopped: l.Stopped(), Notes: l.notes,
	}
}
