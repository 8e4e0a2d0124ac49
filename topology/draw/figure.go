package draw

import (
	"bytes"
	"fmt"
	"image/color"
	"io"
	"math"
	"net/netip"
	"slices"
	"strings"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/font"
	"gonum.org/v1/plot/text"
	"gonum.org/v1/plot/vg"
	vgdraw "gonum.org/v1/plot/vg/draw"
	"gonum.org/v1/plot/vg/vgimg"
	"gonum.org/v1/plot/vg/vgsvg"
)

// A Figure is a finished picture with a title, and notes below it that say what one has to
// know to read it.
type Figure struct {
	title         string
	notes         []string
	width, height vg.Length // of what is below the notes
	draw          func(vgdraw.Canvas)
}

// dotsPerInch of a PNG: two dots for each of a page's.
const dotsPerInch = 192

// SVG writes the picture as SVG. Its texts are in Liberation Sans, or where that is not installed in
// a font of the same widths.
func (f *Figure) SVG(w io.Writer) error {
	var b bytes.Buffer
	if err := f.write(&b, vgsvg.New(f.size())); err != nil {
		return err
	}
	svg := strings.NewReplacer(
		"font-family:Liberation Sans;", "font-family:Liberation Sans,Arial,Helvetica,sans-serif;",
		"data:image/jpg;", "data:image/png;", // what they are
	)
	if _, err := svg.WriteString(w, b.String()); err != nil {
		return fmt.Errorf("draw: write SVG: %w", err)
	}
	return nil
}

// PNG writes the picture as PNG.
func (f *Figure) PNG(w io.Writer) error {
	return f.write(w, vgimg.PngCanvas{Canvas: vgimg.NewWith(vgimg.UseWH(f.size()), vgimg.UseDPI(dotsPerInch))})
}

func (f *Figure) write(w io.Writer, c vg.CanvasWriterTo) error {
	f.drawOn(vgdraw.New(c))
	if _, err := c.WriteTo(w); err != nil {
		return fmt.Errorf("draw: write picture: %w", err)
	}
	return nil
}

const (
	margin     = vg.Length(10)
	noteGap    = vg.Length(8) // between the notes and what is below
	titleLine  = vg.Length(20)
	noteLine   = vg.Length(12.5)
	plainSize  = 9
	noteSize   = 9
	titleSize  = 13
	labelSize  = 10
	maxNameLen = 16 // characters of a name beside a picture
)

func (f *Figure) size() (width, height vg.Length) {
	return f.width + 2*margin, f.height + 2*margin + titleLine + noteGap + noteLine*vg.Length(len(f.notes))
}

func (f *Figure) drawOn(c vgdraw.Canvas) {
	width, height := f.size()
	c.SetColor(color.White)
	c.Fill(vg.Rectangle{Max: vg.Point{X: width, Y: height}}.Path())
	y := height - margin
	title := style(titleSize, color.Black)
	c.FillText(title, vg.Point{X: margin, Y: y}, f.title)
	y -= titleLine
	for _, note := range f.notes {
		c.FillText(style(noteSize, grey(0x50)), vg.Point{X: margin, Y: y}, note)
		y -= noteLine
	}
	f.draw(vgdraw.Crop(c, margin, -margin, margin, y-noteGap-height))
}

// style is that of text of the given size, hung from its top left corner.
func style(size vg.Length, c color.Color) text.Style {
	return text.Style{
		Color:   c,
		Font:    font.Font{Typeface: "Liberation", Variant: "Sans", Size: size},
		XAlign:  text.XLeft,
		YAlign:  text.YTop,
		Handler: plot.DefaultTextHandler,
	}
}

func grey(level uint8) color.Color { return color.Gray{Y: level} }

