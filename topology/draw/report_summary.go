package draw

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/dustin/go-humanize"
	"github.com/topocast/topocast/internal/quantity"
	"github.com/topocast/topocast/internal/words"
	"github.com/topocast/topocast/topology"
)

// A summary is what a person wants to know first.
type summary struct {
	Title  string
	Lead   []string // sentences
	Tiles  []tile
	Levels []levelRow

	Weak     []string // groups, the first of them
	MoreWeak int
}

// maxWeak bounds the list of weak groups; the table has them all.
const maxWeak = 10

// A tile is a number with what it is.
type tile struct {
	Value, Name string
	Bad         bool // look at it
}

type levelRow struct {
	Name, Groups, Each, Latency, Support string
	Weak                                 bool
}

func (r *Report) summary(h *topology.Hierarchy, heat *heatData) *summary {
	low, high := latencyRange(h, heat)
	n := r.Graph.Hosts()
	weak := weakGroups(h)
	s := &summary{Title: r.Title, Weak: weak[:min(len(weak), maxWeak)], MoreWeak: max(0, len(weak)-maxWeak)}
	if s.Title == "" {
		s.Title = "Network of " + words.Count(n, r.noun())
	}
	s.Levels = r.levelRows(h)
	s.Tiles = r.tiles(h, len(weak), low, high)
	s.Lead = append(s.Lead, r.wiringSentence(h))
	if text := r.latencySentence(h, low, high); text != "" {
		s.Lead = append(s.Lead, text)
	}
	s.Lead = append(s.Lead, r.doubtSentence(h, len(weak)))
	return s
}

// wiringSentence says what was found.
func (r *Report) wiringSentence(h *topology.Hierarchy) string {
	n, noun := r.Graph.Hosts(), r.noun()
	many := countOf(n, noun, noun+"s")
	switch {
	case n < 2:
		return many + ": there is nothing to wire."
	case n == 2:
		return many + "."
	case len(h.Groups()) > 1:
		var parts []string
		for l := len(h.Levels()) - 1; l >= 0; l-- {
			if groups := len(h.GroupsAt(l)); groups > 0 {
				parts = append(parts, groupsOfLevel(h, l, groups))
			}
		}
		text := many + " in " + strings.Join(parts, " with ")
		if r.Fit.Family == topology.FamilyQuotient {
			text += "; the switches are wired as a ring, torus or mesh"
		}
		return text + "."
	case r.Fit.Family == topology.FamilyFlat:
		return many + ", all alike: on one switch, or on what cannot be told from one."
	case r.Graph.Vertices() == n:
		return many + ", wired to each other without switches."
	}
	return fmt.Sprintf("%s on %s.", many, countOf(r.Graph.Vertices()-n, "switch", "switches"))
}

// latencySentence says how long messages take, near and far; low and high are the extremes in s, 0 if not known.
func (r *Report) latencySentence(h *topology.Hierarchy, low, high float64) string {
	var parts []string
	for l := range len(h.Levels()) {
		if x := h.Levels()[l].Latency; !math.IsNaN(x) {
			parts = append(parts, fmt.Sprintf("%s within %s", quantity.Seconds(x), aGroup(h, l)))
		}
	}
	x := h.Groups()[0].Latency
	switch {
	case h.Hosts() < 2:
	case len(parts) > 0 && !math.IsNaN(x):
		parts = append(parts, quantity.Seconds(x)+" across")
	case len(parts) == 0 && high > low:
		parts = append(parts, fmt.Sprintf("from %s to %s", quantity.Seconds(low), quantity.Seconds(high)))
		if !math.IsNaN(x) {
			parts = append(parts, "typically "+quantity.Seconds(x))
		}
	case len(parts) == 0 && !math.IsNaN(x):
		parts = append(parts, quantity.Seconds(x))
	}
	if len(parts) == 0 {
		return ""
	}
	message := "An empty message"
	if r.Bytes > 0 {
		message = "A message of " + quantity.Bytes(r.Bytes)
	}
	return fmt.Sprintf("%s takes %s.", message, strings.Join(parts, ", "))
}

// doubtSentence says what is weak or suspicious.
func (r *Report) doubtSentence(h *topology.Hierarchy, weak int) string {
	var parts []string
	if len(r.Suspects) > 0 {
		parts = append(parts, fmt.Sprintf("%s to look at, first %s", words.Count(len(r.Suspects), "suspect"), r.Suspects[0].Name))
	}
	if weak > 0 {
		parts = append(parts, fmt.Sprintf("%d of %s uncertain: the measurements do not show them clearly", weak, words.Count(len(h.Groups())-1, "group")))
	}
	if len(r.Warnings) > 0 {
		parts = append(parts, words.Count(len(r.Warnings), "warning"))
	}
	if len(parts) > 0 {
		text := strings.Join(parts, "; ") + "."
		return strings.ToUpper(text[:1]) + text[1:]
	}
	if r.Specification != nil {
		return "Nothing differs from the specification, and nothing is uncertain."
	}
	return "No warnings, and no uncertain groups."
}

