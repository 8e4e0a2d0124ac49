package main

import (
	"bytes"
	"fmt"
	"image/color"
	"math"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
	"gonum.org/v1/plot/vg/vgsvg"

	"github.com/topocast/topocast/internal/quantity"
)

// A picture of the page.
type picture struct {
	name, title, caption string
	draw                 func(theme) ([]byte, error)
}

func (m *measured) pictures() []picture {
	return []picture{
		{
			"speedup", "Broadcast: speed-up over native MPI_Bcast",
			"Median speed-up over 180 cases of 8 to 12 emulated hosts in racks. Bands span three orders of the ranks: block, round-robin, shuffled. Network discovered and tuned in the job, every byte compared. At 8 MiB with shuffled ranks it is 6.9 (Open MPI) and 3.9 (MPICH).",
			m.drawSpeedUps,
		},
		{
			"applications", "Whole programs: computing and communication",
			"SUMMA (matrix product) and TRSM (triangular solve) of examples/summa on 8 emulated hosts in two racks, ranks round-robin. The darker part is communication. Left of each pair: native MPI_Bcast; right: topology-aware.",
			m.drawApplications,
		},
		{
			"reconstruction", "Time to reconstruct the wiring",
			"Processor time from a matrix of latencies to groups with confidence. Bars span the kinds of trees and tori.",
			m.drawReconstruction,
		},
		{
			"contention", "Predicted against measured: transfers that contend",
			"Mean error of the predicted time of 4 MB transfers in random patterns (Zhu et al. 2014) on 8 emulated hosts in two racks. For fair queues the fitted coupling alone was recorded.",
			m.drawErrors,
		},
	}
}

// A theme has the colours of a picture.
type theme struct {
	back, text, grid color.Color
	series           []color.RGBA
}

func themeOf(dark bool) theme {
	t := theme{
		back: color.White, text: color.Gray{0x22}, grid: color.Gray{0xdd},
		series: []color.RGBA{{0x1f, 0x6f, 0xb4, 0xff}, {0xd9, 0x5f, 0x02, 0xff}, {0x75, 0x70, 0xb3, 0xff}},
	}
	if dark {
		t.back, t.text, t.grid = color.RGBA{0x0d, 0x11, 0x17, 0xff}, color.Gray{0xdd}, color.Gray{0x3a}
		t.series = []color.RGBA{{0x58, 0xa6, 0xff, 0xff}, {0xff, 0xa6, 0x57, 0xff}, {0xbc, 0x8c, 0xff, 0xff}}
	}
	return t
}

// faint is a colour for areas.
func faint(c color.RGBA) color.Color {
	return color.NRGBA{c.R, c.G, c.B, 0x50}
}

// newPlot is an empty plot in the colours of a theme.
func newPlot(t theme, x, y string) *plot.Plot {
	p := plot.New()
	p.BackgroundColor = t.back
	p.X.Label.Text, p.Y.Label.Text = x, y
	for _, a := range []*plot.Axis{&p.X, &p.Y} {
		a.Color, a.Tick.Color, a.Label.TextStyle.Color, a.Tick.Label.Color = t.text, t.text, t.text, t.text
	}
	p.Legend.TextStyle.Color = t.text
	p.Legend.Padding = vg.Points(2)
	p.Legend.Top, p.Legend.Left = true, true
	grid := plotter.NewGrid()
	grid.Horizontal.Color, grid.Vertical.Width = t.grid, 0
	p.Add(grid)
	return p
}

// svg draws a plot.
func svg(p *plot.Plot) ([]byte, error) {
	const width, height = 520, 320 // points
	c := vgsvg.New(width, height)
	canvas := draw.New(c)
	canvas.SetColor(p.BackgroundColor)
	canvas.Fill(canvas.Rectangle.Path())
	p.Draw(draw.Crop(canvas, 8, -28, 8, -10))
	var b bytes.Buffer
	_, err := c.WriteTo(&b)
	return b.Bytes(), err
}

func (m *measured) drawSpeedUps(t theme) ([]byte, error) {
	p := newPlot(t, "message size", "speed-up over MPI_Bcast")
	p.X.Scale = plot.LogScale{}
	p.Y.Min, p.Y.Max = 0, 8
	var ticks plot.ConstantTicks
	for i, s := range m.SpeedUps {
		var line, band plotter.XYs
		for _, x := range s.Points {
			line, band = append(line, plotter.XY{X: x.Bytes, Y: x.Median}), append(band, plotter.XY{X: x.Bytes, Y: x.High})
			if i == 0 {
				ticks = append(ticks, plot.Tick{Value: x.Bytes, Label: quantity.Bytes(int(x.Bytes))})
			}
		}
		for k := len(s.Points) - 1; k >= 0; k-- {
			band = append(band, plotter.XY{X: s.Points[k].Bytes, Y: s.Points[k].Low})
		}
		area, err := plotter.NewPolygon(band)
		if err != nil {
			return nil, err
		}
		area.Color, area.LineStyle.Width = faint(t.series[i]), 0
		curve, marks, err := plotter.NewLinePoints(line)
		if err != nil {
			return nil, err
		}
		curve.Color, curve.Width = t.series[i], vg.Points(2)
		marks.Color, marks.Shape, marks.Radius = t.series[i], draw.CircleGlyph{}, vg.Points(3)
		p.Add(area, curve, marks)
		p.Legend.Add(s.Library, curve, marks)
	}
	native := plotter.NewFunction(func(float64) float64 { return 1 })
	native.Color, native.Width, native.Dashes = t.text, vg.Points(1), []vg.Length{vg.Points(4), vg.Points(3)}
	p.Add(native)
	p.Legend.Add("native MPI_Bcast", native)
	p.X.Tick.Marker = ticks
	p.Y.Tick.Marker = plot.ConstantTicks{{Value: 1, Label: "1"}, {Value: 2, Label: "2"}, {Value: 4, Label: "4"}, {Value: 6, Label: "6"}, {Value: 8, Label: "8"}}
	return svg(p)
}

