package draw

import (
	"fmt"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/vg"
	vgdraw "gonum.org/v1/plot/vg/draw"

	"github.com/topocast/topocast/internal/words"
)

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
	// Muted says that the series is there for comparison: it is thin and grey, without band, marks and name.
	Muted bool
}

// Plot draws series over two axes, the legend on the right of them. What is not finite, or has no place on a
// logarithmic axis, is left out; notes say what the series and their bands are.
func Plot(title string, x, y Axis, series []Series, notes ...string) (*Figure, error) {
	xs, ys := emptySpan(), emptySpan()
	left := 0
	for k := range series {
		s := &series[k]
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
			if low, high, ok := s.band(i, &y); ok {
				ys.add(low)
				ys.add(high)
			}
		}
	}
	if xs.low > xs.high {
		return nil, fmt.Errorf("draw: plot %q: no series has a point", title)
	}
	notes = notes[:len(notes):len(notes)]
	if left > 0 {
		notes = append(notes, fmt.Sprintf("Left out, for an axis is logarithmic: %s.", words.Count(left, "point")))
	}
	p := newPlot(x.Name, y.Name)
	x.set(&p.X, xs)
	y.set(&p.Y, ys)
	p.Add(gridLines(x.Labels == nil, true))
	var shown []*Series
	for k := range series {
		if s := &series[k]; s.Muted {
			s.addLine(p, 0, &x, &y)
		} else {
			shown = append(shown, s)
		}
	}
	if muted := len(series) - len(shown); muted > 0 {
		notes = append(notes, fmt.Sprintf("Grey: %s.", words.Count(muted, "other")))
	}
	for k, s := range shown {
		p.Add(s.bandShape(k, &x, &y))
	}
	keys := make([]key, len(shown))
	for k, s := range shown {
		s.addLine(p, k, &x, &y)
		keys[k] = key{name: s.Name, line: s.line(k), mark: s.mark(k)}
	}
	return &Figure{title: title, notes: notes, width: 620, height: 320, draw: func(c vgdraw.Canvas) { drawBeside(c, p, keys) }}, nil
}

// band is the band about point i, as far as it has a place on the axis of the values.
func (s *Series) band(i int, y *Axis) (low, high float64, ok bool) {
	if s.Muted || s.Low == nil || s.High == nil || !y.has(s.Low[i]) || !y.has(s.High[i]) {
		return 0, 0, false
	}
	return s.Low[i], s.High[i], true
}

// bandShape is an area about points that are joined, and else a line at each of them.
func (s *Series) bandShape(k int, ax, ay *Axis) shape {
	return func(c vgdraw.Canvas, x, y func(float64) vg.Length) {
		var there, back []vg.Point
		flush := func() {
			if len(back) > 1 {
				for i := len(back) - 1; i >= 0; i-- {
					there = append(there, back[i])
				}
				c.FillPolygon(faint(ink(k), 0.18), there)
			}
			there, back = nil, nil
		}
		for i, at := range s.X {
			low, high, ok := s.band(i, ay)
			switch {
			case !ok || !ax.has(at):
				flush()
			case s.Apart:
				c.StrokeLine2(vgdraw.LineStyle{Color: faint(ink(k), 0.6), Width: 1}, x(at), y(low), x(at), y(high))
			default:
				there = append(there, vg.Point{X: x(at), Y: y(low)})
				back = append(back, vg.Point{X: x(at), Y: y(high)})
			}
		}
		flush()
	}
}

// addLine adds the line and the marks of the k-th series to a plot.
func (s *Series) addLine(p *plot.Plot, k int, x, y *Axis) {
	var points plotter.XYs
	for i := range s.X {
		if x.has(s.X[i]) && y.has(s.Y[i]) {
			points = append(points, plotter.XY{X: s.X[i], Y: s.Y[i]})
		}
	}
	if !s.Apart {
		p.Add(&plotter.Line{XYs: points, LineStyle: s.line(k)})
	}
	if mark := s.mark(k); mark != nil {
		p.Add(&plotter.Scatter{XYs: points, GlyphStyle: *mark})
	}
}

// line is the line of the k-th series.
func (s *Series) line(k int) vgdraw.LineStyle {
	switch {
	case s.Muted:
		return vgdraw.LineStyle{Color: grey(0xcc), Width: 0.8}
	case s.Limit:
		return vgdraw.LineStyle{Color: grey(0x60), Width: 1, Dashes: []vg.Length{1.5, 2}}
	}
	return vgdraw.LineStyle{Color: ink(k), Width: 1.5, Dashes: dashes(k)}
}

// mark is the mark at the points of the k-th series, nil if it has none: shapes tell apart what colours do not.
func (s *Series) mark(k int) *vgdraw.GlyphStyle {
	if s.Limit || s.Muted {
		return nil
	}
	shapes := []vgdraw.GlyphDrawer{
		vgdraw.CircleGlyph{}, vgdraw.SquareGlyph{}, vgdraw.PyramidGlyph{}, vgdraw.CrossGlyph{}, vgdraw.RingGlyph{}, vgdraw.BoxGlyph{}, vgdraw.TriangleGlyph{}, vgdraw.PlusGlyph{},
	}
	return &vgdraw.GlyphStyle{Color: ink(k), Radius: 2.8, Shape: shapes[k%len(shapes)]}
}
