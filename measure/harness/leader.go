package harness

import (
	"encoding/json"
	"fmt"
	"time"
)

// A leader is what rank 0 knows of a measurement of all pairs, and from which it plans the next block:
// how long rounds take, how far the repetition is, and what is left of the budget.
type leader struct {
	*Conductor
	settings *Settings
	order    *schedule
	own      *part
	wall     time.Time // when Lead was called: progress goes by the wall clock

	planned effort // what is to be done in all
	asked   effort

	repetition int        // the one under way
	rounds     int        // of it
	at         int        // those of them that are done
	chosen     [][][2]int // the rounds of it; none: those of the schedule
	behind     int        // what they are numbered from
	end        int        // of the block under way
	begun      bool       // a block of it is done
	extra      bool       // it is one that Again has asked for

	done         int // rounds of all repetitions, with those of an earlier run
	total        int // of the plan
	pairs        int // whose rows are there, or of an earlier run
	totalPairs   int // of the plan
	earlierPairs int // of an earlier run: as many as its rounds have in the mean

	inRounds  float64 // s, in all rounds so far
	timed     int     // their number
	perRound  float64 // s, of the last block
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

// lead plays blocks of rounds until all is measured or the ranks have stopped.
func (l *leader) lead(play Play) error {
	if err := l.prepare(); err != nil {
		return err
	}
	for l.Stopped() == "" && l.more() {
		b := l.next()
		told, err := json.Marshal(b)
		if err != nil {
			return err
		}
		done := l.done
		found, err := play(told)
		if err != nil {
			return err
		}
		if err := l.take(found); err != nil {
			return err
		}
		l.time(l.done - done)
	}
	return nil
}

// prepare plans what was asked for, behind the rounds of an earlier run.
func (l *leader) prepare() error {
	s, p := l.settings, l.order.plan
	l.wall = time.Now()
	l.asked = effort{max(s.Repetitions, 1), p.Samples}
	l.planned = l.asked
	perRepetition := l.roundsOfAll()
	if s.Done > 0 {
		if perRepetition == 0 || s.Done > MaxRepetitions*perRepetition {
			return fmt.Errorf("Settings.Done: %d: there are %d rounds per repetition", s.Done, perRepetition)
		}
		// It may have begun more repetitions than are wanted now.
		l.planned.repetitions = max(l.planned.repetitions, (s.Done+perRepetition-1)/perRepetition)
		l.repetition = min(s.Done/perRepetition, l.planned.repetitions-1)
	}
	l.own.after = func() {
		l.done++
		if l.at++; l.at < l.end { // the last round of a block is told with its pairs
			l.report()
		}
	}
	l.adopt(l.planned)
	l.enter(s.Chosen)
	if s.Done > 0 {
		l.done, l.at = s.Done, s.Done-l.repetition*perRepetition
		l.earlierPairs = s.Done * l.pairsOfAll() / perRepetition
		l.pairs = l.earlierPairs
	}
	l.nextCheck = l.done + firstCheck
	l.report()
	return nil
}

// roundsOfAll is the number of rounds in which all pairs, or all chosen ones, are measured once.
func (l *leader) roundsOfAll() int {
	if n := len(l.settings.Chosen); n > 0 {
		return n
	}
	return l.order.rounds()
}

// pairsOfAll is the number of these pairs.
func (l *leader) pairsOfAll() int {
	if len(l.settings.Chosen) > 0 {
		return countPairs(l.settings.Chosen)
	}
	return l.order.pairs()
}

// adopt makes an effort the plan.
func (l *leader) adopt(e effort) {
	l.planned = e
	l.total, l.totalPairs = e.repetitions*l.roundsOfAll(), e.repetitions*l.pairsOfAll()
}

// enter begins a repetition of the given rounds; none: of those of the schedule.
func (l *leader) enter(chosen [][][2]int) {
	l.chosen, l.rounds, l.at, l.behind, l.begun = chosen, len(chosen), 0, 0, false
	if l.rounds == 0 {
		l.rounds = l.order.rounds()
	}
}

// more tells whether there is another round to measure, and enters its repetition.
func (l *leader) more() bool {
	if l.at < l.rounds {
		return true
	}
	if l.repetition+1 < l.planned.repetitions {
		l.repetition++
		l.enter(l.settings.Chosen)
		return l.rounds > 0
	}
	if l.Cancelled() {
		return false
	}
	chosen, wanted := l.again()
	if !wanted {
		return false
	}
	l.repetition++
	l.planned.repetitions, l.extra = l.repetition+1, true
	if len(chosen) == 0 {
		l.total, l.totalPairs = l.done+l.roundsOfAll(), l.pairs+l.pairsOfAll()
		l.enter(l.settings.Chosen)
		return true
	}
	l.total, l.totalPairs = l.done+len(chosen), l.pairs+countPairs(chosen)
	l.enter(chosen)
	l.behind = l.roundsOfAll()
	return true
}

// again asks whether another repetition is worth its time, and finds out whether it
// is within the budget.
func (l *leader) again() (chosen [][][2]int, wanted bool) {
	if l.settings.Again == nil || l.planned.repetitions >= MaxRepetitions {
		return nil, false
	}
	chosen, wanted = l.settings.Again(l.planned.repetitions)
	rounds := len(chosen)
	if rounds == 0 {
		rounds = l.roundsOfAll()
	}
	if !wanted || rounds == 0 {
		return nil, false
	}
	if err := checkRounds("what Again returns", chosen, l.Comm.Size()); err != nil {
		l.note(err.Error())
		return nil, false
	}
	need := l.own.warmed
	if l.timed > 0 {
		need += l.inRounds / float64(l.timed) * float64(rounds)
	}
	return chosen, l.Now()+need <= l.End()
}

// next plans the next block. Blocks grow as long as rounds become known better, up to what may be lost with a
// job that is killed.
func (l *leader) next() *block {
	l.check()
	b := &block{
		Repetition: l.repetition, First: l.behind + l.at, Samples: l.planned.samples, WarmUp: !l.begun,
		Count: l.rounds - l.at, Every: 1 << 15,
	}
	if l.nextCheck > l.done {
		b.Count = min(b.Count, l.nextCheck-l.done)
	}
	if l.perRound > 0 {
		limit := func(seconds float64) int { return int(max(1, min(seconds/l.perRound, 1<<15))) }
		b.Count = min(b.Count, limit(max(deliverEvery, deliverShare*l.sharing)))
		b.Every = limit(together)
	}
	if len(l.chosen) > 0 {
		b.Chosen = l.chosen[l.at : l.at+b.Count]
	}
	l.begun, l.end = true, l.at+b.Count
	return b
}

// take delivers the rows of a block.
func (l *leader) take(found [][]float64) error {
	var all []Row
	exchanges := 0 // both ranks of a pair tell of it
	for rank, values := range found {
		rows, err := l.own.rowsOf(rank, values)
		if err != nil {
			return err
		}
		for i, row := range rows {
			if i == 0 || row.Round != rows[i-1].Round {
				exchanges++
			}
		}
		all = append(all, rows...)
	}
	l.pairs += exchanges / 2
	if l.at == l.end {
		l.report()
	}
	if l.settings.Deliver != nil {
		l.settings.Deliver(all, l.progress())
	}
	return nil
}

// time takes how long the rounds of a block took, with what it took to gather them.
func (l *leader) time(rounds int) {
	if rounds == 0 {
		return
	}
	end := l.Now()
	took := end - l.own.began
	l.inRounds += took
	l.timed += rounds
	l.perRound = took / float64(rounds)
	if rounds > 1 { // the last of them takes as long as the others
		l.sharing = max(0, end-l.own.last-(l.own.last-l.own.began)/float64(rounds-1))
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
