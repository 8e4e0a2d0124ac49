package main

import (
	"gonum.org/v1/gonum/mat"

	"github.com/topocast/topocast/internal/outcome"
	"github.com/topocast/topocast/internal/stats"
	"github.com/topocast/topocast/measure"
	"github.com/topocast/topocast/topology"
	"github.com/topocast/topocast/topology/draw"
)

// typical is, in s, for each pair (from, to) the median over the repetitions of one
// statistic at one size (an index into Sizes). NaN is not measured. O(n^2) per repetition.
func typical(r *measure.Result, statistic measure.Statistic, size int) (*mat.Dense, error) {
	repetitions := make([]mat.Matrix, r.Repetitions)
	for k := range repetitions {
		var err error
		if repetitions[k], err = r.Matrix(statistic, k, size); err != nil {
			return nil, err
		}
	}
	return stats.MedianCells(repetitions), nil
}

// drawWiring adds the drawing of a wiring as a figure.
func drawWiring(s *outcome.Section, name, title string, g *topology.Graph) error {
	at, err := draw.Layout(g, nil)
	if err != nil {
		return err
	}
	picture, err := draw.Wiring(title, g, at)
	return s.Figure(name, picture, err)
}
