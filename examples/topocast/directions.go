package main

import (
	"bytes"
	"slices"

	"github.com/topocast/topocast/measure/oneway"
	"github.com/topocast/topocast/measure/record"
	"github.com/topocast/topocast/topology"
	"github.com/topocast/topocast/topology/spanner"
	"gonum.org/v1/gonum/mat"
)

// readDirections reads the one-way times of the file that the latencies come from, if it has any.
func (l *latencies) readDirections(data []byte) error {
	f, err := record.Read(bytes.NewReader(data))
	if err != nil {
		return err
	}
	s := f.Section(oneway.Kind)
	if s == nil {
		return nil
	}
	if l.directions, err = oneway.FromSection(s, f.Ranks); err != nil {
		return err
	}
	l.warnings = append(slices.Clone(l.warnings), l.directions.Warnings...)
	return nil
}

// directed are the latencies for a method: those that find direct links take each direction by itself.
func (l *latencies) directed(r topology.Reconstructor) []mat.Matrix {
	switch r.(type) {
	case *spanner.GreedyCycle, *spanner.Witness:
		if l.directions != nil {
			return l.directions.Split(l.matrices)
		}
	}
	return l.matrices
}

// direct gives the links of a tree what they take in each direction, if that is known.
func (l *latencies) direct(found *topology.Result) (*topology.Result, error) {
	if l.directions == nil {
		return found, nil
	}
	return l.directions.Direct(found)
}
