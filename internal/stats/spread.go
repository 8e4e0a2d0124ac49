package stats

import (
	"math"
	"slices"
)

// This file holds the two estimators of noise, and the error that follows from it.
//
//   - From repetitions: Differences collects by how much two measurements of one quantity differ.
//   - From a middle: SigmaAbout tells how far values lie from what they have in common, such as the
//     median of a group, the values of near hosts, or a fitted line.
//
// Both take the median, which outliers move little, and give the standard deviation of a normal distribution.

// SigmaPerMAD is the standard deviation of a normal distribution in units of
// its median absolute deviation, 1/z(3/4), to the five digits that are usual: half of
// the distribution lies within 0.6745 standard deviations of its middle. With it
// a median of deviations is a scale that outliers move little (Hampel 1974,
// https://doi.org/10.2307/2285666).
const SigmaPerMAD = 1.4826

// Sigma is the standard deviation that absolute deviations, which it reorders, have by their
// lower median; NaN if there are none. O(n).
func Sigma(deviations []float64) float64 { return SigmaPerMAD * Median(deviations) }

// SigmaAbout is the standard deviation of values about a middle, by the lower median of their deviations. It is NaN if
// there are none. O(n).
func SigmaAbout(middle float64, values []float64) float64 {
	off := make([]float64, len(values))
	for i, x := range values {
		off[i] = math.Abs(x - middle)
	}
	return Sigma(off)
}

// Differences are by how much pairs of measurements differ, each pair of one quantity: absolute differences of the
// logarithms. SigmaOfOne makes the relative noise of one measurement of them.
type Differences []float64

// Add takes a pair of measurements. One that is not above zero or not finite tells nothing.
func (d *Differences) Add(a, b float64) {
	if a > 0 && b > 0 && !math.IsInf(a, 1) && !math.IsInf(b, 1) {
		*d = append(*d, math.Abs(math.Log(a)-math.Log(b))) // the ratio itself may be infinite
	}
}

// SigmaOfOne is the standard deviation of one value where differences, which it reorders, are
// the absolute differences of two each: those spread sqrt 2 times as much. NaN if
// there are none. O(n).
func SigmaOfOne(differences []float64) float64 { return Sigma(differences) / math.Sqrt2 }

// ErrorOfMedian is the standard error of the median of n normal values of a standard deviation: sqrt(pi/2) times that of
// their mean (Kenney, Keeping 1962).
func ErrorOfMedian(sigma float64, n int) float64 {
	return math.Sqrt(math.Pi/2/float64(n)) * sigma
}

// Median is the lower median of values, which it reorders; NaN if there are none. O(n).
func Median(values []float64) float64 {
	if len(values) == 0 {
		return math.NaN()
	}
	return LowerMedian(values)
}

// MiddleMedian is the median, of an even number of values the mean of the two in the middle: it is
// not biased towards the small ones, and two values have a spread. It sorts them; NaN if there are
// none. O(n log n).
func MiddleMedian(values []float64) float64 {
	n := len(values)
	if n == 0 {
		return math.NaN()
	}
	slices.Sort(values)
	return (values[(n-1)/2] + values[n/2]) / 2
}

// SortedFinite copies the finite values, sorted.
func SortedFinite(values []float64) []float64 {
	kept := make([]float64, 0, len(values))
	for _, v := range values {
		if !math.IsInf(v, 0) && !math.IsNaN(v) {
			kept = append(kept, v)
		}
	}
	slices.Sort(kept)
	return kept
}

// Golden is the golden ratio less one. Its multiples, less their whole parts, spread evenly
// over [0, 1) however many there are: places to sample at.
const Golden = 0.6180339887498949
