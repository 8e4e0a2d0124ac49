package harness

import (
	"cmp"
	"fmt"
	"slices"
	"time"
)

// A leader is what rank 0 knows of a measurement of all pairs, and from which it plans the next batch:
// how long rounds take, how far the repetition is, and what is left of the budget.
type leader struct {
	*Conductor
	settings *Settings
	columns  int       // of a row
	wall     time.Time // when Lead was called: progress goes by the wall clock

	planned effort // what is to be done in all
	asked   effort

	usualRounds int // in which all pairs, or all chosen ones, are measured once
	usualPairs  int // of these rounds

	repetition int     // the one under way
	rounds     []round // of it
	at         int     // those of them that are done
	behind     int     // what they are numbered from
	end        int     // of the batch under way
	begun      bool    // a batch of it is done
	extra      bool    // it is one that Again has asked for

	done         int // rounds of all repetitions, with those of an earlier run
	total        int // of the plan
	pairs        int // whose rows are there, or of an earlier run
	totalPairs   int // of the plan
	earlierPairs int // of an earlier run: as many as its rounds have in the mean

	warmed    float64 // s, from the first exchange of a repetition to its first round
	inRounds  float64 // s, in all rounds so far
	timed     int     // their number
	perRound  float64 // s, of the last batch
	sharing   float64 // s, that it took to gather it
	nextCheck int     // rounds after which the plan is held against the budget

	notes     []string
	announced int // notes up to the one of the present plan; 0: there is none
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
func (l *leader) lead(play playBatch) error {
	if err := l.prepare(); err != nil {
		return err
	}
	// Who wants to stop before the start is heard before all ranks are told of rounds.
	if _, err := play(&batch{rounds: make([][]Pair, 1), levels: make([]int, 1), every: 1}); err != nil {
		return err
	}
	for l.Stopped() == "" {
		more, err := l.more()
		if err != nil || !more {
			return err
		}
		if err := l.measure(play); err != nil {
			return err
		}
	}
	return nil
}

// measure plays the next batch, and finds out how long its rounds take, and how long it takes to gather it.
func (l *leader) measure(play playBatch) error {
	warmUp := !l.begun // it is the first round of the batch
	b := l.next()
	var begun []float64 // s, when each round began
	b.begin = func() { begun = append(begun, l.Now()) }
	done := l.done
	b.over = func(rounds int) {
		if warmUp && rounds == 1 {
			return
		}
		l.done++
		if l.at++; l.at < l.end { // the last round of a batch is told with its pairs
			l.report()
		}
	}
	rows, err := play(b)
	if err == nil {
		err = l.take(rows)
	}
	rounds := l.done - done
	if err != nil || rounds == 0 {
		return err
	}
	if warmUp {
		l.warmed = begun[1] - begun[0]
		begun = begun[1:]
	}
	end, last := l.Now(), begun[rounds-1]
	l.inRounds += end - begun[0]
	l.timed += rounds
	l.perRound = (end - begun[0]) / float64(rounds)
	if rounds > 1 { // the last of them takes as long as the others
		l.sharing = max(0, end-last-(last-begun[0])/float64(rounds-1))
	}
	return nil
}

// prepare plans what was asked for, behind the rounds of an earlier run.
func (l *leader) prepare() error {
	s := l.settings
	l.wall = time.Now()
	l.planned = l.asked
	usual, err := l.usual(0)
	if err != nil {
		return err
	}
	l.usualRounds, l.usualPairs = len(usual), countPairs(usual)
	if s.Done > 0 {
		if l.usualRounds == 0 || s.Done > MaxRepetitions*l.usualRounds {
			return fmt.Errorf("Settings.Done: %d: there are %d rounds per repetition", s.Done, l.usualRounds)
		}
		// It may have begun more repetitions than are wanted now.
		l.planned.repetitions = max(l.planned.repetitions, (s.Done+l.usualRounds-1)/l.usualRounds)
		l.repetition = min(s.Done/l.usualRounds, l.planned.repetitions-1)
	}
	l.adopt(l.planned)
	if usual, err = l.usual(l.repetition); err != nil {
		return err
	}
	l.enter(usual)
	if s.Done > 0 {
		l.done, l.at = s.Done, s.Done-l.repetition*l.usualRounds
		l.earlierPairs = s.Done * l.usualPairs / l.usualRounds
		l.pairs = l.earlierPairs
	}
	l.nextCheck = l.done + firstCheck
	l.report()
	return nil
}

// usual are the rounds of a repetition in which all pairs, or all chosen ones, are measured once.
func (l *leader) usual(repetition int) ([]round, error) {
	return l.settings.Pairs.rounds(l.Comm.Size(), l.settings.Seed, repetition)
}

// adopt makes an effort the plan.
func (l *leader) adopt(e effort) {
	l.planned = e
	l.total, l.totalPairs = e.repetitions*l.usualRounds, e.repetitions*l.usualPairs
}

// enter begins a repetition of the given rounds.
func (l *leader) enter(rounds []round) {
	l.rounds, l.at, l.behind, l.begun = rounds, 0, 0, false
}

// more tells whether there is another round to measure, and enters its repetition.
func (l *leader) more() (more bool, err error) {
	if l.at < len(l.rounds) {
		return true, nil
	}
	var rounds []round
	if l.repetition+1 < l.planned.repetitions {
		l.repetition++
		rounds, err = l.usual(l.repetition)
		l.enter(rounds)
		return len(rounds) > 0, err
	}
	if l.Cancelled() {
		return false, nil
	}
	chosen, wanted := l.again()
	if !wanted {
		return false, nil
	}
	l.repetition++
	l.planned.repetitions, l.extra = l.repetition+1, true
	if rounds = given(chosen); len(chosen) == 0 {
		rounds, err = l.usual(l.repetition)
	}
	l.enter(rounds)
	l.total, l.totalPairs = l.done+len(rounds), l.pairs+countPairs(rounds)
	if len(chosen) > 0 {
		l.behind = l.usualRounds
	}
	return true, err
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

// next plans the next batch. Batches grow as long as rounds become known better, up to what may be lost with a
// job that is killed. The first one of a repetition begins with a round in which the pairs of the next warm up.
func (l *leader) next() *batch {
	l.check()
	count := len(l.rounds) - l.at
	b := &batch{repetition: l.repetition, first: l.behind + l.at, every: 1 << 15}
	if l.nextCheck > l.done {
		count = min(count, l.nextCheck-l.done)
	}
	if l.perRound > 0 {
		limit := func(seconds float64) int { return int(max(1, min(seconds/l.perRound, 1<<15))) }
		count = min(count, limit(max(deliverEvery, deliverShare*l.sharing)))
		b.every = limit(together)
	}
	add := func(r round, task int) {
		var pairs []Pair
		for _, p := range r.pairs {
			pairs = append(pairs, Pair{p[0], p[1], task})
		}
		b.rounds, b.levels = append(b.rounds, pairs), append(b.levels, r.level)
	}
	if !l.begun {
		b.first--
		add(round{pairs: l.rounds[l.at].pairs}, warmUp)
	}
	l.begun, l.end = true, l.at
	for told := 0; l.end < l.at+count && told < mostTold; l.end++ {
		add(l.rounds[l.end], withSamples+l.planned.samples)
		told += len(l.rounds[l.end].pairs)
	}
	return b
}

// take delivers the rows of a batch.
func (l *leader) take(found []Row) error {
	var all []Row
	for _, exchange := range found {
		for values := range slices.Chunk(exchange.Values, l.columns) {
			row := exchange
			row.Values = values
			all = append(all, row)
		}
	}
	l.pairs += len(found) / 2 // both ranks of a pair tell of it
	if l.at == l.end {
		l.report()
	}
	if l.settings.Deliver != nil {
		l.settings.Deliver(all, l.progress())
	}
	return nil
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
	p := Progress{
		Units: "rounds", Done: l.done, Total: l.total,
		Pairs: l.pairs, TotalPairs: l.totalPairs, EarlierPairs: l.earlierPairs, Elapsed: time.Since(l.wall),
	}
	p.estimate(l.done - l.settings.Done)
	return p
}

// outcome is how it has ended.
func (l *leader) outcome() *Outcome {
	return &Outcome{
		Repetitions: l.planned.repetitions, Rounds: l.done, TotalRounds: l.total,
		Pairs: l.pairs, Stopped: l.Stopped(), Notes: l.notes,
	}
}
