package draw

import (
	"fmt"
	"math"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/vg"
	vgdraw "gonum.org/v1/plot/vg/draw"

	"github.com/topocast/topocast/internal/quantity"
	"github.com/topocast/topocast/internal/words"
	"github.com/topocast/topocast/topology"
)

// Dendrogram draws the groups of a hierarchy: hosts on the left, and to the right of them the groups that
// join them, at their latencies on a logarithmic axis; uncertain groups are dashed. names are
// the hosts', or nil for their numbers; many hosts have none.
func Dendrogram(title string, h *topology.Hierarchy, names []string) (*Figure, error) {
	n := h.Hosts()
	if names != nil && len(names) != n {
		return nil, fmt.Errorf("draw: dendrogram: %d names of %d hosts", len(names), n)
	}
	if n < 2 {
		return nil, fmt.Errorf("draw: dendrogram: a hierarchy of %s has no group", words.Count(n, "host"))
	}
	t, err := newDendrogram(h)
	if err != nil {
		return nil, err
	}
	notes := []string{"A group stands at the latency between its parts, logarithmic."}
	if t.uncertain > 0 {
		notes = append(notes, fmt.Sprintf("Dashed: %s that the measurements do not show clearly.", words.Count(t.uncertain, "group")))
	}
	if t.unknown > 0 {
		notes = append(notes, fmt.Sprintf("Of unknown latency, and drawn where the others leave room: %s.", words.Count(t.unknown, "group")))
	}
	p := newPlot("latency", "")
	logarithmic(&p.X, t.left, t.at.high, logTicks{10, quantity.Seconds})
	p.X.Min = t.left
	p.Y.Min, p.Y.Max = -0.5, float64(n)-0.5
	p.Y.Scale = plot.InvertedScale{Normalizer: plot.LinearScale{}}
	spacing := min(14, 900/float64(n))
	p.Y.Tick.Marker = plot.ConstantTicks{}
	if spacing >= 9 {
		p.Y.Tick.Marker = nameTicks(t.order, names, 1, 0)
	}
	p.Y.LineStyle.Width, p.Y.Tick.Length = 0, 0
	p.Add(&plotter.Grid{Vertical: gridLine()}, shape(t.draw))
	legend := newLegend()
	for l := len(h.Levels()); l >= 0; l-- {
		if len(h.GroupsAt(l)) > 0 {
			legend.Add(shorten(h.LevelName(l)), &plotter.Line{LineStyle: vgdraw.LineStyle{Color: ink(l), Width: 3}})
		}
	}
	height := max(150, vg.Length(spacing*float64(n))+40)
	return &Figure{title: title, notes: notes, width: 420 + legendWidth, height: height, draw: func(c vgdraw.Canvas) { drawBeside(c, p, legend, legendWidth) }}, nil
}

// A dendrogram is the groups of a hierarchy, each a bracket about what is directly below it.
type dendrogram struct {
	order              []int
	left               float64 // s, where hosts stand
	at                 span    // s, where groups do
	brackets           []bracket
	uncertain, unknown int
}

type bracket struct {
	*topology.Group
	at   float64 // s
	row  float64 // the middle of its rows
	arms []arm
}

// An arm leads from a row, and the latency in s there, to a bracket. Those of hosts are 0.
type arm struct{ row, from float64 }

// newDendrogram works out where groups stand. A group of unknown latency stands beyond those inside it, by as
// little as shows; so does one that is not slower than they are, as the picture would fold back else.
func newDendrogram(h *topology.Hierarchy) (*dendrogram, error) {
	t := &dendrogram{at: emptySpan(), brackets: make([]bracket, len(h.Groups()))}
	t.order, _ = groupOrder(h)
	rowOf := make([]float64, h.Hosts())
	for k, x := range t.order {
		rowOf[x] = float64(k)
	}
	for _, g := range h.Groups() {
		if g.Latency > 0 {
			t.at.add(g.Latency)
		}
	}
	if t.at.low > t.at.high {
		return nil, fmt.Errorf("draw: dendrogram: no group has a latency above 0")
	}
	step := max(1.02, math.Pow(t.at.high/t.at.low, 0.04))
	for i := len(t.brackets) - 1; i >= 0; i-- {
		b := &t.brackets[i]
		*b = bracket{Group: &h.Groups()[i], at: t.at.low}
		rows := emptySpan()
		add := func(a arm) {
			b.arms = append(b.arms, a)
			b.at = max(b.at, a.from*step)
			rows.add(a.row)
		}
		eachBelow(h, i, func(child int) { add(arm{t.brackets[child].row, t.brackets[child].at}) }, func(host int) { add(arm{row: rowOf[host]}) })
		b.row = (rows.low + rows.high) / 2
		switch {
		case !(b.Latency > 0):
			t.unknown++
		case b.Latency > b.at:
			b.at = b.Latency
		}
		t.at.add(b.at)
		if !b.Confident() {
			t.uncertain++
		}
	}
	// Hosts stand left of the finest group, by a tenth of what there is.
	t.left = t.at.low / max(1.5, math.Pow(t.at.high/t.at.low, 0.15))
	return t, nil
}

// draw draws the brackets.
func (t *dendrogram) draw(c vgdraw.Canvas, x, y func(float64) vg.Length) {
	thin := vg.Length(1.4)
	if len(t.order) > 100 {
		thin = 0.7
	}
	for _, b := range t.brackets {
		line := vgdraw.LineStyle{Color: ink(b.Level), Width: thin}
		if !b.Confident() {
			line.Dashes = []vg.Length{3, 2}
		}
		rows := emptySpan()
		for _, a := range b.arms {
			c.StrokeLine2(line, x(max(a.from, t.left)), y(a.row), x(b.at), y(a.row))
			rows.add(a.row)
		}
		c.StrokeLine2(line, x(b.at), y(rows.low), x(b.at), y(rows.high))
	}
}