func (m *measured) drawApplications(t theme) ([]byte, error) {
	p := newPlot(t, "", "time, ms")
	p.Y.Min, p.Y.Max = 0, 170
	var names []string
	at := map[string]int{}
	for _, a := range m.Applications {
		if _, known := at[a.Program]; !known {
			at[a.Program] = len(names)
			names = append(names, a.Program)
		}
	}
	for i, library := range []string{"Open MPI", "MPICH"} {
		for k, broadcast := range []string{"native", "topology-aware"} {
			communication, computing := make(plotter.Values, len(names)), make(plotter.Values, len(names))
			for _, a := range m.Applications {
				if a.Library == library && a.Broadcast == broadcast {
					communication[at[a.Program]], computing[at[a.Program]] = a.Communication, a.Total-a.Communication
				}
			}
			const width = 18
			offset := vg.Points(width * (float64(2*i+k) - 1.5) * 1.1)
			below, err := plotter.NewBarChart(communication, vg.Points(width))
			if err != nil {
				return nil, err
			}
			above, err := plotter.NewBarChart(computing, vg.Points(width))
			if err != nil {
				return nil, err
			}
			below.Color, above.Color = t.series[i], faint(t.series[i])
			below.Offset, above.Offset = offset, offset
			below.LineStyle.Width, above.LineStyle.Width = 0, 0
			above.StackOn(below)
			p.Add(below, above)
			if k == 0 {
				p.Legend.Add(library+", communication", below)
				p.Legend.Add(library+", computing", above)
			}
		}
	}
	p.NominalX(names...)
	return svg(p)
}

func (m *measured) drawReconstruction(t theme) ([]byte, error) {
	p := newPlot(t, "hosts", "processor time")
	p.X.Scale, p.Y.Scale = plot.LogScale{}, plot.LogScale{}
	p.X.Min, p.X.Max, p.Y.Min, p.Y.Max = 700, 6000, 0.03, 10
	p.X.Tick.Marker = plot.ConstantTicks{{Value: 1024, Label: "1,024"}, {Value: 4096, Label: "4,096"}}
	p.Y.Tick.Marker = plot.ConstantTicks{{Value: 0.1, Label: "0.1 s"}, {Value: 1, Label: "1 s"}, {Value: 10, Label: "10 s"}}
	for i, r := range m.Reconstruction {
		var line plotter.XYs
		var bars plotter.YErrors
		for _, x := range r.Points {
			middle := math.Sqrt(x.Low * x.High)
			hosts := x.Hosts * (1 + 0.05*float64(2*i-1)) // beside each other
			line, bars = append(line, plotter.XY{X: hosts, Y: middle}), append(bars, struct{ Low, High float64 }{middle - x.Low, x.High - middle})
		}
		curve, marks, err := plotter.NewLinePoints(line)
		if err != nil {
			return nil, err
		}
		spread, err := plotter.NewYErrorBars(struct {
			plotter.XYs
			plotter.YErrors
		}{line, bars})
		if err != nil {
			return nil, err
		}
		curve.Color, marks.Color, spread.Color = t.series[i], t.series[i], t.series[i]
		curve.Width, spread.Width, marks.Shape, marks.Radius = vg.Points(2), vg.Points(1.5), draw.CircleGlyph{}, vg.Points(3)
		p.Add(curve, marks, spread)
		p.Legend.Add(r.Kind, curve, marks)
	}
	return svg(p)
}

func (m *measured) drawErrors(t theme) ([]byte, error) {
	p := newPlot(t, "", "mean error, %")
	p.Y.Min, p.Y.Max = 0, 25
	names := make([]string, len(m.Errors))
	for k, way := range []struct {
		name string
		of   func(contention) float64
	}{
		{"fitted coupling", func(c contention) float64 { return c.Fitted }},
		{"fair sharing", func(c contention) float64 { return c.Fair }},
		{"asymmetric sharing", func(c contention) float64 { return c.Asymmetric }},
	} {
		values := make(plotter.Values, len(m.Errors))
		for i, e := range m.Errors {
			values[i], names[i] = way.of(e), fmt.Sprintf("%s, %s", e.Library, e.Queues)
		}
		const width = 20
		bars, err := plotter.NewBarChart(values, vg.Points(width))
		if err != nil {
			return nil, err
		}
		bars.Color, bars.LineStyle.Width, bars.Offset = t.series[k], 0, vg.Points(width*1.1*float64(k-1))
		p.Add(bars)
		p.Legend.Add(way.name, bars)
	}
	p.X.Tick.Label.Font.Size = vg.Points(8)
	p.NominalX(names...)
	return svg(p)
}