// newPlot is a plot in the style of all figures.
func newPlot(x, y string) *plot.Plot {
	p := plot.New()
	for _, axis := range []*plot.Axis{&p.X, &p.Y} {
		axis.Label.TextStyle.Font = style(labelSize, nil).Font
		axis.Tick.Label.Font = style(plainSize, nil).Font
		axis.LineStyle.Color, axis.Tick.LineStyle.Color = grey(0x80), grey(0x80)
		axis.Padding = 4
		axis.Tick.Marker = evenTicks{plainNumber}
	}
	p.X.Label.Text, p.Y.Label.Text = x, y
	p.BackgroundColor = nil
	return p
}

// legendWidth is the least room on the right of a plot for its legend.
const legendWidth = vg.Length(150)

// newLegend is a legend that names what is below it from the top left corner on.
func newLegend() *plot.Legend {
	l := plot.NewLegend()
	l.Top, l.Left = true, true
	l.TextStyle = style(plainSize, grey(0x20))
	l.TextStyle.YAlign = text.YBottom
	l.ThumbnailWidth = 22
	l.Padding = 5
	return &l
}

// drawBeside draws a plot and its legend in some room on the right.
func drawBeside(c vgdraw.Canvas, p *plot.Plot, legend *plot.Legend, room vg.Length) {
	p.Draw(vgdraw.Crop(c, 0, -room, 0, 0))
	legend.Draw(vgdraw.Crop(c, c.Max.X-c.Min.X-room+12, 0, 0, 0))
}

// inks are colours that people with any of the usual colour blindnesses can tell apart, after
// Okabe and Ito 2008 (Color Universal Design). The dark ones are first. Yellow is left out, which
// white paper swallows.
func inks() []color.RGBA {
	return []color.RGBA{
		{0x00, 0x72, 0xb2, 0xff}, // blue
		{0xd5, 0x5e, 0x00, 0xff}, // vermilion
		{0x00, 0x9e, 0x73, 0xff}, // bluish green
		{0xcc, 0x79, 0xa7, 0xff}, // reddish purple
		{0xe6, 0x9f, 0x00, 0xff}, // orange
		{0x56, 0xb4, 0xe9, 0xff}, // sky blue
		{0x00, 0x00, 0x00, 0xff},
	}
}

// ink is the colour of the k-th of several things.
func ink(k int) color.RGBA { return inks()[k%len(inks())] }

// faint is the colour through which the given share of it is seen.
func faint(c color.RGBA, share float64) color.NRGBA {
	return color.NRGBA{c.R, c.G, c.B, uint8(255 * share)}
}

// shorten cuts a name to what a picture has room for.
func shorten(name string) string { return shortNames([]string{name})[0] }

// shortNames leaves out the domain that names of hosts share, and cuts them in the middle to what a picture has room for: to more where two
// would become the same.
func shortNames(names []string) []string {
	different := distinct(names)
	if hosts := withoutDomain(names); distinct(hosts) == different {
		names = hosts
	}
	for most := maxNameLen; ; most += 2 {
		short := slices.Clone(names)
		for i, name := range names {
			short[i] = clip(name, most, most/2-1)
		}
		if distinct(short) == different {
			return short
		}
	}
}

// clip cuts text that is too long. So many of its last characters stay: names of hosts differ there.
func clip(text string, width, last int) string {
	runes := []rune(text)
	if len(runes) <= width {
		return text
	}
	return string(runes[:max(0, width-3-last)]) + "..." + string(runes[len(runes)-last:])
}

// withoutDomain are the names without their domain, if all that have one have the same.
func withoutDomain(names []string) []string {
	hosts, domains := slices.Clone(names), map[string]bool{}
	for i, name := range names {
		host, domain, has := strings.Cut(name, ".")
		if _, err := netip.ParseAddr(name); has && err != nil && len(names) > 1 {
			hosts[i], domains[domain] = host, true
		}
	}
	if len(domains) > 1 {
		return names
	}
	return hosts
}

// distinct counts the names that differ.
func distinct(names []string) int {
	return len(slices.Compact(slices.Sorted(slices.Values(names))))
}

func finite(x float64) bool { return !math.IsNaN(x) && !math.IsInf(x, 0) }
