package bcast

import (
	"fmt"
	"math"
	"os"
	"slices"
	"time"

	"github.com/topocast/topocast/bcast/table"
	"github.com/topocast/topocast/model"
	"github.com/topocast/topocast/mpi"
)

// jobOf is what a table knows the job by. places are those of all ranks.
func jobOf(comm mpi.Communicator, places []mpi.Place) table.Job {
	library := ""
	if v, ok := comm.(mpi.Versioned); ok {
		library = v.LibraryVersion()
	}
	return table.JobOf(locations(places), library, os.Environ())
}

// findTuned takes what is tuned for the job from the network's table, with the groups that the choices follow. It warns
// if the table is of other jobs only.
func (h *handshake) findTuned(n *model.Network) {
	warn := func(format string, args ...any) {
		h.Warnings = append(h.Warnings, "the network's table of tuned broadcasts "+fmt.Sprintf(format, args...)+": not used")
	}
	stored, err := table.Of(n)
	if err != nil {
		warn("cannot be read: %v", err)
		return
	}
	h.stored = stored
	if h.ModelOnly || len(stored.Tunings()) == 0 {
		return
	}
	tuning := stored.Find(h.job)
	switch {
	case tuning == nil && stored.IsTunedOtherwise(h.job):
		warn("was made under other settings of the MPI library (environment variables such as %s)", table.SettingsExamples)
		return
	case tuning == nil:
		warn("is of other ranks, hosts or libraries than these")
		return
	case !slices.Equal(tuning.RootClass, table.RootClasses(h.view.Hierarchy())):
		warn("knows other groups of these ranks")
		return
	}
	h.Tuned = slices.Clone(tuning.Cells)
	for _, x := range tuning.Topologies {
		if i := slices.IndexFunc(h.Groupings, func(g grouping) bool { return g.Name == x.Name }); i < 0 {
			h.Groupings = append(h.Groupings, grouping{Topology: x})
		} else if !table.SameLevels(h.Groupings[i].Levels, x.Levels) {
			warn("follows other groups by the name of %s with some choices", x.Name)
			h.Tuned = slices.DeleteFunc(h.Tuned, func(c table.Cell) bool { return c.Topology == x.Name })
		}
	}
}

// takeTuned makes decisions of what a table holds. A plan of ours is confirmed in the first broadcast of its class.
// Choices of algorithms that are gone are none.
func (b *Broadcaster) takeTuned(choices []table.Cell) {
	if !b.timed() {
		return
	}
	for _, t := range choices {
		p := nativePlan()
		if t.Algorithm != table.Native {
			if p.Index = b.find(t.Algorithm, t.Topology); p.Index < 0 {
				continue
			}
			p.Algorithm, p.Segment, p.Blocking = b.catalogue[p.Index], int(t.Segment), t.Blocking
		}
		p.Measured, p.MeasuredNative = t.Measured, t.Native
		b.decisions[decisionKey{classOf(int(t.Bytes)), t.RootClass}] = &decision{Plan: p, decided: true, stored: p.Algorithm != nil, pairs: t.Pairs}
	}
}

// Table returns, on rank 0, the network's table with what this job has tuned in it, as of the given
// date (zero: not known, as in a simulation); nil on the other ranks, which do not know where all of
// them run. It is to be kept in the network's file (table.Table.Keep), so that
// the next job starts tuned. What time was too short for is not in it.
func (b *Broadcaster) Table(date time.Time) (*table.Table, error) {
	if b.comm.Rank() != 0 {
		return nil, nil
	}
	t := table.Tuning{Job: b.job}
	if !date.IsZero() {
		t.Date = date.UTC().Format(time.RFC3339)
	}
	if b.timed() {
		t.RootClass = table.RootClasses(b.groups.tree)
		for key, d := range b.decisions { // With sorts them
			if d.decided {
				t.Cells = append(t.Cells, table.Cell{Bytes: 1 << key.size, RootClass: key.root, Choice: d.choice()})
			}
		}
		for _, g := range b.others {
			if slices.ContainsFunc(t.Cells, func(c table.Cell) bool { return c.Topology == g.Name }) {
				t.Topologies = append(t.Topologies, g.Topology)
			}
		}
	}
	stored, err := b.stored.With(t)
	if err != nil {
		return nil, fmt.Errorf("bcast: %w", err)
	}
	return stored, nil
}

// choice is a decision as a table has it.
func (d *decision) choice() table.Choice {
	text, groups := table.Native, ""
	if d.Algorithm != nil {
		text, groups = textOf(d.Algorithm)
	}
	known := func(t float64) float64 {
		if t > 0 {
			return t
		}
		return math.NaN() // a clock that stood still
	}
	return table.Choice{
		Algorithm: text, Topology: groups, Segment: int64(d.Segment), Blocking: d.Blocking,
		Measured: known(d.Measured), Native: known(d.MeasuredNative), Pairs: d.pairs,
	}
}
