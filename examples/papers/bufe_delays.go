package main

import (
	"context"
	"math"

	"gonum.org/v1/gonum/stat"

	"github.com/topocast/topocast/internal/outcome"
	"github.com/topocast/topocast/internal/quantity"
	"github.com/topocast/topocast/measure"
	"github.com/topocast/topocast/mpi"
	"github.com/topocast/topocast/topology/draw"
)

// delaySizes are those of figure 1.1, in bytes.
func delaySizes() []int {
	return []int{bufeShort, 16 << 10, 64 << 10, 128 << 10, 256 << 10, 512 << 10, 1 << 20}
}

// bufeDelays are one-way delays of two ranks in s, NaN where there was no time, by size in bytes.
type bufeDelays struct{ sizes, delays []float64 }

// readDelays measures the first and the last rank. It is collective; others than rank 0 get nil.
func (o *bufeOptions) readDelays(ctx context.Context, comm mpi.Communicator) (*bufeDelays, error) {
	last := comm.Size() - 1
	r, err := measure.Run(ctx, comm, &measure.Settings{
		Sizes: delaySizes(), Repetitions: 1, Samples: min(o.samples, bufeSamples), Pairs: [][2]int{{0, last}}, Seed: 1, Budget: o.budget.next(),
	})
	if err != nil || r == nil {
		return nil, err
	}
	d := new(bufeDelays)
	for k, size := range delaySizes() {
		m, err := typical(r, measure.Median, k)
		if err != nil {
			return nil, err
		}
		d.sizes, d.delays = append(d.sizes, float64(size)), append(d.delays, m.At(0, last))
	}
	return d, nil
}

// report is figure 1.1 with latency and throughput by two sizes and by regression (equations 1.1, 1.5 and 1.6).
func (d *bufeDelays) report(s *outcome.Section, what string) error {
	var x, y []float64
	for k, v := range d.delays {
		if !math.IsNaN(v) {
			x, y = append(x, d.sizes[k]), append(y, v)
		}
	}
	if len(x) < 2 {
		s.Say("Of %s fewer than two sizes were measured in the time that there was: want a larger --budget.", what)
		return nil
	}
	latency, perByte := stat.LinearRegression(x, y, nil, false)
	n := len(x) - 1
	slope := (y[n] - y[0]) / (x[n] - x[0])
	s.Say("Half round trips of %s. The delay is linear in the size with R2 = %.2f %% (equation 1.1): by regression l is %s and t %s, by the first and the last size alone (equations 1.5 and 1.6) %s and %s. The source prints no numbers.",
		what, percent(stat.RSquared(x, y, nil, latency, perByte)), quantity.Seconds(latency), quantity.Rate(1/perByte), quantity.Seconds(y[0]-x[0]*slope), quantity.Rate(1/slope))
	t := s.Table("figure-1.1", outcome.Number("size", "B"), outcome.Number("one-way delay", "s"), outcome.Number("by regression", "s"))
	var line []float64
	for k := range x {
		line = append(line, latency+perByte*x[k])
		t.Row(x[k], y[k], line[k])
	}
	f, err := draw.Plot("Figure 1.1: one-way delay by size", draw.Axis{Name: "size (B)"}, draw.Axis{Name: "delay (s)"}, []draw.Series{{Name: "measured", X: x, Y: y}, {Name: "s/t + l", X: x, Y: line}})
	if err == nil {
		s.Figure("figure-1.1", f)
	}
	return err
}

// delaysOfWestmere is figure 1.1 between two Westmere nodes.
func (o *bufeOptions) delaysOfWestmere(ctx context.Context, found *outcome.Outcome) error {
	m, err := westmere()
	if err != nil {
		return err
	}
	d, err := onRanks(m, []int{0, 12}, func(comm mpi.Communicator) (*bufeDelays, error) { return o.readDelays(ctx, comm) })
	if err != nil {
		return err
	}
	return d.report(found.Section("Figure 1.1: one-way delay by size (section 1.4)"), "two simulated Westmere nodes")
}
