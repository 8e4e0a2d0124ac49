package main

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"gonum.org/v1/gonum/mat"
	"gonum.org/v1/gonum/stat"

	"github.com/topocast/topocast/internal/benchmark"
	"github.com/topocast/topocast/internal/cli"
	"github.com/topocast/topocast/internal/jsonfile"
	"github.com/topocast/topocast/internal/quantity"
	"github.com/topocast/topocast/internal/stats"
	"github.com/topocast/topocast/internal/words"
	"github.com/topocast/topocast/measure"
	"github.com/topocast/topocast/model"
	"github.com/topocast/topocast/topology"
	"github.com/topocast/topocast/topology/draw"
	"github.com/topocast/topocast/topology/encode"
	"github.com/topocast/topocast/topology/linkage"
)

// A drawing is a kind of picture that the command can make.
type drawing struct {
	name string
	from string // the files it is made of
	draw func(*drawSource) (*draw.Figure, error)
}

func drawings() []drawing {
	return []drawing{
		{"heatmap", "a network, measurements or a matrix", drawHeatMap},
		{"dendrogram", "a network, measurements or a matrix", drawDendrogram},
		{"histogram", "a network, measurements or a matrix", drawHistogram},
		{"bandwidth", "a network, or measurements of several sizes", drawBandwidth},
		{"broadcasts", "the JSON or CSV of topocast bcast", drawBroadcasts},
		{"layout", "a network, measurements or a matrix", drawLayout},
	}
}

func plotCommand(shared *cli.Flags) *cobra.Command {
	var output *cli.Output
	s := drawSource{}
	names := each(drawings(), func(d drawing) string { return d.name })
	var list strings.Builder
	for _, d := range drawings() {
		fmt.Fprintf(&list, "  %-11s of %s\n", d.name, d.from)
	}
	c := &cobra.Command{
		Use:   "plot KIND FILE",
		Short: "Draw a heat map, tree, histogram or curves as SVG or PNG",
		Long: `Plot makes a picture of a file. KIND is one of these:

` + list.String() + `
FILE is a network (topocast discover, or a graph of another tool), measurements (topocast measure), a matrix of latencies or timed broadcasts
(topocast bcast --json or --csv); "-" reads standard input. Of a network that keeps no measurements, latencies are
those that it predicts for the message it was measured with; groups of measurements are those that reconstruct finds.
Each picture says below its title what was cut and left out.`,
		Example: `  topocast plot dendrogram network.json
  topocast plot heatmap readings.json -o latencies.png
  topocast bcast --json > times.json
  topocast plot broadcasts times.json -o times.svg`,
		SuggestFor: []string{"draw"},
		Args:       cli.Args(0, "KIND, "+words.Or(names), "FILE"),
		RunE: func(c *cobra.Command, args []string) error {
			what := args[0]
			k := slices.Index(names, what)
			if k < 0 {
				return cli.BadInput("KIND %q: want %s", what, words.Or(names))
			}
			if err := cmp.Or(
				cli.RefuseUnless(what == "heatmap", c, "only of a heatmap", "order", "percentile"),
				cli.RefuseUnless(what == "layout", c, "only of a layout", "probability"),
			); err != nil {
				return err
			}
			if output.Path == "" {
				output.Path = what + ".svg"
			}
			write := (*draw.Figure).SVG
			switch extension := strings.ToLower(filepath.Ext(output.Path)); {
			case extension == ".png":
				write = (*draw.Figure).PNG
			case extension != ".svg" && output.Path != cli.Standard:
				return cli.BadInput("--output %s: want a name that ends in .svg or .png, or - for SVG on standard output", output.Path)
			}
			if err := s.open(c.ErrOrStderr(), args[1], what == "broadcasts"); err != nil {
				return err
			}
			f, err := drawings()[k].draw(&s)
			if err != nil {
				return cli.BadInput("%s: %w", args[1], err)
			}
			return output.SaveAndSay("picture", func(w io.Writer) error { return write(f, w) })
		},
	}
	f := c.Flags()
	output = shared.Output(c, "output", "o", "", "file for the picture, .svg or .png; default: KIND.svg")
	unitFlag(f, &s.unit, "unit of a matrix: s, ms, us or ns")
	cli.Choice(f, &s.order, "order", []string{"groups", "file"}, "ranks of a heat map: by groups, or as in the file")
	f.Float64Var(&s.percentile, "percentile", 99, "share of the measurements, in percent, that the colours of a heat map span")
	cli.Want(f, "percentile", "above 0 and at most 100", func() bool { return s.percentile > 0 && s.percentile <= 100 })
	f.Float64Var(&s.probability, "probability", 0, "of the links of a layout, the share of message lengths that must show a link, 0 to 1")
	cli.Want(f, "probability", "in [0, 1]", func() bool { return s.probability >= 0 && s.probability <= 1 })
	return c
}

