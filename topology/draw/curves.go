package draw

import (
	"cmp"
	"fmt"
	"image/color"
	"math"
	"slices"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/vg"
	vgdraw "gonum.org/v1/plot/vg/draw"

	"github.com/topocast/topocast/internal/quantity"
)

// A Curve is a quantity by message size.
type Curve struct {
	Name   string
	Bytes  []int64   // B, ascending
	Values []float64 // one per size; NaN: not known
	// Low and High bound a band about the values, such as quartiles or an interval of
	// confidence; nil, or NaN: none.
	Low, High []float64
	// Limit says that the curve is no outcome but what none can pass: it is dotted and has no marks.
	Limit bool
	// Muted says that the curve is there for comparison: it is thin and grey, without band, marks and label.
	Muted bool
}

// Bandwidth draws bandwidth in B/s over message size, on logarithmic axes. Sizes and
// values of 0 have no place on them and are left out. notes say what the curves and their bands are.
func Bandwidth(title string, curves []Curve, notes ...string) (*Figure, error) {
	return sizeFigure(title, "bandwidth", quantity.Rate, curves, notes)
}

// Broadcasts draws times in s over message size, one curve per way to broadcast, on logarithmic axes.
// Sizes and values of 0 have no place on them and are left out. notes say what the curves and their bands are.
func Broadcasts(title string, curves []Curve, notes ...string) (*Figure, error) {
	return sizeFigure(title, "time", quantity.Seconds, curves, notes)
}

// sizeFigure draws curves, muted ones first, with labels at their ends.
func sizeFigure(title, quantityName string, format func(float64) string, curves []Curve, notes []string) (*Figure, error) {
	low, high, least, most := math.Inf(1), 0.0, math.Inf(1), 0.0
	left := 0
	for _, c := range curves {
		if len(c.Values) != len(c.Bytes) || c.Low != nil && len(c.Low) != len(c.Bytes) || c.High != nil && len(c.High) != len(c.Bytes) {
			return nil, fmt.Errorf("draw: %s: curve %q has %d sizes, %d values, bands of %d and %d: want as many of each",
				quantityName, c.Name, len(c.Bytes), len(c.Values), len(c.Low), len(c.High))
		}
		for i, b := range c.Bytes {
			if math.IsNaN(c.Values[i]) {
				continue
			}
			if !c.drawn(i) {
				left++
				continue
			}
			least, most = min(least, float64(b)), max(most, float64(b))
			low, high = min(low, c.Values[i]), max(high, c.Values[i])
			if l, h, ok := c.band(i); ok {
				low, high = min(low, l), max(high, h)
			}
		}
	}
	if high == 0 {
		return nil, fmt.Errorf("draw: %s: no curve has a value above 0 at a size above 0", quantityName)
	}
	if left > 0 {
		notes = append(notes[:len(notes):len(notes)], "Left out, for the axes are logarithmic: messages of 0 B.")
	}
	p := newPlot("message size", quantityName)
	logarithmic(&p.X, least, most, byteTicks{})
	logarithmic(&p.Y, low, high, logTicks{format})
	p.Add(gridLines{x: true, y: true})
	// Colours are those of the curves that are not muted, in their order.
	shown, muted := make([]*Curve, 0, len(curves)), 0
	for k := range curves {
		if curves[k].Muted {
			muted++
			p.Add(curves[k].lineShape(0))
		} else {
			shown = append(shown, &curves[k])
		}
	}
	if muted > 0 {
		notes = append(notes[:len(notes):len(notes)], fmt.Sprintf("Grey: %d others.", muted))
	}
	for k, c := range shown {
		p.Add(c.bandShape(k))
	}
	for k, c := range shown {
		p.Add(c.lineShape(k))
	}
	p.Add(endLabels(shown))
	const labels = 150
	return &Figure{title: title, notes: notes, width: 620, height: 340, draw: func(c vgdraw.Canvas) {
		p.Draw(vgdraw.Crop(c, 0, -labels, 0, 0))
	}}, nil
}

