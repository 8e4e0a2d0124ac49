package draw

import (
	"fmt"
	"math"
	"slices"
	"strconv"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/vg"
	vgdraw "gonum.org/v1/plot/vg/draw"

	"github.com/topocast/topocast/internal/quantity"
	"github.com/topocast/topocast/internal/words"
)

// An Axis is one of a plot. The zero value is linear and has no name.
type Axis struct {
	Name   string               `json:"name,omitempty"`
	Format func(float64) string `json:"-"`               // of the numbers at its ticks; nil: as they are
	Log    bool                 `json:"log,omitempty"`   // logarithmic: values of 0 and less have no place and are left out
	Bytes  bool                 `json:"bytes,omitempty"` // sizes of messages in B: logarithmic, with ticks at powers of two
	// Labels name the values 0, 1, ... of an axis of things that are not numbers; nil: it has numbers.
	Labels []string `json:"labels,omitempty"`
}

// A span is between the least and the most of some values.
type span struct{ low, high float64 }

func emptySpan() span { return span{math.Inf(1), math.Inf(-1)} }

func (s *span) add(v float64) { s.low, s.high = min(s.low, v), max(s.high, v) }

func wholeNumber(v float64) string { return fmt.Sprintf("%.0f", v) }

func twoDigits(v float64) string { return fmt.Sprintf("%.2f", v) }

// text is "3", "3-5", or "-" where there is nothing.
func (s span) text(format func(float64) string, to string) string {
	low, high := format(s.low), format(s.high)
	switch {
	case s.low > s.high:
		return "-"
	case low == high:
		return low
	}
	return low + to + high
}

// isLog tells whether the axis is logarithmic.
func (a *Axis) isLog() bool { return a.Log || a.Bytes }

// has tells whether a value has a place on the axis.
func (a *Axis) has(v float64) bool { return finite(v) && (!a.isLog() || v > 0) }

// set gives an axis of a plot these settings, over the span of the values.
func (a *Axis) set(axis *plot.Axis, s span) {
	format := a.Format
	if format == nil {
		format = plainNumber
	}
	switch {
	case a.Labels != nil:
		ticks := make(plot.ConstantTicks, len(a.Labels))
		const room = 88 // characters of all labels side by side
		for k, label := range a.Labels {
			ticks[k] = plot.Tick{Value: float64(k), Label: words.Fill(label, room/len(a.Labels)-1)}
		}
		axis.Min, axis.Max = -0.5, float64(len(a.Labels))-0.5
		axis.Tick.Marker = ticks
	case a.Bytes:
		logarithmic(axis, s.low, s.high, logTicks{2, func(size float64) string { return quantity.Bytes(int64(size)) }})
	case a.Log:
		logarithmic(axis, s.low, s.high, logTicks{10, format})
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

func plainNumber(v float64) string { return fmt.Sprintf("%g", v) }

// logarithmic makes an axis logarithmic over the given values, which are above 0, with some room at its ends.
func logarithmic(axis *plot.Axis, low, high float64, ticks plot.Ticker) {
	room := max(1.05, math.Pow(high/low, 0.03))
	axis.Min, axis.Max = low/room, high*room
	axis.Scale = plot.LogScale{}
	axis.Tick.Marker = ticks
}

// evenTicks are ticks of a linear axis.
type evenTicks struct{ format func(float64) string }

func (e evenTicks) Ticks(low, high float64) []plot.Tick {
	ticks := plot.DefaultTicks{}.Ticks(low, high)
	for k := range ticks {
		// The label has the digits that are meant; the value is a sum of steps and has more.
		if v, err := strconv.ParseFloat(ticks[k].Label, 64); err == nil {
			ticks[k].Label = e.format(v)
		}
	}
	return ticks
}

// logTicks are ticks of a logarithmic axis at powers of the base, some ten of them labelled. Between powers of ten there are
// others, with labels where the axis is short.
type logTicks struct {
	base   float64
	format func(float64) string
}

func (l logTicks) Ticks(low, high float64) []plot.Tick {
	const off = 1e-9
	power := func(x float64) float64 { return math.Log10(x) / math.Log10(l.base) }
	first, last := math.Ceil(power(low)-off), math.Floor(power(high)+off)
	every := max(1, int(math.Ceil((last-first)/9))) // powers from label to label
	labelled := []int{1}
	switch decades := math.Log10(high / low); {
	case decades < 0.4:
		labelled = []int{1, 2, 3, 4, 5, 6, 7, 8, 9}
	case decades < 1: // 8, 9 and 10 would run into each other
		labelled = []int{1, 2, 3, 5, 7}
	case decades < 2.5:
		labelled = []int{1, 2, 5}
	}
	var ticks []plot.Tick
	for e := first - 1; e <= last; e++ {
		for digit := 1; digit < int(l.base); digit++ {
			v := float64(digit) * math.Pow(l.base, e)
			if e < 0 { // 10^-e is exact, 10^e is not
				v = float64(digit) / math.Pow(l.base, -e)
			}
			if v < low*(1-off) || v > high*(1+off) {
				continue
			}
			t := plot.Tick{Value: v}
			if slices.Contains(labelled, digit) && int(math.Abs(e))%every == 0 {
				t.Label = l.format(v)
			}
			ticks = append(ticks, t)
		}
	}
	if len(ticks) < 2 {
		ticks = []plot.Tick{{Value: low, Label: l.format(low)}, {Value: high, Label: l.format(high)}}
	}
	return ticks
}

// gridLine is the style of a line across a plot at a labelled tick.
func gridLine() vgdraw.LineStyle { return vgdraw.LineStyle{Color: grey(0xe0), Width: 0.5} }

// A shape is drawn in the coordinates of a plot.
type shape func(c vgdraw.Canvas, x, y func(float64) vg.Length)

var _ plot.Plotter = shape(nil)

// Plot draws the shape.
func (s shape) Plot(c vgdraw.Canvas, p *plot.Plot) {
	x, y := p.Transforms(&c)
	s(c, x, y)
}
