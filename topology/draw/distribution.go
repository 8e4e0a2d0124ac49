package draw

import (
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"
	"gonum.org/v1/gonum/stat"
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
	edges := edgesOf(all, x.isLog(), bins)
	rows, legends := make([][]*plot.Plot, len(samples)), make([]*plot.Legend, len(samples))
	for k, s := range samples {
		p, counts := newPlot("", ""), bars(s.Y, &x, edges)
		counts.FillColor, counts.LineStyle = faint(ink(k), 0.6), vgdraw.LineStyle{Color: ink(k), Width: 0.6}
		p.Add(gridLines(true, true), counts)
		x.set(&p.X, span{edges[0], edges[bins]})
		p.X.Min, p.X.Max = edges[0], edges[bins]
		if k == len(samples)-1 {
			p.X.Label.Text = x.Name
		}
		p.Y.Max = max(1, 1.05*p.Y.Max)
		if counts.LogY {
			p.Y.Max *= 2
			p.Y.Scale, p.Y.Tick.Marker = plot.LogScale{}, logTicks{plainNumber}
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

// edgesOf cuts an axis into bins of equal width, or of equal ratio. All values lie below the last edge.
func edgesOf(all span, log bool, bins int) []float64 {
	switch {
	case all.low < all.high:
	case log:
		all = span{all.low / 1.05, all.high * 1.05}
	default:
		all = span{all.low - 0.5, all.high + 0.5}
	}
	edges := make([]float64, bins+1)
	if log {
		floats.LogSpan(edges, all.low, all.high)
	} else {
		floats.Span(edges, all.low, all.high)
	}
	edges[0], edges[bins] = min(edges[0], all.low), math.Nextafter(max(edges[bins], all.high), math.Inf(1))
	return edges
}

// bars counts the values between the edges. Their axis is to be logarithmic if counts differ so much that rare ones could not
// be seen.
func bars(values []float64, x *Axis, edges []float64) *plotter.Histogram {
	values = slices.DeleteFunc(slices.Clone(values), func(v float64) bool { return !x.has(v) })
	slices.Sort(values)
	h := &plotter.Histogram{}
	most, least := 0.0, math.Inf(1)
	for bin, count := range stat.Histogram(nil, edges, values, nil) {
		if count > 0 {
			h.Bins = append(h.Bins, plotter.HistogramBin{Min: edges[bin], Max: edges[bin+1], Weight: count})
			most, least = max(most, count), min(least, count)
		}
	}
	h.LogY = most > 50*least
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
