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
}

var (
	_ schedule.Preparer = MagPIe{}
	_ schedule.Varied   = MagPIe{}

	_ schedule.Undivided = MagPIe{}
)

// Name returns "magpie".
func (MagPIe) Name() string { return "magpie" }

// Undivided implements the interface of that name.
func (MagPIe) Undivided() {}

// AlongOneTree tells that every rank gets the message from one other rank.
func (MagPIe) AlongOneTree() bool { return true }

// String names the level too.
func (a MagPIe) String() string { return fmt.Sprintf("magpie[level %d]", a.Level) }

// Ops implements Algorithm. O(ranks log ranks).
func (a MagPIe) Ops(dst []schedule.Op, p schedule.Problem, rank int) []schedule.Op {
	return a.Prepare(p)(rank).Ops(dst, p)
}

// Prepare implements Preparer.
func (a MagPIe) Prepare(p schedule.Problem) func(rank int) schedule.Part {
	t := schedule.TwoLevels(p, a.Level, schedule.ShapeFlat, schedule.ShapeBinomial)
	return func(rank int) schedule.Part { return undivided{t.Links(rank)} }
}

// undivided is a place in a tree along which the message is passed whole.
type undivided struct{ links schedule.Links }

// Ops implements Part.
func (u undivided) Ops(dst []schedule.Op, p schedule.Problem) []schedule.Op {
	p.Segment = 0
	return u.links.Ops(dst, p)
}

// Variants returns one for each level that has groups.
func (MagPIe) Variants(p schedule.Problem) []schedule.Algorithm {
	return schedule.PerLevel(p, func(level int) schedule.Algorithm { return MagPIe{level} })
}
