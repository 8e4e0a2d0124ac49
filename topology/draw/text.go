package draw

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
	"strings"

	"github.com/topocast/topocast/internal/hostlist"
	"github.com/topocast/topocast/internal/quantity"
	"github.com/topocast/topocast/topology"
)

// A Place says where a host of a graph is, when that is a core of a greater host.
type Place struct {
	Host string // its name, "" if not known
	Core int    // logical CPU; -1 if it is not bound to one
}

// TextSettings say how Text writes. The zero value works.
type TextSettings struct {
	Noun   string  // what the hosts of the graph are; "": rank
	Places []Place // where ranks run, or the names of hosts that are no ranks; nil: not known
	Unfold bool    // parts of a large machine that are alike are not written once
}

const (
	textWidth = 80
	textLines = 40
	mostLabel = 31 // characters of the first column beside all others
	mostRanks = 12
	mostShown = 16 // children of one group of a large machine, however unlike they are, and vertices with their links
	figureGap = 1.2

	// A slow link is so many times as slow as the middle one, of so many at least. Its
	// latency is such a share of that above: 3 ns more are no fault where messages take 600.
	slowTimes, slowOf, slowShare = 1.5, 4, 0.1
)

// Text writes a machine as a tree in at most 80 columns. A line has the name of a group, its ranks, and the
// latency between its parts. It ends with latency and bandwidth of the link that leads up from the group. At the ends are the hosts, those
// alike on one line. In a machine of more than 40 lines, parts that are alike are written once, with their number. Alike are
// parts of the same shape whose figures differ by less than 20 % from one to the next.
//
// "?" and the confidence mark uncertain groups. "!" marks links that are slow: 1.5 times slower, in latency or rate, than the
// middle one of four and more like it. These are the links of the same level, or of the hosts on the same switch. A slow
// latency counts if it is more by a tenth of what lies between the parts above. Where the graph is no tree, its links follow.
//
// g and h are of the same hosts. s may be nil.
func Text(w io.Writer, g *topology.Graph, h *topology.Hierarchy, s *TextSettings) error {
	if g == nil || h == nil {
		return errors.New("draw: text: no graph, or no hierarchy")
	}
	if s == nil {
		s = &TextSettings{}
	}
	n := h.Hosts()
	if g.Hosts() != n || s.Places != nil && len(s.Places) != n {
		return fmt.Errorf("draw: text: a graph of %d hosts, a hierarchy of %d and %d places: want as many of each", g.Hosts(), n, len(s.Places))
	}
	if n == 0 {
		return nil
	}
	t := newTextTree(g, h, *s)
	t.fill()
	if len(t.rows) > textLines && !t.Unfold {
		t.rows, t.folds = nil, true
		t.fill()
	}
	t.align()
	t.writeLinks()
	t.legend()
	if _, err := io.WriteString(w, t.out.String()); err != nil {
		return fmt.Errorf("draw: text: %w", err)
	}
	return nil
}

// A textTree is a tree that is being written.
type textTree struct {
	TextSettings
	graph     *topology.Graph
	hierarchy *topology.Hierarchy
	groups    []*textNode
	switches  []int                // of each group the only switch that joins its hosts and no others; -1: there is none, or several
	isTree    bool                 // the graph is one tree
	uplinks   map[[2]int]*textNode // by the ends of a link, the lower first: what hangs on it
	nodes     []*textNode          // parents first
	rows      []textRow
	folds     bool           // parts that are alike are written once
	ranksOf   map[string]int // of each place's host
	domain    string         // that the names of all hosts end in
	sites     []site         // of groups
	out       strings.Builder
}

// newTextTree makes the nodes of a machine of one host and more, and judges their links.
func newTextTree(g *topology.Graph, h *topology.Hierarchy, s TextSettings) *textTree {
	t := &textTree{TextSettings: s, graph: g, hierarchy: h, groups: make([]*textNode, len(h.Groups())), switches: switchesOf(g, h), uplinks: make(map[[2]int]*textNode), ranksOf: make(map[string]int)}
	parts := g.Parts()
	t.isTree = g.IsForest() && !slices.ContainsFunc(parts, func(part int) bool { return part > 0 })
	t.Noun = cmp.Or(t.Noun, "rank")
	if t.Places == nil {
		t.Places = slices.Repeat([]Place{{Core: -1}}, h.Hosts())
	}
	var hosts []string
	for _, p := range t.Places {
		t.ranksOf[p.Host]++
		hosts = append(hosts, p.Host)
	}
	if len(hosts) > 0 {
		t.domain = strings.TrimPrefix(hosts[0], withoutDomain(hosts)[0])
	}
	t.findSites()
	t.addNode(0)
	t.judge()
	return t
}

