package draw

import (
	"fmt"
	"math"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/vg"
	vgdraw "gonum.org/v1/plot/vg/draw"
)

// A Sample is values of which a Distribution shows how often each occurs.
type Sample struct {
	Name   string
	Values []float64 // NaN: not known
}

// Distribution draws how many values of each sample lie in each of some equal parts of a linear
// axis, the samples one below the other, so that none hides another; counts that differ by more than 50 times
// are on a logarithmic axis. Bins are 0 for a number that follows from the values.
func Distribution(title string, x Axis, samples []Sample, bins int, notes ...string) (*Figure, error) {
	all := emptySpan()
	most := 0
	for _, s := range samples {
		n := 0
		for _, v := range s.Values {
			if finite(v) {
				all.add(v)
				n++
			}
		}
		most = max(most, n)
	}
	if most == 0 {
		return nil, fmt.Errorf("draw: distribution %q: no sample has a value", title)
	}
	if bins < 1 {
		bins = max(8, min(60, int(2*math.Cbrt(float64(most)))))
	}
	if all.low == all.high {
		all.low, all.high = all.low-0.5, all.high+0.5
	}
	edges := make([]float64, bins+1)
	for k := range edges {
		edges[k] = all.low + (all.high-all.low)*float64(k)/float64(bins)
	}
	const height, legend = 110, 150
	f := &Figure{title: title, notes: notes, width: 620, height: height * vg.Length(len(samples))}
	f.draw = func(c vgdraw.Canvas) {
		for k, s := range samples {
			counts := make([]float64, bins)
			peak, rare := 1.0, math.Inf(1)
			for _, v := range s.Values {
				if finite(v) {
					at := min(bins-1, int((v-all.low)/(all.high-all.low)*float64(bins)))
					counts[at]++
					peak = max(peak, counts[at])
				}
			}
			for _, n := range counts {
				if n > 0 {
					rare = min(rare, n)
				}
			}
			p := newPlot("", "")
			if k == len(samples)-1 {
				p.X.Label.Text = x.Name
			}
			linear := x
			linear.Log, linear.Labels = false, nil
			linear.set(&p.X, all)
			p.X.Min, p.X.Max = all.low, all.high
			p.Y.Min, p.Y.Max = 0, 1.05*peak
			if peak > 50*rare { // or the rare ones could not be seen
				p.Y.Min, p.Y.Max = 0.5, 2*peak
				p.Y.Scale, p.Y.Tick.Marker = plot.LogScale{}, logTicks{func(v float64) string { return fmt.Sprintf("%g", v) }}
			}
			p.Add(gridLines{x: true, y: true}, bars(edges, counts, k, p.Y.Min))
			top := c.Max.Y - c.Min.Y - height*vg.Length(k)
			row := vgdraw.Crop(c, 0, -legend, top-height, -height*vg.Length(k))
			p.Draw(row)
			swatch(vgdraw.Crop(c, c.Max.X-c.Min.X-legend+12, 0, top-height, -height*vg.Length(k)), 0, faint(ink(k), 0.6), s.Name)
		}
	}
	return f, nil
}
