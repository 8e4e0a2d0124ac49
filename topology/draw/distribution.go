package draw

import (
	"fmt"
	"math"

	"gonum.org/v1/gonum/mat"
	"gonum.org/v1/plot"
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
	names, counts := make([]string, len(samples)), make([][]float64, len(samples))
	for k, s := range samples {
		names[k], counts[k] = s.Name, make([]float64, b.bins)
		for _, v := range s.Values {
			if x.has(v) {
				counts[k][b.bin(v)]++
			}
		}
	}
	return b.figure(title, &x, names, counts, notes), nil
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

// figure draws the counts of each name, one row below the other.
func (b *binning) figure(title string, x *Axis, names []string, counts [][]float64, notes []string) *Figure {
	rows := make([][]*plot.Plot, len(names))
	for k := range names {
		p := newPlot("", "")
		x.set(&p.X, b.span)
		p.X.Min, p.X.Max = b.low, b.high
		if k == len(names)-1 {
			p.X.Label.Text = x.Name
		}
		b.addBars(p, counts[k], k)
		rows[k] = []*plot.Plot{p}
	}
	height := max(110, 300/vg.Length(len(names))) * vg.Length(len(names))
	return &Figure{title: title, notes: notes, width: 470 + legendWidth, height: height, draw: func(c vgdraw.Canvas) {
		places := plot.Align(rows, vgdraw.Tiles{Rows: len(rows), Cols: 1, PadY: 8}, vgdraw.Crop(c, 0, -legendWidth, 0, 0))
		for k, name := range names {
			rows[k][0].Draw(places[k][0])
			drawKeys(c, places[k][0].Max.Y-8, []key{{name: name, area: faint(ink(k), 0.6)}})
		}
	}}
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

// addBars adds counts to a plot, in the k-th colour.
func (b *binning) addBars(p *plot.Plot, counts []float64, k int) {
	peak, rare := 1.0, math.Inf(1)
	for _, n := range counts {
		if peak = max(peak, n); n > 0 {
			rare = min(rare, n)
		}
	}
	p.Y.Min, p.Y.Max = 0, 1.05*peak
	if peak > 50*rare { // or the rare ones could not be seen
		p.Y.Min, p.Y.Max = 0.5, 2*peak
		p.Y.Scale, p.Y.Tick.Marker = plot.LogScale{}, logTicks{plainNumber}
	}
	floor := p.Y.Min
	p.Add(gridLines(true, true), shape(func(c vgdraw.Canvas, x, y func(float64) vg.Length) {
		for bin, count := range counts {
			if count == 0 {
				continue
			}
			left, right, bottom, top := x(b.edge(bin)), x(b.edge(bin+1)), y(floor), y(count)
			corners := []vg.Point{{X: left, Y: bottom}, {X: left, Y: top}, {X: right, Y: top}, {X: right, Y: bottom}}
			c.FillPolygon(faint(ink(k), 0.6), corners)
			c.StrokeLines(vgdraw.LineStyle{Color: ink(k), Width: 0.6}, corners)
		}
	}))
}

// histogramShare is the share of the latencies that a histogram shows: a few that are far off would leave no room
// for the others.
const histogramShare = 0.999

// Histogram draws how many of the latencies in s, from row to column of the matrix, are how long, over
// a logarithmic axis. With a hierarchy of the same hosts, which may be nil, each level has a row.
// Latencies of 0 have no place on the axis. These, and those above the percentile 99.9, are left out, and the
// notes say so.
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
	known, zeros := make([]float64, 0, n*n), 0
	for i := range n {
		for j := range n {
			switch v := latencies.At(i, j); {
			case i == j || !finite(v) || v < 0:
			case v == 0:
				zeros++
			default:
				known = append(known, v)
			}
		}
	}
	if len(known) == 0 {
		return nil, fmt.Errorf("draw: histogram: the matrix has no measurement above 0")
	}
	cut := percentileOf(known, histogramShare)
	all, top, above := emptySpan(), cut, 0
	for _, v := range known {
		if v <= cut {
			all.add(v)
		} else {
			top = max(top, v)
			above++
		}
	}
	b := newBinning(all, true, 0, len(known))
	levels := make([][]float64, len(h.Levels())+1)
	for i := range n {
		for j := range n {
			if v := latencies.At(i, j); i != j && v > 0 && v <= cut {
				l := h.Groups()[h.Common(i, j)].Level
				if levels[l] == nil {
					levels[l] = make([]float64, b.bins)
				}
				levels[l][b.bin(v)]++
			}
		}
	}
	var names []string
	var counts [][]float64
	for l, count := range levels {
		if count != nil {
			names, counts = append(names, shorten(h.LevelName(l))), append(counts, count)
		}
	}
	notes := []string{fmt.Sprintf("%s.", words.Count(len(known), "measurement"))}
	if above > 0 {
		notes[0] = fmt.Sprintf("%s; left out above the percentile %g: %d, up to %s.", words.Count(len(known), "measurement"), 100*histogramShare, above, quantity.Seconds(top))
	}
	if zeros > 0 {
		notes = append(notes, fmt.Sprintf("Left out, for the axis is logarithmic: %s of 0.", words.Count(zeros, "measurement")))
	}
	return b.figure(title, &Axis{Name: "latency", Format: quantity.Seconds, Log: true}, names, counts, notes), nil
}
