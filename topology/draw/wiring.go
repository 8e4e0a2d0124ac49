package draw

import (
	"cmp"
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
		return nil, fmt.Errorf("draw: wiring: %d positions of %s", len(at), countOf(g.Vertices(), "vertex", "vertices"))
	}
	if len(at) == 0 {
		return nil, fmt.Errorf("draw: wiring: the graph has no vertex")
	}
	seen := make([]view, len(at))
	low, high := vg.Point{X: vg.Inch * 1e9, Y: vg.Inch * 1e9}, vg.Point{X: -vg.Inch * 1e9, Y: -vg.Inch * 1e9}
	flat := !slices.ContainsFunc(at, func(x [3]float64) bool { return x[1] != 0 })
	for v, x := range at {
		seen[v] = project(x, flat)
		low.X, low.Y = min(low.X, seen[v].X), min(low.Y, seen[v].Y)
		high.X, high.Y = max(high.X, seen[v].X), max(high.Y, seen[v].Y)
	}
	const longest = 560
	size := high.Sub(low)
	scale := min(longest/max(size.X, size.Y, 1e-9), 120)
	width, height := max(200, size.X*scale+60), max(80, size.Y*scale+40)
	notes := []string{fmt.Sprintf("%s (dots), %s (squares).", words.Count(g.Hosts(), "host"), countOf(g.Vertices()-g.Hosts(), "switch", "switches"))}
	return &Figure{title: title, notes: notes, width: width, height: height, draw: func(c vgdraw.Canvas) {
		for v := range seen {
			seen[v].on = vg.Point{X: c.Min.X + (width-size.X*scale)/2 + (seen[v].X-low.X)*scale, Y: c.Min.Y + (height-size.Y*scale)/2 + (seen[v].Y-low.Y)*scale}
		}
		drawWiring(c, g, seen, flat)
	}}, nil
}

// A view is a position as it is seen.
type view struct {
	vg.Point
	depth float64 // away from who looks
	on    vg.Point
}

// project turns a position by 30 degrees about the upright axis, and looks at it from 25 degrees above. It looks at
// what is flat from the front.
func project(at [3]float64, flat bool) view {
	if flat {
		return view{Point: vg.Point{X: vg.Length(at[0]), Y: vg.Length(at[2])}}
	}
	sin, cos := math.Sincos(math.Pi / 6)
	x, y := cos*at[0]-sin*at[1], sin*at[0]+cos*at[1]
	up, level := math.Sincos(25 * math.Pi / 180)
	return view{Point: vg.Point{X: vg.Length(x), Y: vg.Length(level*at[2] + up*y)}, depth: level*y - up*at[2]}
}

func drawWiring(c vgdraw.Canvas, g *topology.Graph, seen []view, flat bool) {
	// The more there is, the finer it is drawn.
	few := min(1, math.Sqrt(60/float64(len(seen))))
	arcs := g.Channels()
	line := vgdraw.LineStyle{Width: vg.Length(max(0.25, 1.2*min(1, math.Sqrt(100/float64(max(1, len(arcs)))))))}
	slices.SortStableFunc(arcs, func(a, b topology.Channel) int {
		return cmp.Compare(seen[b.U].depth+seen[b.V].depth, seen[a.U].depth+seen[a.V].depth)
	})
	for _, ch := range arcs {
		line.Color = grey(uint8(0xe0 - 0x70*ch.Shade))
		c.StrokeLine2(line, seen[ch.U].on.X, seen[ch.U].on.Y, seen[ch.V].on.X, seen[ch.V].on.Y)
		switch {
		case g.ArcIndex(ch.U, ch.V) < 0:
			arrow(c, line, seen[ch.V].on, seen[ch.U].on)
		case g.ArcIndex(ch.V, ch.U) < 0:
			arrow(c, line, seen[ch.U].on, seen[ch.V].on)
		}
	}
	order := make([]int, len(seen))
	for v := range order {
		order[v] = v
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(seen[b].depth, seen[a].depth) })
	for _, v := range order {
		dot := vgdraw.GlyphStyle{Color: ink(0), Radius: vg.Length(max(0.8, 4*few)), Shape: vgdraw.CircleGlyph{}}
		if g.IsSwitch(v) {
			dot.Color, dot.Radius, dot.Shape = ink(1), vg.Length(max(1.2, 4.5*few)), vgdraw.BoxGlyph{}
		}
		c.DrawGlyph(dot, seen[v].on)
	}
	if len(seen) > 64 {
		return
	}
	label := style(plainSize, grey(0x20))
	label.YAlign = vgdraw.YBottom
	below := label
	below.XAlign, below.YAlign = vgdraw.XCenter, vgdraw.YTop
	for v := range seen {
		if flat && !g.IsSwitch(v) { // hosts stand side by side
			c.FillText(below, vg.Point{X: seen[v].on.X, Y: seen[v].on.Y - 5}, shorten(g.Name(v)))
		} else {
			c.FillText(label, vg.Point{X: seen[v].on.X + 4, Y: seen[v].on.Y + 2}, shorten(g.Name(v)))
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