// A textRow is a line in columns: what it is of, its ranks, the latency inside, latency and rate of the uplink, marks.
type textRow [6]string

// fill fills the rows.
func (t *textTree) fill() {
	t.sign()
	t.row(bundle{t.nodes[0]}, "", "", 1)
}

// row adds the line of nodes that are alike, of each of several parents count, and those below.
func (t *textTree) row(b bundle, first, rest string, parents int) {
	each := len(b) / parents
	one := b[0]
	ranks := ""
	switch {
	case len(b) == 1, one.group < 0 && parents == 1:
		var all []int
		for _, x := range b {
			all = append(all, x.hosts...)
		}
		slices.Sort(all)
		ranks = numberRanges(all)
	case one.group >= 0:
		ranks = fmt.Sprintf("%d each", len(one.hosts))
	}
	t.rows = append(t.rows, textRow{
		first + t.label(b, each, mostLabel-len(first)), ranks, quantified(quantity.Seconds, b.median(inside)),
		quantified(quantity.Seconds, b.median(latency)), quantified(quantity.Rate, b.median(rate)), b.mark(),
	})
	below := b.children()
	if len(below) == 1 && t.tellsNothing(below[0]) {
		return
	}
	for i, c := range below {
		if t.folds && i == mostShown && i < len(below)-1 {
			more := 0
			for _, rest := range below[i:] {
				more += len(rest)
			}
			t.rows = append(t.rows, textRow{fmt.Sprintf("%s`- and %d more", rest, more/len(b))})
			return
		}
		branch, further := "|- ", "|  "
		if i == len(below)-1 {
			branch, further = "`- ", "   "
		}
		t.row(c, rest+branch, rest+further, len(b))
	}
}

// tellsNothing tells whether nodes are hosts without name or figure.
func (t *textTree) tellsNothing(b bundle) bool {
	_, name := t.name(b[0])
	return b[0].group < 0 && name == "" && math.IsNaN(b.median(latency)) && math.IsNaN(b.median(rate))
}

// quantified is a quantity, or nothing where it is not known.
func quantified(format func(float64) string, x float64) string {
	if text := format(x); text != "-" {
		return text
	}
	return ""
}

// withFigures adds a latency in s and a rate in B/s to a text, as far as they are known.
func withFigures(text string, latency, rate float64) string {
	for _, figure := range []string{quantified(quantity.Seconds, latency), quantified(quantity.Rate, rate)} {
		if figure != "" {
			text += ", " + figure
		}
	}
	return text
}

// align writes the rows in columns.
func (t *textTree) align() {
	header := textRow{"", t.Noun + "s", "inside", "uplink", "", ""}
	if len(t.Noun) > mostRanks-1 {
		header[1] = ""
	}
	rows := append([]textRow{header}, t.rows...)
	var width [6]int
	for _, row := range rows {
		for k, field := range row {
			width[k] = max(width[k], len([]rune(field)))
		}
	}
	gaps := 0
	for k := 1; k < len(width); k++ {
		if width[k] > 0 {
			gaps += width[k] + 2
		}
	}
	width[0] = min(width[0], max(textWidth-gaps, 12))
	for _, row := range rows {
		line := fmt.Sprintf("%-*s", width[0], clip(row[0], width[0], (width[0]-3)/4))
		for k := 1; k < len(row); k++ {
			aligned := width[k] // to the right, as figures are
			if k == 1 || k == len(row)-1 {
				aligned = -width[k]
			}
			if aligned != 0 {
				line += fmt.Sprintf("  %*s", aligned, row[k])
			}
		}
		t.out.WriteString(strings.TrimRight(line, " ") + "\n")
	}
}

// legend says what the marks mean that were used.
func (t *textTree) legend() {
	for _, line := range []string{
		fmt.Sprintf("? a group with a confidence below %g: shown, not used\n", topology.ConfidentFrom),
		"! how many times slower the link is than those like it\n",
	} {
		if slices.ContainsFunc(t.rows, func(row textRow) bool { return strings.Contains(row[len(row)-1], line[:1]) }) {
			t.out.WriteString(line)
		}
	}
}

// numberRanges writes ascending numbers as "0-3,8", cut at a comma where they have more than mostRanks characters.
func numberRanges(x []int) string {
	list := hostlist.Numbers(x)
	if len(list) <= mostRanks {
		return list
	}
	end := max(strings.LastIndex(list[:mostRanks+1], ","), strings.Index(list, ","))
	if end < 0 { // one range
		return list
	}
	return list[:end] + ",..."
}
