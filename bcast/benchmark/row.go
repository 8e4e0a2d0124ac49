package benchmark

import (
	"math"
	"slices"

	"gonum.org/v1/gonum/stat"

	"github.com/topocast/topocast/bcast/predict"
	"github.com/topocast/topocast/internal/stats"
)

// A Row is one variant at one size. Times are those of the slowest rank.
type Row struct {
	Bytes     int     // length of the message
	Variant   string  // "ours", "native", or the name of an algorithm
	Median    float64 // s, over the repetitions
	Low, High float64 // s, between which the true median is with 95 %; NaN: there were too few repetitions
	Min, Max  float64 // s

	// Mean and Variance, in s and s^2, are of the repetitions up to the 90th percentile, as those that a
	// stray delay has made long would decide them otherwise (Reinfjell 2023, section 6.5.1).
	Mean, Variance float64

	// Gain is how many times as fast as the library's own broadcast this was: the median, over the rounds, of the
	// ratio of both. GainLow and GainHigh are between which that is with 95 %; NaN as
	// above, and where there is no broadcast of the library to compare with.
	Gain, GainLow, GainHigh float64

	// Bound is the time in s below which no broadcast of these bytes can get on the network
	// (predict.Bound); NaN if that is not known.
	Bound float64

	Count    int          // timed repetitions
	Verified bool         // every byte was right on every rank in every repetition
	Plan     predict.Plan // what ran
}

// TooFew tells that there were too few repetitions to say how certain the median is.
func (r *Row) TooFew() bool { return math.IsNaN(r.Low) }

const (
	confidence = 0.95
	within     = 0.9 // share of the repetitions that Mean and Variance are of
)

// values are the statistics as they travel.
func (r *Row) values() []*float64 {
	return []*float64{
		&r.Median, &r.Low, &r.High, &r.Min, &r.Max, &r.Mean, &r.Variance, &r.Gain, &r.GainLow, &r.GainHigh, &r.Bound,
	}
}

// summarise sets the statistics of at least one time. native are those of the library's own
// broadcast, round by round; nil: it has none.
func (r *Row) summarise(times, native []float64) {
	ratios := make([]float64, min(len(times), len(native)))
	for i := range ratios {
		ratios[i] = native[i] / times[i]
	}
	ratios = stats.SortedFinite(ratios) // a clock that stands still
	r.Gain = stats.MiddleMedian(ratios)
	r.GainLow, r.GainHigh, _ = stats.MedianInterval(ratios, confidence)

	sorted := slices.Sorted(slices.Values(times))
	r.Median = stats.MiddleMedian(sorted)
	r.Low, r.High, _ = stats.MedianInterval(sorted, confidence)
	r.Min, r.Max = sorted[0], sorted[len(sorted)-1]
	r.Mean, r.Variance = stat.MeanVariance(sorted[:int(math.Ceil(within*float64(len(sorted))))], nil)
}
