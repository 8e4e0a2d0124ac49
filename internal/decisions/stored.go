package decisions

import (
	"fmt"
	"math"
	"slices"
	"time"

	"github.com/topocast/topocast/bcast/table"
	"github.com/topocast/topocast/model"
)

// jobOf is the job of a collective.
func (b *Base) jobOf(collective string) table.Job {
	job := b.job
	job.Collective = collective
	return job
}

// warnOf adds a warning of the network's table, once.
func (b *Base) warnOf(collective, format string, args ...any) {
	what := "reductions"
	if collective == "" {
		what = "broadcasts"
	}
	warning := "the network's table of tuned " + what + " " + fmt.Sprintf(format, args...) + ": not used"
	if !slices.Contains(b.Warnings, warning) {
		b.Warnings = append(b.Warnings, warning)
	}
}

// findTuned takes what is tuned for the job from the network's table, with the groups that the choices follow. It warns
// if the table is of other jobs only. Rank 0 alone calls it.
func (b *Base) findTuned(n *model.Network, collectives []string) {
	stored, err := table.Of(n)
	if err != nil {
		b.warnOf(collectives[0], "cannot be read: %v", err)
		return
	}
	b.stored = stored
	if b.ModelOnly {
		return
	}
	for _, collective := range collectives {
		job := b.jobOf(collective)
		tuning := stored.Find(job)
		switch {
		case tuning != nil && slices.Equal(tuning.RootClass, table.RootClasses(b.Network.Hierarchy())):
			b.adopt(collective, tuning)
		case tuning != nil:
			b.warnOf(collective, "knows other groups of these ranks")
		case stored.IsTunedOtherwise(job):
			b.warnOf(collective, "was made under other settings of the MPI library (environment variables such as %s)", table.SettingsExamples)
		case slices.ContainsFunc(stored.Tunings(), func(t table.Tuning) bool { return t.Collective == collective }):
			b.warnOf(collective, "is of other ranks, hosts or libraries than these")
		}
	}
}

// adopt takes the choices of a tuning, with their groups.
func (b *Base) adopt(collective string, tuning *table.Tuning) {
	cells := slices.Clone(tuning.Cells)
	for _, x := range tuning.Topologies {
		if i := slices.IndexFunc(b.Groupings, func(g Grouping) bool { return g.Name == x.Name }); i < 0 {
			b.Groupings = append(b.Groupings, Grouping{Topology: x})
		} else if !table.SameLevels(b.Groupings[i].Levels, x.Levels) {
			b.warnOf(collective, "follows other groups by the name of %s with some choices", x.Name)
			cells = slices.DeleteFunc(cells, func(c table.Cell) bool { return c.Topology == x.Name })
		}
	}
	b.Tuned[collective] = cells
}

// takeTuned makes decisions of what a table holds. A plan of ours is confirmed in the first call of its class.
// Choices of algorithms that are gone are none.
func (d *Decisions) takeTuned(choices []table.Cell) {
	for _, t := range choices {
		x := &Decision{Plan: Incumbent(), Best: Incumbent(), Decided: true, pairs: t.Pairs}
		if t.Algorithm != table.Native {
			if x.Index = d.find(t.Algorithm, t.Topology); x.Index < 0 {
				continue
			}
			x.Algorithm, x.Segment, x.Blocking, x.Stored = d.Catalogue[x.Index], int(t.Segment), t.Blocking, true
			x.Best = x.Plan
		}
		x.Measured, x.MeasuredNative = t.Measured, t.Native
		d.made[key{ClassOf(int(t.Bytes)), t.RootClass}] = x
	}
}

// find is the index of an algorithm of the catalogue by its text, along groups of the given name; or -1.
func (d *Decisions) find(text, groups string) int {
	for i, a := range d.Catalogue {
		if ownText, ownGroups := textOf(a); ownGroups == groups && ownText == text {
			return i
		}
	}
	return -1
}

// Table returns, on rank 0, the network's table with what this job has decided in it, as of the given date (zero: not known, as
// in a simulation); nil on the other ranks. What time was too short for is not in it.
func (b *Base) Table(date time.Time, all ...*Decisions) (*table.Table, error) {
	if b.Comm.Rank() != 0 {
		return nil, nil
	}
	stored := b.stored
	for _, d := range all {
		t := table.Tuning{Job: b.jobOf(d.collective)}
		if !date.IsZero() {
			t.Date = date.UTC().Format(time.RFC3339)
		}
		if d.timed {
			t.RootClass, t.Cells, t.Topologies = d.classes, d.cells(), nil
		}
		for _, g := range b.Groupings[1:] {
			if slices.ContainsFunc(t.Cells, func(c table.Cell) bool { return c.Topology == g.Name }) {
				t.Topologies = append(t.Topologies, g.Topology)
			}
		}
		if t.Cells == nil && d.collective != "" {
			continue
		}
		var err error
		if stored, err = stored.With(t); err != nil {
			return nil, fmt.Errorf("%s: %w", b.name, err)
		}
	}
	return stored, nil
}

// cells are what is decided as a table has it, in no order.
func (d *Decisions) cells() (cells []table.Cell) {
	for k, x := range d.made {
		if x.Decided {
			cells = append(cells, table.Cell{Bytes: 1 << k.size, RootClass: k.root, Choice: x.choice()})
		}
	}
	return cells
}

// choice is a decision as a table has it.
func (x *Decision) choice() table.Choice {
	text, groups := table.Native, ""
	if x.Algorithm != nil {
		text, groups = textOf(x.Algorithm)
	}
	known := func(t float64) float64 {
		if t > 0 {
			return t
		}
		return math.NaN() // a clock that stood still
	}
	return table.Choice{
		Algorithm: text, Topology: groups, Segment: int64(x.Segment), Blocking: x.Blocking,
		Measured: known(x.Measured), Native: known(x.MeasuredNative), Pairs: x.pairs,
	}
}
