package draw

import (
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/plot/vg"
	vgdraw "gonum.org/v1/plot/vg/draw"

	"github.com/topocast/topocast/internal/words"
	"github.com/topocast/topocast/topology"
)

// Wiring draws the graph at the given positions, one per vertex as Layout returns them, seen from the side and a little from
// above: hosts as dots, switches as squares, channels as lines that are the darker the surer they
// are, those of one direction as arrows. Graphs of few vertices have their names.
func Wiring(title string, g *topology.Graph, at [][3]float64) (*Figure, error) {
	if len(at) != g.Vertices() {
		return nil, fmt.Errorf("draw: wiring: %d positions of %d vertices", len(at), g.Vertices())
	}
	if len(at) == 0 {
		return nil, fmt.Errorf("draw: wiring: the graph has no vertex")
	}
	flat := !slices.ContainsFunc(at, func(x [3]float64) bool { return x[1] != 0 })
	seen := make([]vg.Point, len(at))
	low, high := project(at[0], flat), project(at[0], flat)
	for v, x := range at {
		seen[v] = project(x, flat)
		low.X, low.Y = min(low.X, seen[v].X), min(low.Y, seen[v].Y)
		high.X, high.Y = max(high.X, seen[v].X), max(high.Y, seen[v].Y)
	}
	const longest = 560
	size := high.Sub(low)
	scale := min(longest/max(size.X, size.Y, 1e-9), 120)
	width, height := max(200, size.X*scale+60), max(80, size.Y*scale+40)
	notes := []string{fmt.Sprintf("%s (dots), %s (squares).", words.Count(g.Hosts(), "host"), words.Count(g.Vertices()-g.Hosts(), "switch"))}
	return &Figure{title: title, notes: notes, width: width, height: height, draw: func(c vgdraw.Canvas) {
		corner := vg.Point{X: c.Min.X + (width-size.X*scale)/2, Y: c.Min.Y + (height-size.Y*scale)/2}
		on := make([]vg.Point, len(seen))
		for v := range seen {
			on[v] = corner.Add(seen[v].Sub(low).Scale(scale))
		}
		drawWiring(c, g, on, flat)
	}}, nil
}

// project turns a position by 30 degrees about the upright axis, and looks at it from 25 degrees above. It looks at
// what is flat from the front.
func project(at [3]float64, flat bool) vg.Point {
	if flat {
		return vg.Point{X: vg.Length(at[0]), Y: vg.Length(at[2])}
	}
	sin, cos := math.Sincos(math.Pi / 6)
	up, level := math.Sincos(25 * math.Pi / 180)
	return vg.Point{X: vg.Length(cos*at[0] - sin*at[1]), Y: vg.Length(level*at[2] + up*(sin*at[0]+cos*at[1]))}
}

// drawWiring draws the graph with its vertices at the given points.
func drawWiring(c vgdraw.Canvas, g *topology.Graph, on []vg.Point, flat bool) {
	// The more there is, the finer it is drawn.
	few := min(1, math.Sqrt(60/float64(len(on))))
	channels := g.Channels()
	line := vgdraw.LineStyle{Width: vg.Length(max(0.25, 1.2*min(1, math.Sqrt(100/float64(max(1, len(channels)))))))}
	for _, ch := range channels {
		line.Color = grey(uint8(0xe0 - 0x70*ch.Shade))
		c.StrokeLine2(line, on[ch.U].X, on[ch.U].Y, on[ch.V].X, on[ch.V].Y)
		switch {
		case g.ArcIndex(ch.U, ch.V) < 0:
			arrow(c, line, on[ch.V], on[ch.U])
		case g.ArcIndex(ch.V, ch.U) < 0:
			arrow(c, line, on[ch.U], on[ch.V])
		}
	}
	label := style(plainSize, grey(0x20))
	label.YAlign = vgdraw.YBottom
	below := label
	below.XAlign, below.YAlign = vgdraw.XCenter, vgdraw.YTop
	for v, x := range on {
		dot := vgdraw.GlyphStyle{Color: ink(0), Radius: vg.Length(max(0.8, 4*few)), Shape: vgdraw.CircleGlyph{}}
		if g.IsSwitch(v) {
			dot.Color, dot.Radius, dot.Shape = ink(1), vg.Length(max(1.2, 4.5*few)), vgdraw.BoxGlyph{}
		}
		c.DrawGlyph(dot, x)
		switch {
		case len(on) > 64:
		case flat && !g.IsSwitch(v): // hosts stand side by side
			c.FillText(below, vg.Point{X: x.X, Y: x.Y - 5}, shorten(g.Name(v)))
		default:
			c.FillText(label, vg.Point{X: x.X + 4, Y: x.Y + 2}, shorten(g.Name(v)))
		}
	}
}

// arrow draws a head in the middle of the line from a to b.
func arrow(c vgdraw.Canvas, line vgdraw.LineStyle, a, b vg.Point) {
	d := b.Sub(a)
	r := vg.Length(math.Hypot(float64(d.X), float64(d.Y)))
	if r < 6 {
		return
	}
	d = d.Scale(5 / r)
	tip := a.Add(b).Scale(0.5).Add(d.Scale(0.5))
	back := tip.Sub(d)
	side := vg.Point{X: -d.Y * 0.5, Y: d.X * 0.5}
	c.FillPolygon(line.Color, []vg.Point{tip, back.Add(side), back.Sub(side)})
}