// endLabels writes the names of curves on the right of their last points, each in the curve's colour, as far apart as lines of
// text.
func endLabels(curves []*Curve) shape {
	return func(canvas vgdraw.Canvas, _, y func(float64) vg.Length) {
		type label struct {
			name string
			at   vg.Length
			ink  color.Color
		}
		var all []label
		for k, c := range curves {
			for i := len(c.Bytes) - 1; i >= 0; i-- {
				if c.drawn(i) {
					all = append(all, label{c.Name, y(c.Values[i]), c.line(k).Color})
					break
				}
			}
		}
		slices.SortStableFunc(all, func(a, b label) int { return cmp.Compare(b.at, a.at) })
		const apart = 12
		for i := range all {
			if i > 0 {
				all[i].at = min(all[i].at, all[i-1].at-apart)
			}
		}
		up := vg.Length(0) // so that the lowest one stays beside the plot
		if n := len(all); n > 0 {
			up = max(0, canvas.Min.Y-all[n-1].at)
		}
		for _, l := range all {
			text := style(plainSize, l.ink)
			text.YAlign = vgdraw.YCenter
			canvas.FillText(text, vg.Point{X: canvas.Max.X + 8, Y: l.at + up}, l.name)
		}
	}
}

// drawn tells whether point i has a place on logarithmic axes.
func (c *Curve) drawn(i int) bool { return c.Bytes[i] > 0 && c.Values[i] > 0 && finite(c.Values[i]) }

// band is that of point i.
func (c *Curve) band(i int) (low, high float64, ok bool) {
	if c.Low == nil || c.High == nil || !c.drawn(i) {
		return 0, 0, false
	}
	low, high = c.Low[i], c.High[i]
	return low, high, low > 0 && finite(high) && high >= low
}

func (c *Curve) bandShape(k int) shape {
	return func(canvas vgdraw.Canvas, x, y func(float64) vg.Length) {
		var there, back []vg.Point
		flush := func() {
			for i := len(back) - 1; i >= 0; i-- {
				there = append(there, back[i])
			}
			if len(back) > 1 {
				canvas.FillPolygon(faint(ink(k), 0.18), there)
			}
			there, back = nil, nil
		}
		for i, b := range c.Bytes {
			low, high, ok := c.band(i)
			if !ok {
				flush()
				continue
			}
			there = append(there, vg.Point{X: x(float64(b)), Y: y(low)})
			back = append(back, vg.Point{X: x(float64(b)), Y: y(high)})
		}
		flush()
	}
}

func (c *Curve) lineShape(k int) shape {
	return func(canvas vgdraw.Canvas, x, y func(float64) vg.Length) {
		var line []vg.Point
		for i, b := range c.Bytes {
			if c.drawn(i) {
				line = append(line, vg.Point{X: x(float64(b)), Y: y(c.Values[i])})
			}
		}
		canvas.StrokeLines(c.line(k), line)
		for _, at := range line {
			if !c.Limit && !c.Muted {
				canvas.DrawGlyph(mark(k), at)
			}
		}
	}
}

// line is that of the k-th curve.
func (c *Curve) line(k int) vgdraw.LineStyle {
	if c.Muted {
		return vgdraw.LineStyle{Color: grey(0xcc), Width: 0.8}
	}
	if c.Limit {
		return vgdraw.LineStyle{Color: grey(0x60), Width: 1, Dashes: []vg.Length{1.5, 2}}
	}
	return vgdraw.LineStyle{Color: ink(k), Width: 1.5, Dashes: dashes(k)}
}

// mark is that of the k-th curve: shapes tell apart what colours do not.
func mark(k int) vgdraw.GlyphStyle {
	shapes := []vgdraw.GlyphDrawer{
		vgdraw.CircleGlyph{}, vgdraw.SquareGlyph{}, vgdraw.PyramidGlyph{}, vgdraw.CrossGlyph{}, vgdraw.RingGlyph{}, vgdraw.BoxGlyph{}, vgdraw.TriangleGlyph{}, vgdraw.PlusGlyph{},
	}
	return vgdraw.GlyphStyle{Color: ink(k), Radius: 2.8, Shape: shapes[k%len(shapes)]}
}

var _ plot.Plotter = shape(nil)
