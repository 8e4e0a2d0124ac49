package schedule

import "fmt"

// Interpipe is MagPIe with the message in segments: while a coordinator hands one
// on, the next is on its way to it. Reinfjell 2023, table 6.2.
type Interpipe struct {
	Level int // as of MagPIe
}

var (
	_ Planner = Interpipe{}
	_ Varied  = Interpipe{}
)

// Name returns "interpipe".
func (Interpipe) Name() string { return "interpipe" }

// String names the level too.
func (a Interpipe) String() string { return fmt.Sprintf("interpipe[level %d]", a.Level) }

// Ops implements Algorithm. O(ranks log ranks).
func (a Interpipe) Ops(dst []Op, p Problem, rank int) []Op { return a.Plan(p).Links(rank).Ops(dst, p) }

// Plan implements Planner.
func (a Interpipe) Plan(p Problem) *Tree { return twoLevels(p, a.Level, ShapeFlat, ShapeBinomial) }

// Variants returns one for each level that has groups.
func (Interpipe) Variants(p Problem) []Algorithm {
	return perLevel(p, func(level int) Algorithm { return Interpipe{level} })
}
