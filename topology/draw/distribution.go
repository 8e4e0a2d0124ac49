package draw

import (
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/mat"
	"gonum.org/v1/plot"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/vg"
	vgdraw "gonum.org/v1/plot/vg/draw"

	"github.com/topocast/topocast/internal/quantity"
	"github.com/topocast/topocast/internal/words"
	"github.com/topocast/topocast/topology"
)

// Distribution draws how often the values Y of each series occur. Bins are equally wide, or of equal ratios on a
// logarithmic axis. The series stand one below the other, so that none hides another. Counts that
// differ by more than 50 times are on a logarithmic axis. Bins are 0 for a number that follows from the values.
func Distribution(title string, x Axis, samples []Series, bins int, notes ...string) (*Figure, error) {
	all := emptySpan()
	most := 0
	for _, s := range samples {
		n := 0
		for _, v := range s.Y {
			if x.has(v) {
				all.add(v)
				n++
			}
		}
		most = max(most, n)
	}
	if most == 0 {
		return nil, fmt.Errorf("draw: distribution %q: no sample has a value", title)
	}
	if bins < 1 {
		bins = max(8, min(60, int(2*math.Cbrt(float64(most)))))
	}
	if all.low == all.high {
		all = x.around(all.low)
	}
	rows, legends := make([][]*plot.Plot, len(samples)), make([]*plot.Legend, len(samples))
	for k, s := range samples {
		p, counts := newPlot("", ""), x.count(s.Y, all, bins)
		counts.FillColor, counts.LineStyle = faint(ink(k), 0.6), vgdraw.LineStyle{Color: ink(k), Width: 0.6}
		p.Add(&plotter.Grid{Vertical: gridLine(), Horizontal: gridLine()}, counts)
		x.set(&p.X, all)
		p.X.Min, p.X.Max = all.low, all.high
		if k == len(samples)-1 {
			p.X.Label.Text = x.Name
		}
		p.Y.Max = max(1, 1.05*p.Y.Max)
		if counts.LogY {
			p.Y.Max *= 2
			p.Y.Scale, p.Y.Tick.Marker = plot.LogScale{}, logTicks{10, plainNumber}
		}
		rows[k], legends[k] = []*plot.Plot{p}, newLegend()
		legends[k].Add(s.Name, counts)
	}
	height := max(110, 300/vg.Length(len(samples))) * vg.Length(len(samples))
	return &Figure{title: title, notes: notes, width: 470 + legendWidth, height: height, draw: func(c vgdraw.Canvas) {
		places := plot.Align(rows, vgdraw.Tiles{Rows: len(rows), Cols: 1, PadY: 8}, vgdraw.Crop(c, 0, -legendWidth, 0, 0))
		for k := range rows {
			rows[k][0].Draw(places[k][0])
			place := c
			place.Min.X, place.Max.Y = c.Max.X-legendWidth+12, places[k][0].Max.Y
			legends[k].Draw(place)
		}
	}}, nil
}

// around is a span about a value.
func (a *Axis) around(v float64) span {
	if a.isLog() {
		return span{v / 1.05, v * 1.05}
	}
	return span{v - 0.5, v + 0.5}
}

// count counts the values in bins of equal width, or of equal ratio on a logarithmic axis. The axis of the counts is to be
// logarithmic if they differ so much that rare ones could not be seen.
func (a *Axis) count(values []float64, all span, bins int) *plotter.Histogram {
	to, from := func(v float64) float64 { return v }, func(v float64) float64 { return v }
	if a.isLog() {
		to, from = math.Log, math.Exp
	}
	low := to(all.low)
	width := (to(all.high) - low) / float64(bins)
	h := &plotter.Histogram{Bins: make([]plotter.HistogramBin, bins)}
	for k := range h.Bins {
		h.Bins[k].Min, h.Bins[k].Max = from(low+float64(k)*width), from(low+float64(k+1)*width)
	}
	for _, v := range values {
		if a.has(v) {
			h.Bins[min(bins-1, int((to(v)-low)/width))].Weight++
		}
	}
	h.Bins = slices.DeleteFunc(h.Bins, func(b plotter.HistogramBin) bool { return b.Weight == 0 })
	counts := emptySpan()
	for _, b := range h.Bins {
		counts.add(b.Weight)
	}
	h.LogY = counts.high > 50*counts.low
	return h
}

// Histogram draws how many of the latencies in s, from row to column of the matrix, are how long, over
// a logarithmic axis. With a hierarchy of the same hosts, which may be nil, each level has a row.
// Latencies of 0 have no place on the axis: the notes say how many there are.
func Histogram(title string, latencies mat.Matrix, h *topology.Hierarchy) (*Figure, error) {
	n, columns := latencies.Dims()
	if n != columns {
		return nil, fmt.Errorf("draw: histogram: the matrix is %d x %d: want it square", n, columns)
	}
	if h == nil {
		h = flatHierarchy(n)
	}
	if h.Hosts() != n {
		return nil, fmt.Errorf("draw: histogram: a hierarchy of %d hosts for %d rows", h.Hosts(), n)
	}
	levels := make([]Series, len(h.Levels())+1)
	known, zeros := 0, 0
	for i := range n {
		for j := range n {
			switch v := latencies.At(i, j); {
			case i == j || !finite(v) || v < 0:
			case v == 0:
				zeros++
			default:
				known++
				l := &levels[h.Groups()[h.Common(i, j)].Level]
				l.Y = append(l.Y, v)
			}
		}
	}
	for l := range levels {
		levels[l].Name = shorten(h.LevelName(l))
	}
	levels = slices.DeleteFunc(levels, func(s Series) bool { return s.Y == nil })
	notes := []string{fmt.Sprintf("%s.", words.Count(known, "measurement"))}
	if zeros > 0 {
		notes = append(notes, fmt.Sprintf("Left out, for the axis is logarithmic: %s of 0.", words.Count(zeros, "measurement")))
	}
	return Distribution(title, Axis{Name: "latency", Format: quantity.Seconds, Log: true}, levels, 0, notes...)
}
