package harness

import (
	"cmp"
	"fmt"
	"slices"
)

// An Outcome is how AllPairs has ended.
type Outcome struct {
	Repetitions int      // done or begun, or planned in place of what was asked for
	Rounds      int      // done, of all repetitions
	TotalRounds int      // asked for, or planned in their place where a budget is too small for them
	Pairs       int      // exchanged, see Progress
	Stopped     Stopped  // why it ended early, or ""
	Notes       []string // what was decided while measuring, each one sentence
}

// AllPairs lets all pairs of ranks exchange, in rounds of disjoint pairs
// with a barrier before each. It is collective; the settings of rank 0 count.
// The outcome is nil on other ranks than 0; rows go to Settings.Deliver.
//
// When the context of any rank ends, or the budget, all ranks stop at the same
// round. It is the one under way or, in groups, one some hundredths of a second later. A
// budget that the first rounds show to be too small is spent on fewer repetitions, and
// then on fewer samples; Notes says so. An error means that the
// measurement is lost: wrong settings, a failure of an exchange or the communicator, or
// a rank that does not answer (SilentError). The communicator is unusable then.
//
// The messages of the harness have tags below FirstTag. The
// garbage collector of the process is off while rounds are measured.
//
// Without groups there are n-1 rounds (odd n: n) per repetition, of O(log n)
// messages of each rank for the barrier. Memory is that of the rows between two
// deliveries, and on rank 0 16 bytes per pair.
func (c *Conductor) AllPairs(exchange Exchange, settings *Settings) (*Outcome, error) {
	s := *cmp.Or(settings, &Settings{})
	groups, err := Share(c.Comm, c, func() ([]group, error) { return s.groups(), s.validate(c.Comm.Size()) })
	if err != nil {
		return nil, fmt.Errorf("harness: %w", err)
	}
	p := &pairing{Conductor: c, exchange: exchange, groups: make(map[int]*Barrier)}
	for _, g := range groups {
		if slices.Contains(g.Ranks, c.Comm.Rank()) {
			p.groups[g.Level] = c.Barrier(g.Ranks)
		}
	}
	l := &leader{pairing: p, settings: &s, asked: effort{s.Repetitions, s.Samples}}
	defer c.pauseCollector()()
	if err := c.Lead(s.Budget, p.act, l.lead); err != nil {
		return nil, fmt.Errorf("harness: %w", err)
	}
	if c.Comm.Rank() != 0 {
		return nil, nil
	}
	return l.outcome(), nil
}

// A group is ranks that meet before rounds of their level, which counts from 1 on: see round.
type group struct {
	Level int
	Ranks []int
}

// groups are all but that of all ranks.
func (p *Pairs) groups() (all []group) {
	if p.Groups != nil {
		for _, g := range p.Groups.Groups()[1:] {
			all = append(all, group{g.Level + 1, g.Hosts})
		}
	}
	return all
}
