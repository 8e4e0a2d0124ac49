package concurrent

import (
	"cmp"
	"fmt"
	"math"

	"github.com/topocast/topocast/internal/limits"
	"github.com/topocast/topocast/measure/harness"
	"github.com/topocast/topocast/model"
)

// Settings of a measurement. Nil and the zero value mean all defaults, and
// nothing to measure. Those of rank 0 count; other ranks may pass nil.
type Settings struct {
	// Control ends the measurement, and hears of it. Each pattern is measured once before any is repeated, in the order
	// of Patterns. Those for which the budget leaves nothing are not measured. Later passes share what is left evenly.
	// Progress counts patterns: what is over of the iterations that are probably needed, or of the budget, and at the end
	// how many were measured.
	harness.Control

	// Patterns are sets of transfers between ranks of the communicator. Those of
	// one pattern are under way together, with nothing else; all start at once, so
	// that each Start is 0. Two ranks may have several messages for each other,
	// but those share a connection in many libraries.
	Patterns [][]model.Transfer

	// Width is that of the 95 % interval of a transfer's mean time, relative to the
	// mean, at which it is known well enough. Default 0.02 (Zhu et al. 2014,
	// section 3.1).
	Width float64

	// MinIterations and MaxIterations bound how often a pattern is repeated. Defaults 10
	// and 2000; at most 1,000,000.
	MinIterations, MaxIterations int
}

const (
	defaultWidth         = 0.02
	defaultMinIterations = 10 // fewer are often close to each other by chance, and would end the pattern
	defaultMaxIterations = 2000
	maxIterations        = 1_000_000     // a slip of the pen beyond
	maxBytes             = math.MaxInt32 // the counts of MPI are C ints
)

// validate fills in defaults.
func (s *Settings) validate(ranks int) error {
	for i, pattern := range s.Patterns {
		if len(pattern) == 0 {
			return fmt.Errorf("concurrent: Settings.Patterns[%d]: no transfers", i)
		}
		for k, t := range pattern {
			switch {
			case t.Src == t.Dst || min(t.Src, t.Dst) < 0 || max(t.Src, t.Dst) >= ranks:
				return fmt.Errorf("concurrent: Settings.Patterns[%d][%d]: %v: want two different ranks in [0, %d)", i, k, t, ranks)
			case t.Bytes < 1 || t.Bytes > maxBytes:
				return fmt.Errorf("concurrent: Settings.Patterns[%d][%d]: %v: want in [1, %d] bytes", i, k, t, maxBytes)
			case t.Start != 0:
				return fmt.Errorf("concurrent: Settings.Patterns[%d][%d]: %v: starts at %g s: want 0, all start together", i, k, t, t.Start)
			}
		}
	}
	if s.Width = cmp.Or(s.Width, defaultWidth); !(s.Width > 0 && s.Width < 1) {
		return fmt.Errorf("concurrent: Settings.Width: %g: want in (0, 1)", s.Width)
	}
	err := limits.Fill("concurrent: Settings",
		limits.Of("MinIterations", &s.MinIterations, defaultMinIterations, 1, maxIterations),
		limits.Of("MaxIterations", &s.MaxIterations, defaultMaxIterations, 1, maxIterations))
	s.MinIterations = min(s.MinIterations, s.MaxIterations)
	return err
}