func (r *Report) tiles(h *topology.Hierarchy, weak int, low, high float64) []tile {
	g := r.Graph
	tiles := []tile{{Value: grouped(g.Hosts()), Name: r.noun() + "s"}}
	if g.Hosts() == 1 {
		tiles[0].Name = r.noun()
	}
	if switches := g.Vertices() - g.Hosts(); switches > 0 {
		tiles = append(tiles, tile{Value: grouped(switches), Name: "switches"})
	}
	tiles = append(tiles, tile{Value: grouped(len(g.Channels())), Name: "links"}, tile{Value: grouped(len(h.Levels())), Name: "levels"})
	if high > 0 {
		value := quantity.Seconds(low)
		if shown := quantity.Seconds(high); shown != value {
			value += " – " + shown
		}
		tiles = append(tiles, tile{Value: value, Name: "latency, near – far"})
	}
	var rates []float64
	for _, a := range g.Arcs() {
		if !math.IsNaN(a.Bandwidth) {
			rates = append(rates, a.Bandwidth)
		}
	}
	if len(rates) > 0 {
		value := quantity.Rate(slices.Min(rates))
		if most := quantity.Rate(slices.Max(rates)); most != value {
			value += " – " + most
		}
		tiles = append(tiles, tile{Value: value, Name: "bandwidth of links"})
	}
	if weak > 0 {
		tiles = append(tiles, tile{grouped(weak), "uncertain groups", true})
	}
	if r.Suspects != nil || r.Specification != nil {
		tiles = append(tiles, tile{grouped(len(r.Suspects)), "suspects", len(r.Suspects) > 0})
	}
	name := "warnings"
	if len(r.Warnings) == 1 {
		name = "warning"
	}
	return append(tiles, tile{grouped(len(r.Warnings)), name, len(r.Warnings) > 0})
}

// latencyRange is the latency in s of the closest and of the farthest groups, without groups of single
// pairs; 0 if they are not known.
func latencyRange(h *topology.Hierarchy, heat *heatData) (low, high float64) {
	if len(h.Groups()) == 1 && heat != nil {
		return float64(heat.Low), float64(heat.High)
	}
	low = math.Inf(1)
	for i := range h.Groups() {
		if x := h.Groups()[i].Latency; x > 0 {
			low, high = min(low, x), max(high, x)
		}
	}
	return low, high
}

func (r *Report) levelRows(h *topology.Hierarchy) []levelRow {
	var rows []levelRow
	for l, level := range h.Levels() {
		groups := h.GroupsAt(l)
		if len(groups) == 0 {
			continue
		}
		least, most := len(groups[0].Hosts), len(groups[0].Hosts)
		for _, g := range groups {
			least, most = min(least, len(g.Hosts)), max(most, len(g.Hosts))
		}
		each := grouped(least)
		if most > least {
			each += " – " + grouped(most)
		}
		row := levelRow{Name: h.LevelName(l), Groups: grouped(len(groups)), Each: each, Latency: quantity.Seconds(level.Latency), Support: "-"}
		if !math.IsNaN(level.Support) {
			row.Support, row.Weak = fmt.Sprintf("%.2f", level.Support), level.Support < topology.FirmSupport
		}
		rows = append(rows, row)
	}
	return append(rows, levelRow{Name: "all", Groups: "1", Each: grouped(h.Hosts()), Latency: quantity.Seconds(h.Groups()[0].Latency), Support: "-"})
}

// weakGroups names the groups that are not firm.
func weakGroups(h *topology.Hierarchy) []string {
	count := make([]int, len(h.Levels())+1)
	var weak []string
	for i := range h.Groups() {
		g := &h.Groups()[i]
		if i == 0 {
			continue
		}
		if count[g.Level]++; !g.Firm() {
			weak = append(weak, fmt.Sprintf("%s (%d hosts), confidence %.2f", groupName(h.Levels()[g.Level], g.Level, count[g.Level]), len(g.Hosts), g.Support))
		}
	}
	return weak
}

// isNamed tells whether somebody has named the level, other than by its number.
func isNamed(l topology.Level, level int) bool {
	return l.Name != "" && l.Name != fmt.Sprintf("level %d", level+1)
}

// groupsOfLevel is "4 racks", or "4 groups of level 1".
func groupsOfLevel(h *topology.Hierarchy, level, groups int) string {
	if l := h.Levels()[level]; isNamed(l, level) {
		return countOf(groups, l.Name, l.Name+"s")
	}
	return fmt.Sprintf("%s of %s", countOf(groups, "group", "groups"), h.LevelName(level))
}

// aGroup is "a rack", or "level 1".
func aGroup(h *topology.Hierarchy, level int) string {
	if l := h.Levels()[level]; isNamed(l, level) {
		return "a " + l.Name
	}
	return h.LevelName(level)
}

// countOf is a number of things, as grouped writes it.
func countOf(n int, one, many string) string {
	if n == 1 {
		return "1 " + one
	}
	return grouped(n) + " " + many
}

// grouped writes a number as people read it: 5,024.
func grouped(n int) string { return humanize.Comma(int64(n)) }
