package reduce

import (
	"fmt"
	"math"
	"slices"
	"time"

	"github.com/topocast/topocast/bcast/schedule"
	"github.com/topocast/topocast/bcast/table"
	"github.com/topocast/topocast/bcast/tuner"
	"github.com/topocast/topocast/model"
)

// jobOf is the job of a collective.
func (r *Reducer) jobOf(collective string) table.Job {
	job := r.job
	job.Collective = collective
	return job
}

// findTuned takes what is tuned for the job from the network's table. Rank 0 alone calls it, with the classes of roots of these
// ranks. It warns if the table is of other jobs only.
func (r *Reducer) findTuned(n *model.Network, classes []int) {
	stored, err := table.Of(n)
	if err != nil {
		r.settings.Warnings = append(r.settings.Warnings, fmt.Sprintf("the network's table of tuned reductions cannot be read: %v: not used", err))
		return
	}
	r.stored, r.settings.Tuned = stored, make(map[string][]table.Cell)
	for _, collective := range []string{table.Allreduce, table.Reduce} {
		job := r.jobOf(collective)
		tuning := stored.Find(job)
		switch {
		case tuning != nil && slices.Equal(tuning.RootClass, classes):
			r.settings.Tuned[collective] = tuning.Cells
		case tuning != nil:
			r.settings.Warnings = append(r.settings.Warnings, "the network's table of tuned reductions knows other groups of these ranks: not used")
		case stored.IsTunedOtherwise(job):
			r.settings.Warnings = append(r.settings.Warnings, "the network's table of tuned reductions was made under other settings of the MPI library (environment variables such as "+table.SettingsExamples+"): not used")
		}
	}
}

// takeTuned makes decisions of what a table holds. A plan of ours is confirmed in the first reduction of its class. Choices
// of algorithms that are gone are none.
func (r *Reducer) takeTuned() {
	for collective, cells := range r.settings.Tuned {
		for _, c := range cells {
			root := c.RootClass
			if collective == table.Allreduce {
				root = AllRanks
			}
			d := &decision{decided: true, measured: c.Measured, incumbent: c.Native, pairs: c.Pairs}
			if c.Algorithm != table.Native {
				i := slices.IndexFunc(r.algorithmsFor(root), func(a schedule.Algorithm) bool { return fmt.Sprint(a) == c.Algorithm })
				if i < 0 {
					continue
				}
				d.plan, d.wins, d.stored = r.planOf(tuner.Variant{Index: i, Segment: int(c.Segment)}, root), true, true
			}
			r.decisions[key{classOf(int(c.Bytes)), root}] = d
		}
	}
}

// Table returns, on rank 0, the network's table with what this job has tuned in it, as of the given date (zero: not
// known, as in a simulation); nil on the other ranks. It is to be kept in the network's file (table.Table.Keep), so that the next
// job starts tuned. What time was too short for is not in it.
func (r *Reducer) Table(date time.Time) (*table.Table, error) {
	if r.comm.Rank() != 0 {
		return nil, nil
	}
	stored := r.stored
	for _, collective := range []string{table.Allreduce, table.Reduce} {
		t := table.Tuning{Job: r.jobOf(collective)}
		if !date.IsZero() {
			t.Date = date.UTC().Format(time.RFC3339)
		}
		t.RootClass = r.classes
		for k, d := range r.decisions { // With sorts them
			if d.decided && (k.root == AllRanks) == (collective == table.Allreduce) {
				t.Cells = append(t.Cells, table.Cell{Bytes: 1 << k.size, RootClass: max(0, k.root), Choice: d.choice()})
			}
		}
		if t.Cells == nil {
			continue
		}
		var err error
		if stored, err = stored.With(t); err != nil {
			return nil, fmt.Errorf("reduce: %w", err)
		}
	}
	return stored, nil
}

// choice is a decision as a table has it.
func (d *decision) choice() table.Choice {
	known := func(t float64) float64 {
		if t > 0 {
			return t
		}
		return math.NaN() // a clock that stood still
	}
	c := table.Choice{Algorithm: table.Native, Measured: known(d.measured), Native: known(d.incumbent), Pairs: d.pairs}
	if d.wins {
		c.Algorithm, c.Segment = fmt.Sprint(d.plan.algorithm), int64(d.plan.Segment)
	}
	return c
}
