package draw

import (
	"cmp"
	"fmt"
	"image"
	"image/color"
	"math"

	"gonum.org/v1/gonum/mat"
	"gonum.org/v1/plot"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/vg"
	vgdraw "gonum.org/v1/plot/vg/draw"

	"github.com/topocast/topocast/internal/quantity"
	"github.com/topocast/topocast/topology"
)

// HeatMapSettings say how a matrix is drawn. The zero value works.
type HeatMapSettings struct {
	Names []string // of rows; nil: their numbers
	// Hierarchy puts the rows in the order of its groups, and frames those that are large enough to
	// be seen; nil: as the matrix has them.
	Hierarchy *topology.Hierarchy
	// Percentile is the share of the measurements that the colours span, in (0, 1]: a few that are far off
	// would leave one colour for all others. 0: 0.99.
	Percentile float64
}

const (
	mapSide  = 430  // points
	mapDots  = 1024 // along a side of the picture
	fewNames = 32   // rows up to which each has its name
)

// HeatMap draws latencies in s, row i, column j that from i to j, in colours that become lighter as latencies
// rise, on a logarithmic scale. The diagonal is not read; what is NaN is white. The
// notes say what was cut and in what order the rows are. O(n^2).
func HeatMap(title string, latencies mat.Matrix, s *HeatMapSettings) (*Figure, error) {
	if s == nil {
		s = &HeatMapSettings{}
	}
	n, columns := latencies.Dims()
	percentile := cmp.Or(s.Percentile, usualPercentile)
	switch {
	case n != columns || n < 2:
		return nil, fmt.Errorf("draw: heat map: the matrix is %d x %d: want it square, of two rows and more", n, columns)
	case s.Names != nil && len(s.Names) != n:
		return nil, fmt.Errorf("draw: heat map: %d names of %d rows", len(s.Names), n)
	case s.Hierarchy != nil && s.Hierarchy.Hosts() != n:
		return nil, fmt.Errorf("draw: heat map: a hierarchy of %d hosts for %d rows", s.Hierarchy.Hosts(), n)
	case !(percentile > 0 && percentile <= 1):
		return nil, fmt.Errorf("draw: heat map: Percentile %g: want in (0, 1]", percentile)
	}
	t, err := newHeat(latencies, s.Hierarchy, percentile)
	if err != nil {
		return nil, fmt.Errorf("draw: heat map: %w", err)
	}
	what := " rank"
	if s.Names != nil {
		what = ""
	}
	if s.Hierarchy != nil {
		what += ", by group"
	}
	p := newPlot("to"+what, "from"+what)
	p.X.Min, p.X.Max, p.Y.Min, p.Y.Max = 0, float64(n), 0, float64(n)
	p.X.Padding, p.Y.Padding = 0, 0
	p.Y.Scale = plot.InvertedScale{Normalizer: plot.LinearScale{}}
	every := 1
	if n > fewNames {
		every = (n + 7) / 8
	}
	ticks := nameTicks(t.order, s.Names, every, 0.5)
	p.X.Tick.Marker, p.Y.Tick.Marker = ticks, ticks
	if s.Names != nil && n <= fewNames {
		p.X.Tick.Label.Rotation = math.Pi / 2
		p.X.Tick.Label.XAlign, p.X.Tick.Label.YAlign = vgdraw.XRight, vgdraw.YCenter
	}
	picture := t.picture()
	p.Add(shape(func(c vgdraw.Canvas, _, _ func(float64) vg.Length) { c.DrawImage(c.Rectangle, picture) }))
	if s.Hierarchy != nil {
		t.addFrames(p, s.Hierarchy)
		t.notes = append(t.notes, "Frames are groups.")
	}
	const bar = 115
	return &Figure{title: title, notes: t.notes, width: mapSide + 50 + bar, height: mapSide + 40, draw: func(c vgdraw.Canvas) {
		p.Draw(vgdraw.Crop(c, 0, -bar, 0, 0))
		t.bar(vgdraw.Crop(c, c.Max.X-c.Min.X-bar+15, 0, 60, -60))
	}}, nil
}

