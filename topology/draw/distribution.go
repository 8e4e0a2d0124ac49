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

// A Sample is values of which a Distribution shows how often each occurs.
type Sample struct {
	Name   string
	Values []float64 // NaN: not known
}

// Distribution draws how many values of each sample lie in each of some equal parts of an axis, or of equal
// ratios of a logarithmic one. The samples stand one below the other, so that none hides another. Counts that
// differ by more than 50 times are on a logarithmic axis. Bins are 0 for a number that follows from the values.
func Distribution(title string, x Axis, samples []Sample, bins int, notes ...string) (*Figure, error) {
	all := emptySpan()
	most := 0
	for _, s := range samples {
		n := 0
		for _, v := range s.Values {
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
	b := newBinning(all, x.isLog(), bins, most)
	rows, legends := make([][]*plot.Plot, len(samples)), make([]*plot.Legend, len(samples))
	for k, s := range samples {
		p, bars := newPlot("", ""), b.bars(s.Values, &x)
		bars.FillColor, bars.LineStyle = faint(ink(k), 0.6), vgdraw.LineStyle{Color: ink(k), Width: 0.6}
		p.Add(gridLines(true, true), bars)
		x.set(&p.X, b.span)
		p.X.Min, p.X.Max = b.low, b.high
		if k == len(samples)-1 {
			p.X.Label.Text = x.Name
		}
		p.Y.Max = max(1, 1.05*p.Y.Max)
		if bars.LogY {
			p.Y.Max *= 2
			p.Y.Scale, p.Y.Tick.Marker = plot.LogScale{}, logTicks{plainNumber}
		}
		rows[k], legends[k] = []*plot.Plot{p}, newLegend()
		legends[k].Add(s.Name, bars)
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

// A binning cuts an axis into bins.
type binning struct {
	span
	log  bool
	bins int
}

// newBinning cuts an axis into the given number of bins, 0: as many as are good for so many values.
func newBinning(all span, log bool, bins, values int) *binning {
	if bins < 1 {
		bins = max(8, min(60, int(2*math.Cbrt(float64(values)))))
	}
	switch {
	case all.low < all.high:
	case log:
		all = span{all.low / 1.05, all.high * 1.05}
	default:
		all = span{all.low - 0.5, all.high + 0.5}
	}
	return &binning{all, log, bins}
}

// edge is the lower end of a bin.
func (b *binning) edge(bin int) float64 {
	share := float64(bin) / float64(b.bins)
	if b.log {
		return b.low * math.Pow(b.high/b.low, share)
	}
	return b.low + (b.high-b.low)*share
}

// bin is the one in which a value lies.
func (b *binning) bin(v float64) int {
	share := (v - b.low) / (b.high - b.low)
	if b.log {
		share = math.Log(v/b.low) / math.Log(b.high/b.low)
	}
	return max(0, min(b.bins-1, int(share*float64(b.bins))))
}

// bars counts the values in each bin. Their axis is to be logarithmic if counts differ so much that rare ones could not
// be seen.
func (b *binning) bars(values []float64, x *Axis) *plotter.Histogram {
	h := &plotter.Histogram{Bins: make([]plotter.HistogramBin, b.bins)}
	for bin := range h.Bins {
		h.Bins[bin].Min, h.Bins[bin].Max = b.edge(bin), b.edge(bin+1)
	}
	for _, v := range values {
		if x.has(v) {
			h.Bins[b.bin(v)].Weight++
		}
	}
	most, least := 0.0, math.Inf(1)
	h.Bins = slices.DeleteFunc(h.Bins, func(bin plotter.HistogramBin) bool { return bin.Weight == 0 })
	for _, bin := range h.Bins {
		most, least = max(most, bin.Weight), min(least, bin.Weight)
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
	levels := make([]Sample, len(h.Levels())+1)
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
				l.Values = append(l.Values, v)
			}
		}
	}
	for l := range levels {
		levels[l].Name = shorten(h.LevelName(l))
	}
	levels = slices.DeleteFunc(levels, func(s Sample) bool { return s.Values == nil })
	notes := []string{fmt.Sprintf("%s.", words.Count(known, "measurement"))}
	if zeros > 0 {
		notes = append(notes, fmt.Sprintf("Left out, for the axis is logarithmic: %s of 0.", words.Count(zeros, "measurement")))
	}
	return Distribution(title, Axis{Name: "latency", Format: quantity.Seconds, Log: true}, levels, 0, notes...)
}
