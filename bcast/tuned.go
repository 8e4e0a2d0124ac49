package bcast

import (
	"fmt"
	"math"
	"slices"
	"time"

	"github.com/topocast/topocast/bcast/schedule"
	"github.com/topocast/topocast/bcast/table"
	"github.com/topocast/topocast/internal/jsonfile"
	"github.com/topocast/topocast/model"
	"github.com/topocast/topocast/mpi"
)

// tuned is a cell of a table on its way from rank 0 to the others.
type tuned struct {
	Bytes, Segment   int64
	RootClass, Pairs int
	Algorithm        string
	Topology         string
	Blocking         bool
	Measured, Native *float64 // nil: NaN
}

// jobOf is what a table knows the job by. places are those of all ranks.
func jobOf(comm mpi.Communicator, places []mpi.Place) table.Job {
	job := table.Job{Ranks: len(places), Places: table.Fingerprint(locations(places))}
	if v, ok := comm.(mpi.Versioned); ok {
		job.Library = v.LibraryVersion()
	}
	return job
}

// find takes what is tuned for the job from the network's table, and warns if that is of other
// jobs only. view is the network as the ranks see it.
func (t *terms) find(n, view *model.Network) {
	stored, err := table.Of(n)
	if err != nil {
		t.Warnings = append(t.Warnings, fmt.Sprintf("the network's table of tuned broadcasts cannot be read: %v: not used", err))
		return
	}
	t.stored = stored
	if t.ModelOnly || len(stored.Tunings()) == 0 {
		return
	}
	tuning := stored.Find(t.job)
	if tuning == nil {
		t.Warnings = append(t.Warnings, "the network's table of tuned broadcasts is of other ranks, hosts or libraries than these: not used")
		return
	}
	if !slices.Equal(tuning.RootClass, table.RootClasses(view.Hierarchy())) {
		t.Warnings = append(t.Warnings, "the network's table of tuned broadcasts knows other groups of these ranks: not used")
		return
	}
	for _, c := range tuning.Cells {
		t.Tuned = append(t.Tuned, tuned{
			c.Bytes, c.Segment, c.RootClass, c.Pairs, c.Algorithm, c.Topology, c.Blocking,
			jsonfile.Known(c.Measured), jsonfile.Known(c.Choice.Native),
		})
	}
	t.tunedAlong = tuning.Topologies
}

// takeTuned makes cells of what a table holds. Choices of algorithms that are gone are none.
func (b *Broadcaster) takeTuned(cells []tuned) {
	if !b.timed() {
		return
	}
	for _, t := range cells {
		c := newNative()
		if t.Algorithm != table.Native {
			g := slices.IndexFunc(b.groupings, func(g grouping) bool { return g.Name == t.Topology })
			if g < 0 {
				continue
			}
			c.Index = slices.IndexFunc(b.algorithms(&b.groupings[g]), func(a schedule.Algorithm) bool { return schedule.Text(a) == t.Algorithm })
			if c.Index < 0 {
				continue
			}
			c.Index += b.groupings[g].from
			c.Algorithm, c.Topology, c.Segment, c.Blocking = b.catalogue[c.Index], t.Topology, int(t.Segment), t.Blocking
		}
		c.Measured, c.MeasuredNative = jsonfile.Value(t.Measured), jsonfile.Value(t.Native)
		b.cells[cellKey{classOf(int(t.Bytes)), t.RootClass}] = &cell{Candidate: c, decided: true, pairs: t.Pairs}
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
		t.RootClass = table.RootClasses(b.known.tree)
		for key, c := range b.cells { // With sorts them
			if c.decided {
				t.Cells = append(t.Cells, table.Cell{Bytes: 1 << key.size, RootClass: key.root, Choice: c.choice()})
			}
		}
		for _, g := range b.groupings[1:] {
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

// choice is a cell as a table has it.
func (c *cell) choice() table.Choice {
	text := table.Native
	if c.Index != native {
		text = schedule.Text(c.Algorithm)
	}
	known := func(t float64) float64 {
		if t > 0 {
			return t
		}
		return math.NaN() // a clock that stood still
	}
	return table.Choice{
		Algorithm: text, Topology: c.Topology, Segment: int64(c.Segment), Blocking: c.Blocking,
		Measured: known(c.Measured), Native: known(c.MeasuredNative), Pairs: c.pairs,
	}
}