// nameTicks name every so many of the rows, which are 1 apart, by their names or their numbers. first is where the first row is.
func nameTicks(order []int, names []string, every int, first float64) plot.ConstantTicks {
	var ticks plot.ConstantTicks
	names = shortNames(names)
	for k := 0; k < len(order); k += every {
		label := fmt.Sprint(order[k])
		if names != nil && names[order[k]] != "" {
			label = names[order[k]]
		}
		ticks = append(ticks, plot.Tick{Value: first + float64(k), Label: label})
	}
	return ticks
}

// addFrames frames the groups of the hierarchy around the diagonal, but for those too small to be seen.
func (t *heat) addFrames(p *plot.Plot, h *topology.Hierarchy) {
	for i, g := range h.Groups() {
		if i == 0 || mapSide*len(g.Hosts) < 6*len(t.order) {
			continue
		}
		from, to := float64(t.first[i]), float64(t.first[i]+len(g.Hosts))
		frame := &plotter.Line{LineStyle: vgdraw.LineStyle{Color: color.White, Width: 1}}
		frame.XYs = plotter.XYs{{X: from, Y: from}, {X: to, Y: from}, {X: to, Y: to}, {X: from, Y: to}, {X: from, Y: from}}
		if !g.Confident() {
			frame.Dashes = []vg.Length{3, 2}
		}
		p.Add(frame)
	}
}

// The palette has so many shades, and a colour each of pairs that were not measured and of hosts with themselves.
const (
	shades        = 250
	notMeasured   = shades
	diagonalShade = shades + 1
)

// palette are the colours from dark to light.
func palette() color.Palette {
	var p color.Palette
	for k := range shades {
		p = append(p, viridis(float64(k)/(shades-1)))
	}
	return append(p, color.White, color.Gray{Y: 0xd0})
}

// viridis is the colour map of that name (van der Walt and Smith 2015), as the report page has it: linear between six of its
// colours. share is in [0, 1].
func viridis(share float64) color.Color {
	stops := []color.RGBA{{0x44, 0x01, 0x54, 0xff}, {0x41, 0x44, 0x87, 0xff}, {0x2a, 0x78, 0x8e, 0xff}, {0x22, 0xa8, 0x84, 0xff}, {0x7a, 0xd1, 0x51, 0xff}, {0xfd, 0xe7, 0x25, 0xff}}
	at := share * float64(len(stops)-1)
	i := min(int(at), len(stops)-2)
	mix := func(a, b uint8) uint16 { return uint16(257 * (float64(a) + (float64(b)-float64(a))*(at-float64(i)))) }
	a, b := stops[i], stops[i+1]
	return color.RGBA64{mix(a.R, b.R), mix(a.G, b.G), mix(a.B, b.B), 0xffff}
}

// shade is the colour of a latency, as index into the palette.
func (t *heat) shade(v float64) uint8 {
	if math.IsNaN(v) {
		return notMeasured
	}
	return uint8(t.step(v, t.cut, shades-1))
}

// picture is the matrix, each cell as many dots as make the whole sharp.
func (t *heat) picture() image.Image {
	each := max(1, mapDots/t.side)
	img := image.NewPaletted(image.Rect(0, 0, t.side*each, t.side*each), palette())
	for y := range t.side * each {
		for x := range t.side * each {
			i, j := y/each, x/each
			shade := t.shade(t.cells[i*t.side+j])
			if i == j && shade == notMeasured {
				shade = diagonalShade
			}
			img.SetColorIndex(x, y, shade)
		}
	}
	return img
}

// bar draws the scale.
func (t *heat) bar(c vgdraw.Canvas) {
	p := newPlot("", "latency")
	p.HideX()
	p.X.Min, p.X.Max = 0, 1
	p.Y.Min, p.Y.Max = t.low, max(t.cut, 1.01*t.low)
	p.Y.Padding = 0
	p.Y.Scale = plot.LogScale{}
	p.Y.Tick.Marker = logTicks{10, quantity.Seconds}
	const broad = 16 // pixels: viewers keep the shape of a picture
	img := image.NewPaletted(image.Rect(0, 0, broad, shades), palette())
	for i := range img.Pix {
		img.Pix[i] = uint8(shades - 1 - i/broad)
	}
	p.Add(shape(func(c vgdraw.Canvas, _, _ func(float64) vg.Length) { c.DrawImage(c.Rectangle, img) }))
	p.Draw(c)
}
