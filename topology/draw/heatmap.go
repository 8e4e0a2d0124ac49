package draw

import (
	"fmt"
	"image"
	"image/color"
	"math"
	"slices"

	"gonum.org/v1/gonum/mat"
	"gonum.org/v1/plot"
	"gonum.org/v1/plot/vg"
	vgdraw "gonum.org/v1/plot/vg/draw"

	"github.com/topocast/topocast/internal/quantity"
	"github.com/topocast/topocast/internal/stats"
	"github.com/topocast/topocast/internal/words"
	"github.com/topocast/topocast/topology"
)

// HeatMapSettings say how a matrix is drawn. The zero value works.
type HeatMapSettings struct {
	Names []string // of rows; nil: their numbers
	// Hierarchy puts the rows in the order of its groups, and frames those that are large enough to
	// be seen; nil: as the matrix has them.
	Hierarchy *topology.Hierarchy
	// Percentile is the share of the readings that the colours span, in (0, 1]: a few that are far off
	// would leave one colour for all others. 0: 0.99.
	Percentile float64
}

const (
	usualPercentile = 0.99
	mapSide         = 430  // points
	mapDots         = 1024 // cells along a side, above which several pairs share one
	fewNames        = 32   // rows up to which each has its name
)

// HeatMap draws latencies in s, row i, column j that from i to j, in colours that become lighter as latencies
// rise, on a logarithmic scale where they differ by more than four times. The diagonal is not read; what is NaN is white. The
// notes say what was cut and in what order the rows are. O(n^2 log n).
func HeatMap(title string, latencies mat.Matrix, s *HeatMapSettings) (*Figure, error) {
	if s == nil {
		s = &HeatMapSettings{}
	}
	n, columns := latencies.Dims()
	percentile := s.Percentile
	if percentile == 0 {
		percentile = usualPercentile
	}
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
	order := make([]int, n)
	for i := range order {
		order[i] = i
	}
	if s.Hierarchy != nil {
		order = groupOrder(s.Hierarchy)
	}
	d := make([]float64, n*n) // in order
	var known []float64
	for i, a := range order {
		for j, b := range order {
			v := latencies.At(a, b)
			if i == j || !finite(v) || v < 0 {
				v = math.NaN()
			} else {
				known = append(known, v)
			}
			d[i*n+j] = v
		}
	}
	if len(known) == 0 {
		return nil, fmt.Errorf("draw: heat map: the matrix has no reading")
	}
	slices.Sort(known)
	scale := newColours(known, percentile)
	notes := scale.notes(known, percentile)
	if missing := n*(n-1) - len(known); missing > 0 {
		notes = append(notes, fmt.Sprintf("Not measured, and white: %s of %d.", words.Count(missing, "pair"), n*(n-1)))
	}
	if s.Hierarchy != nil {
		notes = append(notes, "The order is that of the groups that were found, which are framed.")
	} else {
		notes = append(notes, "The order is that of the matrix.")
	}
	cells, block := blocks(d, n)
	if block > 1 {
		notes = append(notes, fmt.Sprintf("Each dot is the median of %d x %d pairs.", block, block))
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
	p.X.Tick.Marker, p.Y.Tick.Marker = nameTicks(order, s.Names), nameTicks(order, s.Names)
	if s.Names != nil && n <= fewNames {
		p.X.Tick.Label.Rotation = math.Pi / 2
		p.X.Tick.Label.XAlign, p.X.Tick.Label.YAlign = vgdraw.XRight, vgdraw.YCenter
	}
	picture := scale.picture(cells, (n+block-1)/block)
	p.Add(shape(func(c vgdraw.Canvas, x, y func(float64) vg.Length) {
		c.DrawImage(vg.Rectangle{Min: vg.Point{X: x(0), Y: y(float64(n))}, Max: vg.Point{X: x(float64(n)), Y: y(0)}}, picture)
	}))
	if s.Hierarchy != nil {
		p.Add(frames(s.Hierarchy, order))
	}
	const bar = 115
	return &Figure{title: title, notes: notes, width: mapSide + 50 + bar, height: mapSide + 40, draw: func(c vgdraw.Canvas) {
		p.Draw(vgdraw.Crop(c, 0, -bar, 0, 0))
		scale.bar(vgdraw.Crop(c, c.Max.X-c.Min.X-bar+15, 0, 60, -60))
	}}, nil
}

// groupOrder is the hosts as a walk through the groups meets them, groups and the hosts in none of them by their lowest host.
func groupOrder(h *topology.Hierarchy) []int {
	var order []int
	var walk func(group int)
	walk = func(group int) {
		g := h.Groups()[group]
		children := childrenByFirst(h, &g)
		for _, x := range g.Hosts {
			if child, is := children[x]; is {
				walk(child)
			} else if h.Smallest(x) == group {
				order = append(order, x)
			}
		}
	}
	walk(0)
	return order
}

// childrenByFirst are the children of a group by their first hosts. Children of several levels are not in the order of
// their hosts.
func childrenByFirst(h *topology.Hierarchy, g *topology.Group) map[int]int {
	children := make(map[int]int, len(g.Children))
	for _, child := range g.Children {
		children[h.Groups()[child].Hosts[0]] = child
	}
	return children
}

// nameTicks name rows at the middle of their cells: all, or some.
func nameTicks(order []int, names []string) plot.ConstantTicks {
	n := len(order)
	every := 1
	for n/every > fewNames {
		every *= 2
	}
	var ticks plot.ConstantTicks
	for k := 0; k < n; k += every {
		label := fmt.Sprint(order[k])
		if names != nil && names[order[k]] != "" {
			label = shorten(names[order[k]])
		}
		if n > fewNames && k/every%4 != 0 {
			label = ""
		}
		ticks = append(ticks, plot.Tick{Value: float64(k) + 0.5, Label: label})
	}
	return ticks
}

// frames draws the groups of the hierarchy around the diagonal, but for those too small to be seen.
func frames(h *topology.Hierarchy, order []int) shape {
	place := make([]int, len(order))
	for k, x := range order {
		place[x] = k
	}
	return func(c vgdraw.Canvas, x, y func(float64) vg.Length) {
		for _, g := range h.Groups()[1:] {
			low := place[g.Hosts[0]]
			for _, host := range g.Hosts {
				low = min(low, place[host])
			}
			from, to := float64(low), float64(low+len(g.Hosts))
			if x(to)-x(from) < 6 {
				continue
			}
			line := vgdraw.LineStyle{Color: color.White, Width: 1}
			if !g.Firm() {
				line.Dashes = []vg.Length{3, 2}
			}
			c.StrokeLines(line, []vg.Point{
				{X: x(from), Y: y(from)}, {X: x(to), Y: y(from)}, {X: x(to), Y: y(to)}, {X: x(from), Y: y(to)}, {X: x(from), Y: y(from)},
			})
		}
	}
}

// blocks are the medians of blocks of pairs, so that no more than mapDots are along a side.
func blocks(d []float64, n int) (cells []float64, block int) {
	block = (n + mapDots - 1) / mapDots
	if block == 1 {
		return d, 1
	}
	side := (n + block - 1) / block
	cells = make([]float64, side*side)
	for i := range side {
		for j := range side {
			var in []float64
			for a := i * block; a < min(n, (i+1)*block); a++ {
				in = append(in, d[a*n+j*block:a*n+min(n, (j+1)*block)]...)
			}
			cells[i*side+j] = stats.Median(stats.SortedFinite(in))
		}
	}
	return cells, block
}

// colours are a scale from dark to light.
type colours struct {
	low, high float64 // s
	log       bool
	palette   color.Palette
}

// shades are so many colours of a scale; the palette's others are those of pairs that are none and were not measured.
const shades = 250

// newColours spans the given share of the readings, which are ascending.
func newColours(known []float64, percentile float64) *colours {
	s := &colours{low: known[0], high: known[min(len(known)-1, int(percentile*float64(len(known))))]}
	s.log = s.low > 0 && s.high/s.low > 4
	for k := range shades {
		s.palette = append(s.palette, viridis(float64(k)/(shades-1)))
	}
	s.palette = append(s.palette, color.White, color.Gray{Y: 0xd0})
	return s
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

func (s *colours) notes(known []float64, percentile float64) []string {
	top := known[len(known)-1]
	note := fmt.Sprintf("Colours span %s to %s", quantity.Seconds(s.low), quantity.Seconds(s.high))
	if s.log {
		note += ", logarithmic"
	}
	if top > s.high {
		return []string{note + fmt.Sprintf("; cut at the percentile %g.", 100*percentile), fmt.Sprintf("Measurements above have the lightest colour; the highest is %s.", quantity.Seconds(top))}
	}
	return []string{note + "; nothing is cut."}
}

// at is the colour of a latency, as index into the palette.
func (s *colours) at(v float64) uint8 {
	if math.IsNaN(v) {
		return shades
	}
	x := 0.5
	switch {
	case s.high <= s.low:
	case s.log:
		x = math.Log(v/s.low) / math.Log(s.high/s.low)
	default:
		x = (v - s.low) / (s.high - s.low)
	}
	return uint8(max(0, min(1, x)) * (shades - 1))
}

// picture is the matrix, each cell as many dots as make the whole sharp.
func (s *colours) picture(cells []float64, n int) image.Image {
	each := max(1, mapDots/n)
	img := image.NewPaletted(image.Rect(0, 0, n*each, n*each), s.palette)
	for i := range n {
		row := img.Pix[i*each*img.Stride:][:n*each]
		for j := range n {
			c := s.at(cells[i*n+j])
			if i == j && math.IsNaN(cells[i*n+j]) {
				c = shades + 1
			}
			for k := range each {
				row[j*each+k] = c
			}
		}
		for k := 1; k < each; k++ {
			copy(img.Pix[(i*each+k)*img.Stride:], row)
		}
	}
	return img
}

// bar draws the scale.
func (s *colours) bar(c vgdraw.Canvas) {
	p := newPlot("", "latency")
	p.HideX()
	p.X.Min, p.X.Max = 0, 1
	p.Y.Min, p.Y.Max = s.low, s.high
	p.Y.Padding = 0
	switch {
	case s.high <= s.low:
		p.Y.Max = s.low + 1
		p.Y.Tick.Marker = plot.ConstantTicks{{Value: s.low + 0.5, Label: quantity.Seconds(s.low)}}
	case s.log:
		p.Y.Scale = plot.LogScale{}
		p.Y.Tick.Marker = logTicks{quantity.Seconds}
	default:
		var ticks plot.ConstantTicks
		for _, t := range (plot.DefaultTicks{}).Ticks(s.low, s.high) {
			if t.Label != "" {
				t.Label = quantity.Seconds(t.Value)
			}
			ticks = append(ticks, t)
		}
		p.Y.Tick.Marker = ticks
	}
	const broad = 16 // pixels: viewers keep the shape of a picture
	img := image.NewPaletted(image.Rect(0, 0, broad, shades), s.palette)
	for i := range img.Pix {
		img.Pix[i] = uint8(shades - 1 - i/broad)
		if s.high <= s.low {
			img.Pix[i] = s.at(s.low)
		}
	}
	p.Add(shape(func(c vgdraw.Canvas, _, _ func(float64) vg.Length) { c.DrawImage(c.Rectangle, img) }))
	p.Draw(c)
}
