package bcast_test

import (
	"testing"

	"github.com/topocast/topocast/bcast/schedule"
	"github.com/topocast/topocast/bcast/schedule/classic"
	"github.com/topocast/topocast/bcast/table"
	"github.com/topocast/topocast/internal/casttest"
)

// TestWhatIsTunedIsThere: the choices of a table are those that Text names.
func TestWhatIsTunedIsThere(t *testing.T) {
	h := casttest.RegularTree(t, 12, 2, 2)
	seen := make(map[string]bool)
	for _, a := range schedule.Variants(append(schedule.Algorithms(), classic.Algorithms()...), schedule.Problem{Ranks: 12, Tree: h}) {
		text := schedule.Text(a)
		if seen[text] {
			t.Errorf("two algorithms are %q: a table cannot tell them apart", text)
		}
		seen[text] = true
		tuning := table.Tuning{Job: table.Job{Ranks: 12}, Cells: []table.Cell{{Bytes: 8, Choice: table.Choice{Algorithm: text, Measured: 1, Native: 2}}}}
		kept, err := (&table.Table{}).With(tuning)
		if err != nil {
			t.Errorf("%q: %v", text, err)
			continue
		}
		if _, err := kept.Keep(casttest.NetworkOf(t, h)); err != nil {
			t.Errorf("%q: %v", text, err)
		}
	}
}
