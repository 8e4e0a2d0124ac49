package draw

import (
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/plot/text"
	"gonum.org/v1/plot/vg"
	vgdraw "gonum.org/v1/plot/vg/draw"

	"github.com/topocast/topocast/internal/words"
	"github.com/topocast/topocast/topology"
)

// Wiring draws the graph at the given positions, one per vertex as Layout returns them, seen from the side and a little from
// above: hosts as dots, switches as squares, channels as lines that are the darker the surer they
// are, those of one direction as arrows. Graphs of few vertices have their names, as far as there is room.
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
	corner := vg.Point{X: (width - size.X*scale) / 2, Y: (height - size.Y*scale) / 2}
	on := make([]vg.Point, len(seen))
	for v := range seen {
		on[v] = corner.Add(seen[v].Sub(low).Scale(scale))
	}
	names := placeNames(g, on, flat)
	if left := g.Vertices() - len(names); left > 0 {
		notes = append(notes, fmt.Sprintf("Left out, as there is no room: %s.", words.Count(left, "name")))
	}
	return &Figure{title: title, notes: notes, width: width, height: height, draw: func(c vgdraw.Canvas) {
		moved := make([]vg.Point, len(on))
		for v := range on {
			moved[v] = on[v].Add(c.Min)
		}
		drawWiring(c, g, moved)
		for _, n := range names {
			c.FillText(n.style, n.at.Add(c.Min), n.text)
		}
	}}, nil
}

// A placedName is a name beside its vertex.
type placedName struct {
	text  string
	style text.Style
	at    vg.Point
}

// placeNames places the names of a graph of few vertices, those of switches first, where they lie on no other.
func placeNames(g *topology.Graph, on []vg.Point, flat bool) []placedName {
	const few = 64
	if len(on) > few {
		return nil
	}
	label := style(plainSize, grey(0x20))
	label.YAlign = vgdraw.YBottom
	below := label
	below.XAlign, below.YAlign = vgdraw.XCenter, vgdraw.YTop
	short := shortNames(g.Names())
	var names []placedName
	var taken []vg.Rectangle
	for v := len(on) - 1; v >= 0; v-- {
		n := placedName{short[v], label, on[v].Add(vg.Point{X: 4, Y: 2})}
		if flat && !g.IsSwitch(v) { // hosts stand side by side
			n.style, n.at = below, on[v].Add(vg.Point{Y: -5})
		}
		box := n.style.Rectangle(n.text).Add(n.at)
		box.Max.X += 3 // between two names
		lies := func(other vg.Rectangle) bool {
			return box.Min.X < other.Max.X && other.Min.X < box.Max.X && box.Min.Y < other.Max.Y && other.Min.Y < box.Max.Y
		}
		if !slices.ContainsFunc(taken, lies) {
			names, taken = append(names, n), append(taken, box)
		}
	}
	return names
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
func drawWiring(c vgdraw.Canvas, g *topology.Graph, on []vg.Point) {
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
	for v, x := range on {
		dot := vgdraw.GlyphStyle{Color: ink(0), Radius: vg.Length(max(0.8, 4*few)), Shape: vgdraw.CircleGlyph{}}
		if g.IsSwitch(v) {
			dot.Color, dot.Radius, dot.Shape = ink(1), vg.Length(max(1.2, 4.5*few)), vgdraw.BoxGlyph{}
		}
		c.DrawGlyph(dot, x)
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
