package draw

import (
	"fmt"
	"image/color"
	"math"
	"slices"

	"gonum.org/v1/gonum/mat"
	"gonum.org/v1/plot"
	"gonum.org/v1/plot/vg"
	vgdraw "gonum.org/v1/plot/vg/draw"

	"github.com/topocast/topocast/internal/quantity"
	"github.com/topocast/topocast/internal/words"
	"github.com/topocast/topocast/topology"
)

// Histogram draws how many of the latencies in s, from row to column of the matrix, are how long, over
// a logarithmic axis. With a hierarchy of the same hosts, which may be nil, each level has a colour.
// Readings of 0, which have no place on the axis, and those above the percentile 99.9, are left out, and the notes say so.
func Histogram(title string, latencies mat.Matrix, h *topology.Hierarchy) (*Figure, error) {
	n, columns := latencies.Dims()
	if n != columns {
		return nil, fmt.Errorf("draw: histogram: the matrix is %d x %d: want it square", n, columns)
	}
	if h != nil && h.Hosts() != n {
		return nil, fmt.Errorf("draw: histogram: a hierarchy of %d hosts for %d rows", h.Hosts(), n)
	}
	levels := 1
	if h != nil {
		levels = len(h.Levels()) + 1
	}
	readings := make([][]float64, levels)
	var all []float64
	zeros := 0
	for i := range n {
		for j := range n {
			v := latencies.At(i, j)
			if i == j || !finite(v) || v < 0 {
				continue
			}
			if v == 0 {
				zeros++
				continue
			}
			l := 0
			if h != nil {
				l = h.Groups()[h.Common(i, j)].Level
			}
			readings[l] = append(readings[l], v)
			all = append(all, v)
		}
	}
	if len(all) == 0 {
		return nil, fmt.Errorf("draw: histogram: the matrix has no measurement above 0")
	}
	slices.Sort(all)
	const share = 0.999
	low, high := all[0], all[min(len(all)-1, int(share*float64(len(all))))]
	notes := []string{fmt.Sprintf("%s.", words.Count(len(all), "measurement"))}
	if top := all[len(all)-1]; top > high {
		k, _ := slices.BinarySearch(all, math.Nextafter(high, math.Inf(1)))
		notes[0] = fmt.Sprintf("%s; left out above the percentile %g: %d, up to %s.", words.Count(len(all), "measurement"), 100*share, len(all)-k, quantity.Seconds(top))
	}
	if zeros > 0 {
		notes = append(notes, fmt.Sprintf("Left out, for the axis is logarithmic: %s of 0.", words.Count(zeros, "measurement")))
	}

	p := newPlot("latency", "measurements")
	logarithmic(&p.X, low, high, logTicks{quantity.Seconds})
	edges := binEdges(p.X.Min, p.X.Max, len(all))
	counts := make([][]float64, levels)
	most, few := 0.0, math.Inf(1)
	for l := range levels {
		counts[l] = make([]float64, len(edges)-1)
		peak := 0.0
		for _, v := range readings[l] {
			if k := int(math.Log(v/edges[0]) / math.Log(edges[1]/edges[0])); k < len(counts[l]) {
				counts[l][k]++
				peak = max(peak, counts[l][k])
			}
		}
		most = max(most, peak)
		if peak > 0 {
			few = min(few, peak)
		}
	}
	p.Y.Min, p.Y.Max = 0, 1.05*most
	if most > 50*few { // or the rare ones could not be seen
		p.Y.Min, p.Y.Max = 0.5, 2*most
		p.Y.Scale, p.Y.Tick.Marker = plot.LogScale{}, logTicks{func(v float64) string { return fmt.Sprintf("%g", v) }}
		p.Y.Label.Text += ", logarithmic"
	}
	p.Add(gridLines{x: true, y: true})
	var names []Curve
	for l := range levels {
		if h != nil && len(readings[l]) > 0 {
			names = append(names, Curve{Name: shorten(h.LevelName(l))})
		}
		p.Add(bars(edges, counts[l], l, p.Y.Min))
	}
	legend := vg.Length(0)
	if h != nil {
		legend = 110
	}
	return &Figure{title: title, notes: notes, width: 500 + legend, height: 300, draw: func(c vgdraw.Canvas) {
		p.Draw(vgdraw.Crop(c, 0, -legend, 0, 0))
		k := 0
		for l := range levels {
			if legend > 0 && len(readings[l]) > 0 {
				swatch(vgdraw.Crop(c, c.Max.X-c.Min.X-legend+12, 0, 0, 0), k, faint(ink(l), 0.6), names[k].Name)
				k++
			}
		}
	}}, nil
}

// binEdges cut the axis in equal ratios: some twice the cube root of the readings, at most 80.
func binEdges(low, high float64, readings int) []float64 {
	bins := max(8, min(80, int(2*math.Cbrt(float64(readings)))))
	edges := make([]float64, bins+1)
	for k := range edges {
		edges[k] = low * math.Pow(high/low, float64(k)/float64(bins))
	}
	return edges
}

func bars(edges, counts []float64, level int, floor float64) shape {
	return func(c vgdraw.Canvas, x, y func(float64) vg.Length) {
		for k, count := range counts {
			if count == 0 {
				continue
			}
			left, right, bottom, top := x(edges[k]), x(edges[k+1]), y(floor), y(count)
			corners := []vg.Point{{X: left, Y: bottom}, {X: left, Y: top}, {X: right, Y: top}, {X: right, Y: bottom}}
			c.FillPolygon(faint(ink(level), 0.6), corners)
			c.StrokeLines(vgdraw.LineStyle{Color: ink(level), Width: 0.6}, corners)
		}
	}
}

// swatch draws the k-th line of a legend of areas.
func swatch(c vgdraw.Canvas, k int, fill color.Color, name string) {
	y := c.Max.Y - 8 - vg.Length(k)*14
	c.FillPolygon(fill, []vg.Point{{X: c.Min.X, Y: y - 4}, {X: c.Min.X + 12, Y: y - 4}, {X: c.Min.X + 12, Y: y + 4}, {X: c.Min.X, Y: y + 4}})
	label := style(plainSize, grey(0x20))
	label.YAlign = vgdraw.YCenter
	c.FillText(label, vg.Point{X: c.Min.X + 17, Y: y}, name)
}

// faint is the colour through which the given share of it is seen.
func faint(c color.RGBA, share float64) color.NRGBA {
	return color.NRGBA{c.R, c.G, c.B, uint8(255 * share)}
}
