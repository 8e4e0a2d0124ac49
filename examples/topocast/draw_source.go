package main

import (
	"bytes"
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
}

// byGroups is the first order.
const byGroups = 0

// open reads the file, for times of broadcasts or for whatever else it is.
func (s *drawSource) open(path string, broadcasts bool) error {
	var err error
	if s.data, err = cli.ReadInput(path); err != nil {
		return err
	}
	switch format := jsonfile.Format(s.data); {
	case broadcasts:
		return nil
	case format == "topocast/bcast-benchmark":
		return cli.BadInput("%s: times of broadcasts: want --what broadcasts", path)
	case format != "" && format != "topocast/measurement":
		if s.network, err = model.Read(bytes.NewReader(s.data)); err != nil {
			return cli.BadInput("%s: %w", path, err)
		}
		if s.unit != 0 {
			return cli.BadInput("--unit: %s holds its own", path)
		}
		return nil
	}
	s.read, err = latenciesOf(bytes.NewReader(s.data), path, s.unit, nil)
	return err
}

// latencies are those of the readings, the cells' medians where there are repetitions, or what a network predicts, with
// names and groups.
func (s *drawSource) latencies() (mat.Matrix, []string, *topology.Hierarchy, error) {
	if s.network != nil {
		return predicted{s.network}, s.names(), s.network.Hierarchy(), nil
	}
	found, err := linkage.Reconstruct(s.read.matrices...)
	if err != nil {
		return nil, nil, nil, err
	}
	return stats.MedianCells(s.read.matrices), s.names(), found.Hierarchy, nil
}

// drawn is the network, of readings that which is found in them.
func (s *drawSource) drawn() (*topology.Graph, *topology.Hierarchy, []string, error) {
	if s.network != nil {
		return s.network.Graph(), s.network.ReportedHierarchy(), s.names(), nil
	}
	found, err := linkage.Reconstruct(s.read.matrices...)
	if err != nil {
		return nil, nil, nil, err
	}
	return found.Graph, found.Hierarchy, s.names(), nil
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
	d, names, h, err := s.latencies()
	if err != nil {
		return nil, err
	}
	if s.order != byGroups {
		h = nil
	}
	return draw.HeatMap(s.title("Latencies"), d, &draw.HeatMapSettings{Names: names, Hierarchy: h, Percentile: s.percentile / 100})
}

func drawHistogram(s *drawSource) (*draw.Figure, error) {
	d, _, h, err := s.latencies()
	if err != nil {
		return nil, err
	}
	return draw.Histogram(s.title("Latencies"), d, h)
}

func drawDendrogram(s *drawSource) (*draw.Figure, error) {
	_, h, names, err := s.drawn()
	if err != nil {
		return nil, err
	}
	return draw.Dendrogram("Groups", h, names)
}

func drawLayout(s *drawSource) (*draw.Figure, error) {
	g, _, names, err := s.drawn()
	if err != nil {
		return nil, err
	}
	if names != nil {
		if g, err = g.WithHostNames(names); err != nil {
			return nil, err
		}
	}
	if g, err = g.WithArcs(slices.DeleteFunc(slices.Clone(g.Arcs()), func(a topology.Arc) bool { return a.Probability < s.probability })); err != nil {
		return nil, err
	}
	return draw.Wiring("Wiring", g, draw.Layout(g))
}

// title says whether latencies were measured, or are what a network predicts.
func (s *drawSource) title(what string) string {
	if s.network != nil {
		return what + " that the network predicts"
	}
	return what + ", measured"
}
