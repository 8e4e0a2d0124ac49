package draw

import (
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/spatial/r3"
	"gonum.org/v1/plot/text"
	"gonum.org/v1/plot/vg"
	vgdraw "gonum.org/v1/plot/vg/draw"

	"github.com/topocast/topocast/internal/words"
	"github.com/topocast/topocast/topology"
)

// Wiring draws the graph where Layout has its vertices, seen from the side and a little from
// above: hosts as dots, switches as squares, channels as lines that are the darker the surer they
// are, those of one direction as arrows. Graphs of few vertices have their names, as far as there is room.
func Wiring(title string, g *topology.Graph) (*Figure, error) {
	if g.Vertices() == 0 {
		return nil, fmt.Errorf("draw: wiring: the graph has no vertex")
	}
	at := Layout(g)
	flat := isFlat(at)
	if !flat {
		for v := range at {
			at[v] = r3.Rotate(r3.Rotate(at[v], math.Pi/6, r3.Vec{Z: 1}), 25*math.Pi/180, r3.Vec{X: 1})
		}
	}
	const longest = 560
	box := extent(at)
	size := box.Size()
	scale := min(longest/max(size.X, size.Z, 1e-9), 120)
	width, height := vg.Length(max(200, size.X*scale+60)), vg.Length(max(80, size.Z*scale+40))
	notes := []string{fmt.Sprintf("%s (dots), %s (squares).", words.Count(g.Hosts(), "host"), words.Count(g.Vertices()-g.Hosts(), "switch"))}
	on := make([]vg.Point, len(at))
	for v, x := range at {
		x = r3.Scale(scale, r3.Sub(x, box.Center()))
		on[v] = vg.Point{X: width/2 + vg.Length(x.X), Y: height/2 + vg.Length(x.Z)}
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
