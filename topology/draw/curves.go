package draw

import (
	"fmt"
	"math"

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

// sizeFigure draws curves, the legend on the right of them.
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
	for k := range curves {
		p.Add(curves[k].bandShape(k))
	}
	for k := range curves {
		p.Add(curves[k].lineShape(k))
	}
	const legend = 150
	return &Figure{title: title, notes: notes, width: 620, height: 340, draw: func(c vgdraw.Canvas) {
		p.Draw(vgdraw.Crop(c, 0, -legend, 0, 0))
		drawLegend(vgdraw.Crop(c, c.Max.X-c.Min.X-legend+12, 0, 0, 0), curves)
	}}, nil
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
			if !c.Limit {
				canvas.DrawGlyph(mark(k), at)
			}
		}
	}
}

// line is that of the k-th curve.
func (c *Curve) line(k int) vgdraw.LineStyle {
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

// drawLegend lists the curves from the top.
func drawLegend(c vgdraw.Canvas, curves []Curve) {
	y := c.Max.Y - 8
	for k := range curves {
		c.StrokeLine2(curves[k].line(k), c.Min.X, y, c.Min.X+22, y)
		if !curves[k].Limit {
			c.DrawGlyph(mark(k), vg.Point{X: c.Min.X + 11, Y: y})
		}
		label := style(plainSize, grey(0x20))
		label.YAlign = vgdraw.YCenter
		c.FillText(label, vg.Point{X: c.Min.X + 27, Y: y}, curves[k].Name)
		y -= 14
	}
}

var _ plot.Plotter = shape(nil)
