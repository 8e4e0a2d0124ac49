package main

import (
	"bytes"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"

	"github.com/topocast/topocast/internal/jsonfile"
	"github.com/topocast/topocast/internal/quantity"
	"github.com/topocast/topocast/internal/stats"
	"github.com/topocast/topocast/measure"
	"github.com/topocast/topocast/topology"
	"github.com/topocast/topocast/topology/draw"
	"github.com/topocast/topocast/topology/linkage"
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
	found, err := linkage.Reconstruct(s.read.matrices...)
	if err != nil {
		return nil, err
	}
	return drawBySize("Bandwidth, measured", rateAxis(), measuredBandwidth(s.read.measured, found.Hierarchy),
		"Size over half a round trip, pairs of each level: the median, and quartiles as bands.")
}

func rateAxis() draw.Axis { return draw.Axis{Name: "bandwidth", Format: quantity.Rate, Log: true} }

// drawBySize draws series over the size of messages.
func drawBySize(title string, y draw.Axis, series []draw.Series, notes ...string) (*draw.Figure, error) {
	return draw.Plot(title, draw.Axis{Name: "message size", Bytes: true}, y, series, notes...)
}

// measuredBandwidth are the rates of the pairs that each level joins, over size: median and quartiles.
func measuredBandwidth(m *measure.Result, h *topology.Hierarchy) []draw.Series {
	rates := make([][][]float64, len(h.Levels())+1) // by level and size
	for l := range rates {
		rates[l] = make([][]float64, len(m.Sizes))
	}
	for _, r := range m.Readings() {
		if l := h.Groups()[h.Common(r.From, r.To)].Level; r.Median > 0 {
			rates[l][r.Size] = append(rates[l][r.Size], float64(m.Sizes[r.Size])/r.Median)
		}
	}
	order := make([]int, len(m.Sizes)) // sizes ascending
	for i := range order {
		order[i] = i
	}
	slices.SortFunc(order, func(a, b int) int { return m.Sizes[a] - m.Sizes[b] })
	var curves []draw.Series
	for l := range rates {
		c := draw.Series{Name: h.LevelName(l)}
		for _, i := range order {
			if of := rates[l][i]; len(of) > 0 {
				c.X = append(c.X, float64(m.Sizes[i]))
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

// A castRow is what a picture needs of a row of topocast bcast.
type castRow struct {
	Bytes   int64    `json:"bytes"`
	Variant string   `json:"variant"`
	Median  float64  `json:"median_s"`
	Low     *float64 `json:"median_low_s"`
	High    *float64 `json:"median_high_s"`
	Bound   *float64 `json:"bound_s"`
}

func drawBroadcasts(s *drawSource) (*draw.Figure, error) {
	ranks, rows, err := readCasts(s.data)
	if err != nil {
		return nil, err
	}
	return drawBySize(fmt.Sprintf("Broadcasts to %d ranks", ranks), draw.Axis{Name: "time", Format: quantity.Seconds, Log: true}, castCurves(rows), "Time until the last rank has the data: the median, and the interval of 95 % as band.")
}

// castCurves are the rows by variant, as they come, and last the bound.
func castCurves(rows []castRow) []draw.Series {
	index := make(map[string]int)
	var curves []draw.Series
	bound := draw.Series{Name: "lower bound", Limit: true}
	slices.SortStableFunc(rows, func(a, b castRow) int { return int(max(-1, min(1, a.Bytes-b.Bytes))) })
	for _, r := range rows {
		k, seen := index[r.Variant]
		if !seen {
			k = len(curves)
			index[r.Variant] = k
			curves = append(curves, draw.Series{Name: r.Variant})
		}
		c := &curves[k]
		c.X, c.Y = append(c.X, float64(r.Bytes)), append(c.Y, r.Median)
		c.Low, c.High = append(c.Low, jsonfile.Value(r.Low)), append(c.High, jsonfile.Value(r.High))
		if n := len(bound.X); r.Bound != nil && *r.Bound > 0 && (n == 0 || bound.X[n-1] != float64(r.Bytes)) {
			bound.X, bound.Y = append(bound.X, float64(r.Bytes)), append(bound.Y, *r.Bound)
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
		sum := 0.0
		for _, x := range c.Y {
			sum += math.Log(x)
		}
		if sum < least {
			best, least = k, sum
		}
	}
	return best
}

// readCasts reads what topocast bcast writes, as JSON or CSV.
func readCasts(data []byte) (ranks int, rows []castRow, err error) {
	if format := jsonfile.Format(data); format != "" {
		if format != "topocast/bcast-benchmark" {
			return 0, nil, fmt.Errorf("format is %q: want topocast/bcast-benchmark, which topocast bcast --json writes", format)
		}
		var file struct {
			Version int       `json:"version"`
			Ranks   int       `json:"ranks"`
			Rows    []castRow `json:"rows"`
		}
		if err := jsonfile.Unmarshal(data, &file); err != nil {
			return 0, nil, err
		}
		if file.Version != 2 {
			return 0, nil, fmt.Errorf("version %d: want 2", file.Version)
		}
		return file.Ranks, file.Rows, nil
	}
	table := csv.NewReader(bytes.NewReader(data))
	head, err := table.Read()
	if err == io.EOF {
		return 0, nil, errors.New("no content")
	}
	column := make(map[string]int)
	for k, name := range head {
		column[name] = k
	}
	for _, name := range []string{"ranks", "bytes", "variant", "median_s", "median_low_s", "median_high_s", "bound_s"} {
		if _, ok := column[name]; !ok {
			return 0, nil, fmt.Errorf("no column %q: want the file of topocast bcast --csv, or --json", name)
		}
	}
	lines, err := table.ReadAll()
	if err != nil {
		return 0, nil, err
	}
	for i, line := range lines {
		number := func(name string) *float64 {
			text := line[column[name]]
			if text == "" {
				return nil
			}
			x, wrong := strconv.ParseFloat(text, 64)
			if (wrong != nil || math.IsNaN(x) || math.IsInf(x, 0)) && err == nil {
				err = fmt.Errorf("line %d: %s is %q: want a number", i+2, name, text)
			}
			return &x
		}
		whole := func(name string) int64 {
			x, wrong := strconv.ParseInt(line[column[name]], 10, 64)
			if wrong != nil && err == nil {
				err = fmt.Errorf("line %d: %s is %q: want a whole number", i+2, name, line[column[name]])
			}
			return x
		}
		r := castRow{
			Bytes: whole("bytes"), Variant: line[column["variant"]], Median: jsonfile.Value(number("median_s")),
			Low: number("median_low_s"), High: number("median_high_s"), Bound: number("bound_s"),
		}
		ranks, rows = int(whole("ranks")), append(rows, r)
		if err != nil {
			return 0, nil, err
		}
	}
	return ranks, rows, nil
}
