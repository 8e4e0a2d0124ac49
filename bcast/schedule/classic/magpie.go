package classic

import (
	"fmt"

	"github.com/topocast/topocast/bcast/schedule"
)

// MagPIe has two levels, whatever the machine has: the root sends the whole
// message to a coordinator of each cluster, which hands it on along a binomial
// tree. So each cluster is entered once, and no message crosses two slow links in
// a row. It is the broadcast of T. Kielmann, R. Hofman, H. Bal, A. Plaat, R.
// Bhoedjang 1999; Reinfjell 2023, section 6.3.3. Which level makes the clusters is
// a setting: fewer levels can win (ibidem, section 6.7.2).
type MagPIe struct {
	Level int // of Problem.Tree, whose groups are the clusters, finest 0; a rank in none is a cluster itself

	// Pipelined makes it Interpipe, which has the message in segments: while a coordinator hands one on, the next is
	// on its way to it. Reinfjell 2023, table 6.2.
	Pipelined bool
}

var _ schedule.Varied = MagPIe{}

// Name returns "magpie" or "interpipe".
func (a MagPIe) Name() string {
	if a.Pipelined {
		return "interpipe"
	}
	return "magpie"
}

// String names the level too.
func (a MagPIe) String() string { return fmt.Sprintf("%s[level %d]", a.Name(), a.Level) }

// Prepare implements Algorithm. Interpipe is schedule.MultiLevel that passes over all levels but one.
func (a MagPIe) Prepare(p schedule.Problem) schedule.Parts {
	if !a.Pipelined {
		return schedule.Magpie2{Level: a.Level}.Prepare(p)
	}
	shapes := []schedule.Shape{schedule.ShapeFlat}
	if p.Tree != nil {
		for level := len(p.Tree.Levels()) - 1; level > a.Level; level-- {
			shapes = append(shapes, schedule.ShapeNone)
		}
		if a.Level < len(p.Tree.Levels()) {
			shapes = append(shapes, schedule.ShapeBinomial)
		}
	}
	return schedule.MultiLevel{Shapes: append(shapes, schedule.ShapeNone)}.Prepare(p)
}

// Settings implements schedule.Varied: the levels that have groups.
func (a MagPIe) Settings(p schedule.Problem) (values []int, with func(choice []int) schedule.Algorithm) {
	levels := schedule.GroupedLevels(p)
	return []int{len(levels)}, func(choice []int) schedule.Algorithm { return MagPIe{levels[choice[0]], a.Pipelined} }
}
