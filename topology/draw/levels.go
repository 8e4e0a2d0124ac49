package draw

import (
	"fmt"
	"math"

	"github.com/topocast/topocast/internal/quantity"
	"github.com/topocast/topocast/topology"
)

// A LevelRow is a row of the table of levels.
type LevelRow struct {
	Level, Groups, Each, Latency string // Each: hosts of a group
	Confidence                   string // from the weakest group to the surest
	Uncertain                    bool
}

// Levels is a table of the levels of a hierarchy, fine to coarse, and of all hosts.
func Levels(h *topology.Hierarchy) []LevelRow {
	var rows []LevelRow
	for l, level := range h.Levels() {
		hosts, confidence := emptySpan(), emptySpan()
		groups := h.GroupsAt(l)
		for _, g := range groups {
			hosts.add(float64(len(g.Hosts)))
			if !math.IsNaN(g.Support) {
				confidence.add(g.Support)
			}
		}
		rows = append(rows, LevelRow{
			Level: h.LevelName(l), Groups: fmt.Sprint(len(groups)), Latency: quantity.Seconds(level.Latency),
			Each: hosts.text(wholeNumber, "-"), Confidence: confidence.text(twoDigits, "-"), Uncertain: level.Support < topology.FirmSupport,
		})
	}
	return append(rows, LevelRow{Level: "all", Groups: "1", Each: fmt.Sprint(h.Hosts()), Latency: quantity.Seconds(h.Groups()[0].Latency)})
}

func wholeNumber(v float64) string { return fmt.Sprintf("%.0f", v) }

func twoDigits(v float64) string { return fmt.Sprintf("%.2f", v) }

// text is "3", "3-5", or "-" where there is nothing.
func (s span) text(format func(float64) string, to string) string {
	low, high := format(s.low), format(s.high)
	switch {
	case s.low > s.high:
		return "-"
	case low == high:
		return low
	}
	return low + to + high
}
