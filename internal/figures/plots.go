package main

import (
	"bytes"
	"math"
	"slices"
	"strings"

	"github.com/topocast/topocast/internal/quantity"
	"github.com/topocast/topocast/topology/draw"
)

// A picture of the page.
type picture struct {
	name, title, caption string
	draw                 func(title string) (*draw.Figure, error)
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
			"SUMMA (matrix product) and TRSM (triangular solve) of examples/summa on 8 emulated hosts in two racks, ranks round-robin. Each has the time of the whole and that of communication alone, with native MPI_Bcast and with topology-aware broadcasts.",
			m.drawApplications,
		},
		{
			"reconstruction", "Time to reconstruct the wiring",
			"Processor time from a matrix of latencies to groups with confidence. Bands span the kinds of trees and tori.",
			m.drawReconstruction,
		},
		{
			"contention", "Predicted against measured: transfers that contend",
			"Mean error of the predicted time of 4 MB transfers in random patterns (Zhu et al. 2014) on 8 emulated hosts in two racks. For fair queues the fitted coupling alone was recorded.",
			m.drawErrors,
		},
	}
}

// svg is the picture, for dark backgrounds in other colours.
func (p *picture) svg(dark bool) ([]byte, error) {
	figure, err := p.draw(p.title)
	if err != nil {
		return nil, err
	}
	var b bytes.Buffer
	if err := figure.SVG(&b); err != nil || !dark {
		return b.Bytes(), err
	}
	light := strings.NewReplacer(
		"<svg ", `<svg fill="#DDDDDD" `, // of texts that name no colour
		"#FFFFFF", "#0D1117", "#202020", "#DDDDDD", "#505050", "#BBBBBB", "#606060", "#AAAAAA", "#E0E0E0", "#3A3A3A", "#0072B2", "#58A6FF",
	)
	return []byte(light.Replace(b.String())), nil
}

func (m *measured) drawSpeedUps(title string) (*draw.Figure, error) {
	native := draw.Series{Name: "native MPI_Bcast", Limit: true}
	var series []draw.Series
	for _, s := range m.SpeedUps {
		c := draw.Series{Name: s.Library}
		for _, x := range s.Points {
			c.X, c.Y, c.Low, c.High = append(c.X, x.Bytes), append(c.Y, x.Median), append(c.Low, x.Low), append(c.High, x.High)
		}
		native.X, native.Y = c.X, slices.Repeat([]float64{1}, len(c.X))
		series = append(series, c)
	}
	return draw.Plot(title, draw.Axis{Name: "message size", Bytes: true}, draw.Axis{Name: "speed-up"}, append(series, native))
}

// drawApplications has a place for each program under each library.
func (m *measured) drawApplications(title string) (*draw.Figure, error) {
	var places []string
	var series []draw.Series
	for _, broadcast := range []string{"native", "topology-aware"} {
		whole, part := draw.Series{Name: broadcast, Apart: true}, draw.Series{Name: broadcast + ", communication", Apart: true}
		for _, a := range m.Applications {
			if a.Broadcast != broadcast {
				continue
			}
			place := a.Program + ", " + a.Library
			if !slices.Contains(places, place) {
				places = append(places, place)
			}
			at := float64(slices.Index(places, place))
			whole.X, whole.Y, part.X, part.Y = append(whole.X, at), append(whole.Y, a.Total), append(part.X, at), append(part.Y, a.Communication)
		}
		series = append(series, whole, part)
	}
	return draw.Plot(title, draw.Axis{Labels: places}, draw.Axis{Name: "time, ms"}, series)
}

func (m *measured) drawReconstruction(title string) (*draw.Figure, error) {
	var series []draw.Series
	for _, r := range m.Reconstruction {
		c := draw.Series{Name: r.Kind}
		for _, x := range r.Points {
			c.X, c.Y = append(c.X, x.Hosts), append(c.Y, math.Sqrt(x.Low*x.High))
			c.Low, c.High = append(c.Low, x.Low), append(c.High, x.High)
		}
		series = append(series, c)
	}
	return draw.Plot(title, draw.Axis{Name: "hosts", Log: true}, draw.Axis{Name: "processor time", Format: quantity.Seconds, Log: true}, series)
}

func (m *measured) drawErrors(title string) (*draw.Figure, error) {
	series := []draw.Series{{Name: "fitted coupling", Apart: true}, {Name: "fair sharing", Apart: true}, {Name: "asymmetric sharing", Apart: true}}
	var places []string
	for i, e := range m.Errors {
		places = append(places, e.Library+", "+e.Queues)
		for k, off := range []float64{e.Fitted, e.Fair, e.Asymmetric} {
			if off > 0 { // else it was not recorded
				series[k].X, series[k].Y = append(series[k].X, float64(i)), append(series[k].Y, off)
			}
		}
	}
	return draw.Plot(title, draw.Axis{Labels: places}, draw.Axis{Name: "mean error, %"}, series)
}
