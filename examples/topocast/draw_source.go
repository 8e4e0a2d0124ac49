package main

import (
	"bytes"
	"encoding/json"
	"io"
	"slices"

	"gonum.org/v1/gonum/mat"

	"github.com/topocast/topocast/internal/cli"
	"github.com/topocast/topocast/internal/jsonfile"
	"github.com/topocast/topocast/internal/stats"
	"github.com/topocast/topocast/model"
	"github.com/topocast/topocast/topology"
	"github.com/topocast/topocast/topology/draw"
	"github.com/topocast/topocast/topology/encode"
	"github.com/topocast/topocast/topology/linkage"
)

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
