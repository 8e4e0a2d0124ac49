package stats

import (
	"math"
	"slices"
)

// Explained accumulates how well a model explains measurements. The measurements are of several levels, which are counted
// from 0. The zero value has no levels.
type Explained struct {
	residuals            [][]float64 // relative to the model, by level
	count                float64
	shift                float64 // the first measurement: of measurements that are all alike nothing is left about it
	sum, squares, misfit float64 // about shift, and squares about the model
}

// NewExplained has the given number of levels.
func NewExplained(levels int) *Explained { return &Explained{residuals: make([][]float64, levels)} }

// Add counts a measurement, and what the model says of it, for R2.
func (e *Explained) Add(measured, model float64) {
	if e.count == 0 {
		e.shift = measured
	}
	e.count++
	off := measured - e.shift
	e.sum += off
	e.squares += off * off
	e.misfit += (measured - model) * (measured - model)
}

// AddResidual counts the residual of a measurement of a level, relative to the model, for the medians. Where the model says 0
// there is none. Medians may be taken of a sample, so that Add does not do this.
func (e *Explained) AddResidual(level int, measured, model float64) {
	if model > 0 {
		e.residuals[level] = append(e.residuals[level], math.Abs(measured-model)/model)
	}
}

// explainedRounding is what measurements that are all alike may differ by, as a share of their mean.
const explainedRounding = 1e-12

// R2 is the share of the variance of the measurements that the model explains. If there is no variance it is 1 where the
// model says the same, and NaN otherwise, as it is without measurements.
func (e *Explained) R2() float64 {
	mean := e.shift + e.sum/e.count
	total := e.squares - e.sum*e.sum/e.count
	rounding := explainedRounding * explainedRounding * mean * mean * e.count
	switch {
	case total > rounding:
		return 1 - e.misfit/total
	case e.misfit <= rounding:
		return 1
	}
	return math.NaN()
}

// Medians are the lower median relative residuals of all measurements, and of those of each level. They are NaN where there is none.
func (e *Explained) Medians() (all float64, levels []float64) {
	all = Median(slices.Concat(e.residuals...))
	for _, of := range e.residuals {
		levels = append(levels, Median(of))
	}
	return all, levels
}