// A drawSource is the file that a picture is made of, and how.
type drawSource struct {
	unit        encode.Unit
	order       int     // of a heat map: byGroups or as in the file
	percentile  float64 // of a heat map
	probability float64 // the least of links in a layout

	data    []byte
	network *model.Network // one of the two, or neither
	read    *latencies

	// Of a network, or what linkage finds in measurements.
	graph    *topology.Graph
	groups   *topology.Hierarchy // that are confident
	reported *topology.Hierarchy // and those that are not
	times    mat.Matrix          // the cells' medians where there are repetitions, or what a network predicts
	title    string              // of latencies
}

// byGroups is the first order.
const byGroups = 0

// open reads the file, for times of broadcasts or for whatever else it is.
func (s *drawSource) open(stderr io.Writer, path string, broadcasts bool) error {
	var err error
	if s.data, err = cli.ReadInput(path); err != nil {
		return err
	}
	switch format := jsonfile.Format(s.data); {
	case broadcasts:
		return nil
	case format == "topocast/bcast-benchmark":
		return cli.BadInput("%s: times of broadcasts: want topocast plot broadcasts %s", path, path)
	case format != "topocast/measurement" && holdsMachine(s.data):
		n, err := cli.NetworkOf(stderr, path, s.data, nil)
		if err != nil {
			return err
		}
		if s.unit != 0 {
			return cli.BadInput("--unit: %s holds its own", path)
		}
		found := n.Reconstruction()
		if s.graph, err = found.MeanGraph(); err != nil {
			return err
		}
		s.network, s.groups, s.reported = n, n.Hierarchy(), found.Hierarchy
		s.times, s.title = predicted{n}, "Latencies that the network predicts"
		return nil
	}
	if s.read, err = latenciesOf(bytes.NewReader(s.data), path, s.unit, nil); err != nil {
		return cli.BadInput("%s: %w", path, err)
	}
	found, err := linkage.Reconstruct(s.read.matrices...)
	if err != nil {
		return cli.BadInput("%s: %w", path, err)
	}
	s.graph, s.groups, s.reported = found.Graph, found.Hierarchy, found.Hierarchy
	s.times, s.title = stats.MedianCells(s.read.matrices), "Latencies, measured"
	return nil
}

// holdsMachine is true of a file that describes a machine, and not times alone.
func holdsMachine(data []byte) bool {
	var head struct{ Format, Graph json.RawMessage }
	isJSON := json.Unmarshal(data, &head) == nil && (head.Format != nil || head.Graph != nil)
	return isJSON || encode.IsFabric(data) || slices.ContainsFunc(encode.Formats(), func(f encode.Format) bool { return f.Is != nil && f.Is(data) })
}

// names are those of the rows, or of the hosts where each rank has one of its own; nil: numbers.
func (s *drawSource) names() []string {
	switch {
	case s.network == nil && s.read.job == nil:
		return s.read.names
	case s.network == nil:
		return s.read.distinctNames()
	}
	if noun, names := rankNames(s.network); noun == "host" {
		return names
	}
	return nil
}

func drawHeatMap(s *drawSource) (*draw.Figure, error) {
	h := s.groups
	if s.order != byGroups {
		h = nil
	}
	return draw.HeatMap(s.title, s.times, &draw.HeatMapSettings{Names: s.names(), Hierarchy: h, Percentile: s.percentile / 100})
}

func drawHistogram(s *drawSource) (*draw.Figure, error) {
	return draw.Histogram(s.title, s.times, s.groups)
}

func drawDendrogram(s *drawSource) (*draw.Figure, error) {
	return draw.Dendrogram("Groups", s.reported, s.names())
}

func drawLayout(s *drawSource) (*draw.Figure, error) {
	g := s.graph
	var err error
	if names := s.names(); names != nil {
		if g, err = g.WithHostNames(names); err != nil {
			return nil, err
		}
	}
	likely := slices.DeleteFunc(slices.Clone(g.Arcs()), func(a topology.Arc) bool { return a.Probability < s.probability })
	if g, err = g.WithArcs(likely); err != nil {
		return nil, err
	}
	return draw.Wiring("Wiring", g)
}

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
	for _, r := range m.Measurements() {
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
