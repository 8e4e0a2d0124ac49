package plogp

import (
	"fmt"

	"github.com/topocast/topocast/internal/quantity"
	"github.com/topocast/topocast/measure/harness"
	"github.com/topocast/topocast/measure/record"
)

// A leader is rank 0's part: it decides which size comes next, and makes gaps of what ranks have timed.
//
// A round is one size of disjoint pairs, first in one direction and then in the other. So all ranks meet before each size, where they
// hear of the end of a budget, and no rank waits longer than a size takes.
type leader struct {
	*harness.Conductor
	*Settings
	plan  *settings
	play  harness.PlayPairs
	found measurements
}

// lead measures disjoint pairs in turn, each in both directions.
func (l *leader) lead(disjoint [][][2]int) (*Result, error) {
	if l.Record != nil {
		l.Record.Begin(&record.Section{Kind: Kind, Columns: columns, Settings: record.SettingsOf(l.plan)})
	}
	var notes []string
	steps, done, total := l.Steps("rounds"), 0, len(disjoint)
	for done < total && l.Stopped() == "" {
		steps(done, total)
		whole, err := l.measure(disjoint[done])
		switch {
		case err != nil:
			return nil, err
		case whole:
			done++
		}
		if l.Record != nil {
			l.Record.Mark(done, total)
		}
		if need := l.Elapsed() * float64(total); done == 1 && l.Stopped() == "" && l.Budget > 0 && need > l.Budget.Seconds() {
			notes = append(notes, fmt.Sprintf("the budget is too small for %d rounds of pairs, which need about %s: pairs will be missing", total, quantity.Seconds(need)))
			if l.Notify != nil {
				l.Notify(notes[0])
			}
		}
	}
	steps(done, total)
	r := &Result{Ranks: l.Comm.Size(), Stopped: l.Stopped(), Notes: notes, Rounds: done, TotalRounds: total, settings: record.SettingsOf(l.plan)}
	r.take(l.found, l.plan)
	if l.Record != nil {
		section := r.Section()
		section.Rows = nil // they are there
		l.Record.End(section)
	}
	return r, nil
}

// measure measures all sizes of disjoint pairs, and then additional ones that are most worth it. The pairs are whole without the
// latter, too.
func (l *leader) measure(pairs [][2]int) (whole bool, err error) {
	rounds := make([][]harness.Pair, len(l.plan.Sizes))
	for i, size := range l.plan.Sizes {
		for _, p := range pairs {
			rounds[i] = append(rounds[i], harness.Pair{A: p[0], B: p[1], Task: size})
		}
	}
	for extra := 0; len(rounds[0]) > 0; extra++ {
		rows, err := l.play(rounds, nil)
		if err != nil {
			return false, err
		}
		for _, row := range rows {
			l.keep(row)
		}
		if l.Stopped() != "" || extra == l.plan.ExtraSizes {
			return extra > 0 || l.Stopped() == "", nil
		}
		rounds = make([][]harness.Pair, 1)
		for _, p := range pairs {
			if size, worth := nextSize(l.found[p], l.found[[2]int{p[1], p[0]}]); worth {
				rounds[0] = append(rounds[0], harness.Pair{A: p[0], B: p[1], Task: size})
			}
		}
	}
	return true, nil
}

// keep takes up what a rank has found. The gap is found by
// saturation up to a, which is settings.SaturatedUpTo, and beyond by eq. 3.1 of Reinfjell 2023 from there on,
// g(m) = RTT(m) - RTT(a) + g(a), for a long message saturates a link by itself.
func (l *leader) keep(row harness.Row) {
	p := pointOf(row.Values)
	if p.size > l.plan.SaturatedUpTo {
		a := l.found.at(row.From, row.To, l.plan.SaturatedUpTo)
		p.gap = p.trip - a.trip + a.gap
	}
	l.found.add(row.From, row.To, p)
	if l.Record != nil {
		l.Record.Rows(p.appendRow([]float64{float64(row.From), float64(row.To)}))
	}
}
