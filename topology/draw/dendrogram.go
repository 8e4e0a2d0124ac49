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
	order, _ := groupOrder(h)
	t := dendrogram{Hierarchy: h, order: order}
	low, high, err := t.place()
	if err != nil {
		return nil, err
	}
	notes := []string{"A group stands at the latency between its parts, logarithmic."}
	if t.weak > 0 {
		notes = append(notes, fmt.Sprintf("Dashed: %s that the measurements do not show clearly.", words.Count(t.weak, "group")))
	}
	if t.unknown > 0 {
		notes = append(notes, fmt.Sprintf("Of unknown latency, and drawn where the others leave room: %s.", words.Count(t.unknown, "group")))
	}
	p := newPlot("latency", "")
	// Hosts stand left of the finest group, by a tenth of what there is.
	low /= max(1.5, math.Pow(high/low, 0.15))
	logarithmic(&p.X, low, high, logTicks{10, quantity.Seconds})
	p.X.Min = low
	p.Y.Min, p.Y.Max = -0.5, float64(n)-0.5
	p.Y.Scale = plot.InvertedScale{Normalizer: plot.LinearScale{}}
	spacing := min(14, 900/float64(n))
	p.Y.Tick.Marker = plot.ConstantTicks{}
	if spacing >= 9 {
		p.Y.Tick.Marker = nameTicks(t.order, names, 1, 0)
	}
	p.Y.LineStyle.Width, p.Y.Tick.Length = 0, 0
	p.Add(gridLines(true, false), shape(func(c vgdraw.Canvas, x, y func(float64) vg.Length) { t.draw(c, x, y, low) }))
	legend := newLegend()
	for l := len(h.Levels()); l >= 0; l-- {
		if len(h.GroupsAt(l)) > 0 {
			legend.Add(shorten(h.LevelName(l)), &plotter.Line{LineStyle: vgdraw.LineStyle{Color: ink(l), Width: 3}})
		}
	}
	height := max(150, vg.Length(spacing*float64(n))+40)
	return &Figure{title: title, notes: notes, width: 420 + legendWidth, height: height, draw: func(c vgdraw.Canvas) { drawBeside(c, p, legend, legendWidth) }}, nil
}

type dendrogram struct {
	*topology.Hierarchy
	order         []int
	rowOf         []float64 // of each host
	row           []float64 // of each group: the middle of its rows
	at            []float64 // of each group: its latency
	weak, unknown int
}

// place works out where groups stand. A group of unknown latency stands beyond those inside it, by as
// little as shows; so does one that is not slower than they are, as the picture would fold back else.
func (t *dendrogram) place() (low, high float64, err error) {
	groups := t.Groups()
	t.rowOf = make([]float64, t.Hosts())
	for k, x := range t.order {
		t.rowOf[x] = float64(k)
	}
	t.row, t.at = make([]float64, len(groups)), make([]float64, len(groups))
	low, high = math.Inf(1), 0
	for _, g := range groups {
		if g.Latency > 0 {
			low, high = min(low, g.Latency), max(high, g.Latency)
		}
	}
	if high == 0 {
		return 0, 0, fmt.Errorf("draw: dendrogram: no group has a latency above 0")
	}
	step := max(1.02, math.Pow(high/low, 0.04))
	for i := len(groups) - 1; i >= 0; i-- {
		g := &groups[i]
		t.at[i] = low
		rows := emptySpan()
		for _, c := range g.Children {
			t.at[i] = max(t.at[i], t.at[c]*step)
			rows.add(t.row[c])
		}
		for _, x := range g.Hosts {
			if t.Smallest(x) == i {
				rows.add(t.rowOf[x])
			}
		}
		t.row[i] = (rows.low + rows.high) / 2
		if g.Latency > t.at[i] {
			t.at[i] = g.Latency
		}
		high = max(high, t.at[i])
		if !(g.Latency > 0) {
			t.unknown++
		}
		if !g.Firm() {
			t.weak++
		}
	}
	return low, high, nil
}

// draw draws each group as a bracket; hosts stand at left.
func (t *dendrogram) draw(c vgdraw.Canvas, x, y func(float64) vg.Length, left float64) {
	thin := vg.Length(1.4)
	if t.Hosts() > 100 {
		thin = 0.7
	}
	for i, g := range t.Groups() {
		line := vgdraw.LineStyle{Color: ink(g.Level), Width: thin}
		if !g.Firm() {
			line.Dashes = []vg.Length{3, 2}
		}
		first, last := t.row[i], t.row[i]
		arm := func(row, from float64) {
			c.StrokeLine2(line, x(from), y(row), x(t.at[i]), y(row))
			first, last = min(first, row), max(last, row)
		}
		for _, child := range g.Children {
			arm(t.row[child], t.at[child])
		}
		for _, host := range g.Hosts {
			if t.Smallest(host) == i {
				arm(t.rowOf[host], left)
			}
		}
		c.StrokeLine2(line, x(t.at[i]), y(first), x(t.at[i]), y(last))
	}
}
