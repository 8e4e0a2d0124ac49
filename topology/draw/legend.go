package draw

import (
	"image/color"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/vg"
	vgdraw "gonum.org/v1/plot/vg/draw"
)

// A key is an entry of a legend: a name, and on its left a sample of the line or area that it stands for.
type key struct {
	name string
	line vgdraw.LineStyle
	mark *vgdraw.GlyphStyle // of a line; nil: none
	area color.Color        // nil: the key is that of a line
}

// legendWidth is the room on the right of a plot for its legend.
const legendWidth = vg.Length(150)

// drawBeside draws a plot and on its right the keys of what is in it.
func drawBeside(c vgdraw.Canvas, p *plot.Plot, keys []key) {
	p.Draw(vgdraw.Crop(c, 0, -legendWidth, 0, 0))
	drawKeys(c, c.Max.Y-8, keys)
}

// drawKeys draws keys at the right edge, the first at the height y.
func drawKeys(c vgdraw.Canvas, y vg.Length, keys []key) {
	left := c.Max.X - legendWidth + 12
	label := style(plainSize, grey(0x20))
	label.YAlign = vgdraw.YCenter
	for _, k := range keys {
		if k.area != nil {
			c.FillPolygon(k.area, []vg.Point{{X: left + 10, Y: y - 4}, {X: left + 22, Y: y - 4}, {X: left + 22, Y: y + 4}, {X: left + 10, Y: y + 4}})
		} else {
			c.StrokeLine2(k.line, left, y, left+22, y)
		}
		if k.mark != nil {
			c.DrawGlyph(*k.mark, vg.Point{X: left + 11, Y: y})
		}
		c.FillText(label, vg.Point{X: left + 27, Y: y}, k.name)
		y -= 14
	}
}
