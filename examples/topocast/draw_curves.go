package main

import (
	"errors"
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/stat"

	"github.com/topocast/topocast/internal/benchmark"
	"github.com/topocast/topocast/internal/jsonfile"
	"github.com/topocast/topocast/internal/quantity"
	"github.com/topocast/topocast/internal/stats"
	"github.com/topocast/topocast/measure"
	"github.com/topocast/topocast/topology"
	"github.com/topocast/topocast/topology/draw"
)

func drawBandwidth(s *drawSource) (*draw.Figure, error) {
	switch {
	case s.network != nil:
		curves := bandwidthCurves(s.network)
		if len(curves) == 0 {
			return nil, errors.New("the network knows no bandwidth")
		}
		return drawBySize("Bandwidth that the network predicts", rateAxis(), curves, "Size over the time of one message between ranks of each level.")
	case s.read.measured == nil:
		return nil, errors.New("a matrix has one size only: want a network, or measurements of several sizes")
	}
	return drawBySize("Bandwidth, measured", rateAxis(), measuredBandwidth(s.read.measured, s.groups),
		"Size over half a round trip, pairs of each level: the median, and quartiles as bands.")
}

func rateAxis() draw.Axis { return draw.Axis{Name: "bandwidth", Format: quantity.Rate, Log: true} }

// drawBySize draws series over the size of messages.
func drawBySize(title string, y draw.Axis, series []draw.Series, notes ...string) (*draw.Figure, error) {
	return draw.Plot(title, draw.Axis{Name: "message size", Bytes: true}, y, series, notes...)
}

// measuredBandwidth are the rates of the pairs that each level joins, over size: median and quartiles.
func measuredBandwidth(m *measure.Result, h *topology.Hierarchy) []draw.Series {
	type key struct{ level, bytes int }
	rates := make(map[key][]float64)
	for _, r := range m.Readings() {
		if bytes := m.Sizes[r.Size]; r.Median > 0 {
			k := key{h.Groups()[h.Common(r.From, r.To)].Level, bytes}
			rates[k] = append(rates[k], float64(bytes)/r.Median)
		}
	}
	var curves []draw.Series
	for l := range len(h.Levels()) + 1 {
		c := draw.Series{Name: h.LevelName(l)}
		for _, bytes := range slices.Sorted(slices.Values(m.Sizes)) {
			if of := rates[key{l, bytes}]; len(of) > 0 {
				c.X = append(c.X, float64(bytes))
				c.Low = append(c.Low, stats.Quantile(of, 0.25))
				c.High = append(c.High, stats.Quantile(of, 0.75))
				c.Y = append(c.Y, stats.LowerMedian(of))
			}
		}
		if len(c.X) > 0 {
			curves = append(curves, c)
		}
	}
	return curves
}

func drawBroadcasts(s *drawSource) (*draw.Figure, error) {
	read := benchmark.ReadCSV
	if jsonfile.Format(s.data) != "" {
		read = benchmark.Read
	}
	r, err := read(s.data)
	if err != nil {
		return nil, err
	}
	return drawBySize(fmt.Sprintf("Broadcasts to %d ranks", r.Ranks), draw.Axis{Name: "time", Format: quantity.Seconds, Log: true}, castCurves(r.Rows), "Time until the last rank has the data: the median, and the interval of 95 % as band.")
}

// castCurves are the rows by variant, as they come, and last the bound.
func castCurves(rows []benchmark.Row) []draw.Series {
	index := make(map[string]int)
	var curves []draw.Series
	bound := draw.Series{Name: "lower bound", Limit: true}
	slices.SortStableFunc(rows, func(a, b benchmark.Row) int { return a.Bytes - b.Bytes })
	for _, r := range rows {
		k, seen := index[r.Variant]
		if !seen {
			k = len(curves)
			index[r.Variant] = k
			curves = append(curves, draw.Series{Name: r.Variant})
		}
		c := &curves[k]
		c.X, c.Y = append(c.X, float64(r.Bytes)), append(c.Y, r.Median)
		c.Low, c.High = append(c.Low, r.Low), append(c.High, r.High)
		if n := len(bound.X); r.Bound > 0 && (n == 0 || bound.X[n-1] != float64(r.Bytes)) {
			bound.X, bound.Y = append(bound.X, float64(r.Bytes)), append(bound.Y, r.Bound)
		}
	}
	best := bestOfRest(curves)
	for k := range curves {
		curves[k].Muted = best >= 0 && k != best && curves[k].Name != "ours" && curves[k].Name != "native"
	}
	// Ours is drawn last, above the others.
	slices.SortStableFunc(curves, func(a, b draw.Series) int {
		rank := func(c draw.Series) int { return slices.Index([]string{"native", "ours"}, c.Name) }
		return rank(a) - rank(b)
	})
	if len(bound.X) > 0 {
		curves = append(curves, bound)
	}
	return curves
}

// bestOfRest is the curve besides ours and native that is fastest in the geometric mean over the sizes; -1: there is none.
func bestOfRest(curves []draw.Series) int {
	best, least, most := -1, math.Inf(1), 0
	for _, c := range curves {
		most = max(most, len(c.Y))
	}
	for k, c := range curves {
		if c.Name == "ours" || c.Name == "native" || len(c.Y) < most {
			continue
		}
		if mean := stat.GeometricMean(c.Y, nil); mean < least {
			best, least = k, mean
		}
	}
	return best
}
