package benchmark

import (
	"math"
	"slices"

	"gonum.org/v1/gonum/stat"

	"github.com/topocast/topocast/bcast/predict"
	"github.com/topocast/topocast/bcast/schedule"
	"github.com/topocast/topocast/bcast/table"
	"github.com/topocast/topocast/internal/stats"
)

// A Row is one variant at one size. Times are those of the slowest rank.
type Row struct {
	Bytes     int     // length of the message
	Variant   string  // "ours", "native", or the name of an algorithm
	Median    float64 // s, over the repetitions
	Low, High float64 // s, between which the true median is with 95 %; NaN: there were too few repetitions
	Min, Max  float64 // s

	// Mean and Variance, in s and s^2, are of the repetitions up to the 90th percentile (Reinfjell 2023, section 6.5.1).
	// Those that a stray delay has made long would decide them otherwise.
	Mean, Variance float64

	// Gain is how many times as fast as native this was: the median, over the rounds, of the
	// ratio of both. GainLow and GainHigh are between which that is with 95 %; NaN as
	// above, and where there is no native broadcast to compare with.
	Gain, GainLow, GainHigh float64

	// Bound is the time in s below which no broadcast of these bytes can get on the network
	// (predict.Bound); NaN if that is not known.
	Bound float64

	Count    int          // timed repetitions
	Verified bool         // every byte was right on every rank in every repetition
	Plan     predict.Plan // what ran
}

// TooFew reports whether there were too few repetitions for an interval of the median.
func (r *Row) TooFew() bool { return math.IsNaN(r.Low) }

const (
	confidence = 0.95
	within     = 0.9 // share of the repetitions that Mean and Variance are of
)

// summarise sets the statistics of at least one time. native are those of the native broadcast, round by round; nil:
// there is none.
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

// A column is a value of a row as files name it.
type column struct {
	name  string
	value any
}

// columns are what files say of a row. Numbers that are not known are NaN or infinite.
func (r *Row) columns() []column {
	algorithm := table.Native
	if r.Plan.Algorithm != nil {
		algorithm = schedule.Text(r.Plan.Algorithm)
	}
	return []column{
		{"bytes", r.Bytes},
		{"variant", r.Variant},
		{"algorithm", algorithm},
		{"segment_bytes", r.Plan.Segment},
		{"blocking", r.Plan.Blocking},
		{"median_s", r.Median},
		{"median_low_s", r.Low},
		{"median_high_s", r.High},
		{"mean_s", r.Mean},
		{"variance_s2", r.Variance},
		{"min_s", r.Min},
		{"max_s", r.Max},
		{"gain", r.Gain},
		{"gain_low", r.GainLow},
		{"gain_high", r.GainHigh},
		{"bound_s", r.Bound},
		{"predicted_s", r.Plan.Predicted},
		{"count", r.Count},
		{"verified", r.Verified},
	}
}

// isKnown reports whether a column has a value.
func (c column) isKnown() bool {
	x, isNumber := c.value.(float64)
	return !isNumber || !math.IsNaN(x) && !math.IsInf(x, 0)
}
