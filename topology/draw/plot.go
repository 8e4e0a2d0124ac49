package draw

import (
	"fmt"
	"slices"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/plotutil"
	"gonum.org/v1/plot/vg"
	vgdraw "gonum.org/v1/plot/vg/draw"

	"github.com/topocast/topocast/internal/words"
)

// A Series is points of a plot, joined by a line, or the values of a distribution.
type Series struct {
	Name string    `json:"name"`
	X    []float64 `json:"x"` // as many as Y, of a distribution none
	Y    []float64 `json:"y"` // NaN: not known
	// Low and High bound a band about the values, such as quartiles or an interval of
	// confidence; nil, or NaN: none.
	Low  []float64 `json:"low,omitempty"`
	High []float64 `json:"high,omitempty"`
	// Apart says that the points are not joined and have no band. Over an axis of names they are bars from 0, one beside
	// another.
	Apart bool `json:"apart,omitempty"`
	// Limit says that the series is not an outcome but what outcomes are held against, such as a bound or a
	// printed figure: it is dotted and has no marks.
	Limit bool `json:"limit,omitempty"`
	// Muted says that the series is there for comparison: it is thin and grey, without band, marks and name.
	Muted bool `json:"muted,omitempty"`
}

// Plot draws series over two axes, the legend on the right of them. What is not finite, or has no place on a
// logarithmic axis, is left out; notes say what the series and their bands are.
func Plot(title string, x, y Axis, series []Series, notes ...string) (*Figure, error) {
	p, legend := newPlot(x.Name, y.Name), newLegend()
	grid := &plotter.Grid{Horizontal: gridLine()}
	if x.Labels == nil {
		grid.Vertical = gridLine()
	}
	p.Add(grid)
	var muted, others []Series
	for _, s := range series {
		if len(s.X) != len(s.Y) || s.Low != nil && len(s.Low) != len(s.Y) || s.High != nil && len(s.High) != len(s.Y) {
			return nil, fmt.Errorf("draw: plot %q: series %q has %d and %d values, bands of %d and %d: want as many of each", title, s.Name, len(s.X), len(s.Y), len(s.Low), len(s.High))
		}
		if s.Muted {
			muted = append(muted, s)
		} else {
			others = append(others, s)
		}
	}
	left := 0
	for i, s := range append(muted, others...) { // what is muted lies below
		left += s.add(p, legend, max(0, i-len(muted)), len(series), &x, &y)
	}
	if p.X.Min > p.X.Max {
		return nil, fmt.Errorf("draw: plot %q: no series has a point", title)
	}
	x.set(&p.X, span{p.X.Min, p.X.Max})
	y.set(&p.Y, span{p.Y.Min, p.Y.Max})
	notes = notes[:len(notes):len(notes)]
	if left > 0 {
		notes = append(notes, fmt.Sprintf("Left out, for an axis is logarithmic: %s.", words.Count(left, "point")))
	}
	if len(muted) > 0 {
		notes = append(notes, fmt.Sprintf("Grey: %s.", words.Count(len(muted), "other")))
	}
	room := legendWidth
	for i := range series {
		room = max(room, 1.2*legend.TextStyle.Width(series[i].Name)+40) // for broader fonts, too, and what is before the name
	}
	return &Figure{title: title, notes: notes, width: 470 + room, height: 320, draw: func(c vgdraw.Canvas) { drawBeside(c, p, legend, room) }}, nil
}

// add draws the k-th of n series: its band, its line and its marks, which tell apart what colours do not; or its bars. It
// returns how many points have no place on a logarithmic axis.
func (s *Series) add(p *plot.Plot, legend *plot.Legend, k, n int, x, y *Axis) (left int) {
	var points plotter.XYs
	for i := range s.X {
		if x.has(s.X[i]) && y.has(s.Y[i]) {
			points = append(points, plotter.XY{X: s.X[i], Y: s.Y[i]})
		} else if finite(s.X[i]) && finite(s.Y[i]) {
			left++
		}
	}
	line := &plotter.Line{XYs: points, LineStyle: vgdraw.LineStyle{Color: ink(k), Width: 1.5, Dashes: plotutil.Dashes(k / len(inks()))}}
	marks := &plotter.Scatter{XYs: points, GlyphStyle: vgdraw.GlyphStyle{Color: ink(k), Radius: 2.8, Shape: plotutil.Shape(k)}}
	switch {
	case s.Muted:
		line.LineStyle = vgdraw.LineStyle{Color: grey(0xcc), Width: 0.8}
		p.Add(line)
	case s.Limit:
		line.LineStyle = vgdraw.LineStyle{Color: grey(0x60), Width: 1, Dashes: []vg.Length{1.5, 2}}
		p.Add(line)
		legend.Add(s.Name, line)
	case s.Apart && x.Labels != nil && !y.isLog():
		bars := barsOf(points, k, n)
		p.Add(bars)
		legend.Add(s.Name, bars)
	case s.Apart:
		p.Add(marks)
		legend.Add(s.Name, marks)
	default:
		p.Add(s.band(k, x, y), line, marks)
		legend.Add(s.Name, line, marks)
	}
	return left
}

// barsOf are the bars of the k-th of n series, whose bars share eight tenths of the room of a name.
func barsOf(points plotter.XYs, k, n int) *plotter.Polygon {
	bars := &plotter.Polygon{Color: ink(k)}
	width := 0.8 / float64(n)
	for _, at := range points {
		left := at.X - 0.4 + float64(k)*width
		bars.XYs = append(bars.XYs, plotter.XYs{{X: left}, {X: left, Y: at.Y}, {X: left + width, Y: at.Y}, {X: left + width}})
	}
	return bars
}

// band is the area between the bounds.
func (s *Series) band(k int, x, y *Axis) *plotter.Polygon {
	band := &plotter.Polygon{Color: faint(ink(k), 0.18)}
	if s.Low == nil || s.High == nil {
		return band
	}
	var low, high plotter.XYs
	for i, at := range s.X {
		if x.has(at) && y.has(s.Low[i]) && y.has(s.High[i]) {
			low, high = append(low, plotter.XY{X: at, Y: s.Low[i]}), append(high, plotter.XY{X: at, Y: s.High[i]})
		}
	}
	if len(low) > 0 {
		slices.Reverse(high)
		band.XYs = []plotter.XYs{append(low, high...)}
	}
	return band
}
