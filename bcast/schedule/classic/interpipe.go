package classic

import (
	"fmt"

	"github.com/topocast/topocast/bcast/schedule"
)

// Interpipe is MagPIe with the message in segments: while a coordinator hands one
// on, the next is on its way to it. Reinfjell 2023, table 6.2.
type Interpipe struct {
	Level int // as of MagPIe
}

var (
	_ schedule.Planner = Interpipe{}
	_ schedule.Varied  = Interpipe{}
)

// Name returns "interpipe".
func (Interpipe) Name() string { return "interpipe" }

// String names the level too.
func (a Interpipe) String() string { return fmt.Sprintf("interpipe[level %d]", a.Level) }

// Ops implements Algorithm. O(ranks log ranks).
func (a Interpipe) Ops(dst []schedule.Op, p schedule.Problem, rank int) []schedule.Op {
	return a.Plan(p).Links(rank).Ops(dst, p)
}

// Plan implements Planner.
func (a Interpipe) Plan(p schedule.Problem) *schedule.Tree {
	return schedule.TwoLevels(p, a.Level, schedule.ShapeFlat, schedule.ShapeBinomial)
}

// Variants returns one for each level that has groups.
func (Interpipe) Variants(p schedule.Problem) []schedule.Algorithm {
	return schedule.PerLevel(p, func(level int) schedule.Algorithm { return Interpipe{level} })
}
