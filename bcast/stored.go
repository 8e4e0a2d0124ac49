package bcast

import (
	"time"

	"github.com/topocast/topocast/bcast/table"
)

// Table returns, on rank 0, the network's table with what this job has tuned in it, as of the given
// date (zero: not known, as in a simulation); nil on the other ranks, which do not know where all of
// them run. It is to be kept in the network's file (table.Table.Keep), so that
// the next job starts tuned. What time was too short for is not in it.
func (b *Broadcaster) Table(date time.Time) (*table.Table, error) {
	return b.decisions.Table(date, b.decisions)
}
