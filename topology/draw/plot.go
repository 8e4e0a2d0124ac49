package draw

import (
	"fmt"
	"math"
	"strconv"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/vg"
	vgdraw "gonum.org/v1/plot/vg/draw"

	"github.com/topocast/topocast/internal/words"
)

// An Axis is one of a plot. The zero value is linear and has no name.
type Axis struct {
	Name   string
	Format func(float64) string // of the numbers at its ticks; nil: as they are
	Log    bool                 // logarithmic: values of 0 and less have no place and are left out
	// Labels name the values 0, 1, ... of an axis of things that are not numbers; nil: it has numbers.
	Labels []string
}

// A Series is points of a plot, joined by a line.
type Series struct {
	Name string
	X, Y []float64 // as many of each; NaN: not known
	// Low and High bound a band about the values, such as quartiles or an interval of
	// confidence; nil, or NaN: none.
	Low, High []float64
	Apart     bool // the points are not joined
	// Limit says that the series is not an outcome but what outcomes are held against, such as a bound or a
	// printed figure: it is dotted and has no marks.
	Limit bool
}

// Plot draws series over two axes, the legend on the right of them. What is not finite, or has no place on a
// logarithmic axis, is left out; notes say what the series and their bands are.
func Plot(title string, x, y Axis, series []Series, notes ...string) (*Figure, error) {
	xs, ys := emptySpan(), emptySpan()
	left := 0
	for _, s := range series {
		if len(s.X) != len(s.Y) || s.Low != nil && len(s.Low) != len(s.Y) || s.High != nil && len(s.High) != len(s.Y) {
			return nil, fmt.Errorf("draw: plot %q: series %q has %d and %d values, bands of %d and %d: want as many of each", title, s.Name, len(s.X), len(s.Y), len(s.Low), len(s.High))
		}
		for i := range s.X {
			if !x.has(s.X[i]) || !y.has(s.Y[i]) {
				if finite(s.X[i]) && finite(s.Y[i]) {
					left++
				}
				continue
			}
			xs.add(s.X[i])
			ys.add(s.Y[i])
			if s.Low != nil && s.High != nil && y.has(s.Low[i]) && y.has(s.High[i]) {
				ys.add(s.Low[i])
				ys.add(s.High[i])
			}
		}
	}
	if xs.low > xs.high {
		return nil, fmt.Errorf("draw: plot %q: no series has a point", title)
	}
	if left > 0 {
		notes = append(notes[:len(notes):len(notes)], fmt.Sprintf("Left out, for an axis is logarithmic: %s.", words.Count(left, "point")))
	}
	p := newPlot(x.Name, y.Name)
	x.set(&p.X, xs)
	y.set(&p.Y, ys)
	p.Add(gridLines{x: x.Labels == nil, y: true})
	curves := make([]Curve, len(series)) // their lines, marks and names
	for k, s := range series {
		curves[k] = Curve{Name: s.Name, Limit: s.Limit}
		p.Add(s.band(k, &x, &y))
	}
	for k := range series {
		p.Add(series[k].shape(k, &curves[k], &x, &y))
	}
	const legend = 150
	return &Figure{title: title, notes: notes, width: 620, height: 320, draw: func(c vgdraw.Canvas) {
		p.Draw(vgdraw.Crop(c, 0, -legend, 0, 0))
		drawLegend(vgdraw.Crop(c, c.Max.X-c.Min.X-legend+12, 0, 0, 0), curves)
	}}, nil
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

// A span is between the least and the most of some values.
type span struct{ low, high float64 }

func emptySpan() span { return span{math.Inf(1), math.Inf(-1)} }

func (s *span) add(v float64) { s.low, s.high = min(s.low, v), max(s.high, v) }

// has tells whether a value has a place on the axis.
func (a *Axis) has(v float64) bool { return finite(v) && (!a.Log || v > 0) }

// set makes the axis of a plot that one, over the span of the values.
func (a *Axis) set(axis *plot.Axis, s span) {
	format := a.Format
	if format == nil {
		format = func(v float64) string { return fmt.Sprintf("%g", v) }
	}
	switch {
	case a.Labels != nil:
		ticks := make([]plot.Tick, len(a.Labels))
		for k, label := range a.Labels {
			ticks[k] = plot.Tick{Value: float64(k), Label: shorten(label)}
		}
		axis.Min, axis.Max = -0.5, float64(len(a.Labels))-0.5
		axis.Tick.Marker = plot.ConstantTicks(ticks)
	case a.Log:
		logarithmic(axis, s.low, s.high, logTicks{format})
	default:
		room := 0.04 * (s.high - s.low)
		if room == 0 {
			room = max(0.5, 0.1*math.Abs(s.high))
		}
		axis.Min, axis.Max = s.low-room, s.high+room
		if s.low >= 0 && axis.Min < 0 || s.low > 0 && s.low < 0.3*s.high {
			axis.Min = 0
		}
		axis.Tick.Marker = evenTicks{format}
	}
}

// evenTicks are ticks of a linear axis.
type evenTicks struct{ format func(float64) string }

func (e evenTicks) Ticks(low, high float64) []plot.Tick {
	ticks := plot.DefaultTicks{}.Ticks(low, high)
	for k := range ticks {
		if ticks[k].Label == "" {
			continue
		}
		v := ticks[k].Value
		if math.Abs(v) < 1e-9*(high-low) {
			v = 0
		}
		// The sum of steps leaves digits behind that nobody meant.
		if short, err := strconv.ParseFloat(strconv.FormatFloat(v, 'g', 9, 64), 64); err == nil {
			v = short
		}
		ticks[k].Label = e.format(v)
	}
	return ticks
}

func (s *Series) band(k int, ax, ay *Axis) shape {
	return func(c vgdraw.Canvas, x, y func(float64) vg.Length) {
		if s.Low == nil || s.High == nil {
			return
		}
		if s.Apart {
			for i := range s.X {
				if ax.has(s.X[i]) && ay.has(s.Y[i]) && ay.has(s.Low[i]) && ay.has(s.High[i]) {
					c.StrokeLine2(vgdraw.LineStyle{Color: faint(ink(k), 0.6), Width: 1}, x(s.X[i]), y(s.Low[i]), x(s.X[i]), y(s.High[i]))
				}
			}
			return
		}
		var there, back []vg.Point
		flush := func() {
			for i := len(back) - 1; i >= 0; i-- {
				there = append(there, back[i])
			}
			if len(back) > 1 {
				c.FillPolygon(faint(ink(k), 0.18), there)
			}
			there, back = nil, nil
		}
		for i := range s.X {
			if !ax.has(s.X[i]) || !ay.has(s.Low[i]) || !ay.has(s.High[i]) {
				flush()
				continue
			}
			there = append(there, vg.Point{X: x(s.X[i]), Y: y(s.Low[i])})
			back = append(back, vg.Point{X: x(s.X[i]), Y: y(s.High[i])})
		}
		flush()
	}
}

func (s *Series) shape(k int, as *Curve, ax, ay *Axis) shape {
	return func(c vgdraw.Canvas, x, y func(float64) vg.Length) {
		var line []vg.Point
		for i := range s.X {
			if ax.has(s.X[i]) && ay.has(s.Y[i]) {
				line = append(line, vg.Point{X: x(s.X[i]), Y: y(s.Y[i])})
			}
		}
		if !s.Apart {
			c.StrokeLines(as.line(k), line)
		}
		for _, at := range line {
			if !s.Limit {
				c.DrawGlyph(mark(k), at)
			}
		}
	}
}
