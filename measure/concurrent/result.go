package concurrent

import (
	"math"
	"slices"

	"gonum.org/v1/gonum/stat"
	"gonum.org/v1/gonum/stat/distuv"

	"github.com/topocast/topocast/internal/stats"
	"github.com/topocast/topocast/measure/harness"
	"github.com/topocast/topocast/model"
	"github.com/topocast/topocast/model/fit"
)

// A Result is what was measured.
type Result struct {
	Patterns []Pattern       // in the order of the settings; only the first ones if Stopped
	Planned  int             // patterns of the settings
	Stopped  harness.Stopped // early, as harness.Outcome has it
	Warnings []string
}

// A Pattern is a set of transfers that were timed while they were under way together.
type Pattern struct {
	Transfers  []model.Transfer
	Times      []Time // of each
	Iterations int    // that count

	// Seconds are the times of each transfer in all iterations. Files do not keep them.
	Seconds [][]float64

	// Converged tells whether the interval of each mean is as narrow as was asked for.
	Converged bool

	// Serial tells that the communicator is not mpi.NonBlocking and a rank has
	// several transfers: it had one under way at a time, and the times are not
	// those of a concurrent pattern.
	Serial bool

	// Skew is how far the starts of the first and of the last transfer were apart, in
	// s: the median over the iterations. Times are those of the iterations with no
	// more than that, or no more than 1 % of the transfer's own time: in the others,
	// at most half, a rank was late, and the transfers were not those of the pattern.
	Skew float64

	// ClockError bounds in s by how much a time may be wrong because clocks
	// differ. That is where the two ways of a message do not take equally long. Usually the error is a
	// small part of the bound.
	ClockError float64
}

// A Time is how long a transfer took, in s, over all iterations.
type Time struct {
	Mean, Median, Min, Max float64
	HalfWidth              float64 // of the 95 % interval of the mean (Student 1908); NaN of one measurement
	Count                  int     // measurements; fewer than iterations where a start was late
}

// sum makes the numbers of a pattern of the times of each transfer and the skews of all iterations.
func (p *Pattern) sum(skews []float64) {
	p.Iterations, p.Skew = len(skews), stats.MiddleMedian(slices.Clone(skews))
	p.Times = nil
	for _, own := range p.Seconds {
		limit := max(p.Skew, noticed*stats.MiddleMedian(slices.Clone(own)))
		var punctual []float64
		for k, t := range own {
			if skews[k] <= limit {
				punctual = append(punctual, t)
			}
		}
		p.Times = append(p.Times, newTime(punctual))
	}
}

// newTime sums up times.
func newTime(times []float64) Time {
	mean, deviation := stat.MeanStdDev(times, nil)
	return Time{
		Mean: mean, Median: stats.MiddleMedian(times), Min: slices.Min(times), Max: slices.Max(times),
		HalfWidth: halfWidth(deviation, len(times)), Count: len(times),
	}
}

// widest is the width of the widest interval, relative to its mean; +Inf if
// one is not known.
func (p *Pattern) widest() float64 {
	widest := 0.0
	for _, t := range p.Times {
		w := 2 * t.HalfWidth / t.Mean
		if !(w >= 0) {
			return math.Inf(1)
		}
		widest = max(widest, w)
	}
	return widest
}

// shortest is the median of the shortest transfer in s.
func (p *Pattern) shortest() float64 {
	shortest := math.Inf(1)
	for _, t := range p.Times {
		shortest = min(shortest, t.Median)
	}
	return shortest
}

// Observations are the patterns as fit.Network takes them, each transfer with its median: a stall of
// the machine in one iteration does not move it. Left out are patterns that were not
// concurrent (Serial) and those with a time that is not above 0, which no clock
// could tell.
func (r *Result) Observations() []fit.Observation {
	var all []fit.Observation
	for _, p := range r.Patterns {
		if p.Serial || !(p.shortest() > 0) {
			continue
		}
		o := fit.Observation{Transfers: slices.Clone(p.Transfers)}
		for _, t := range p.Times {
			o.Seconds, o.Deviations = append(o.Seconds, t.Median), append(o.Deviations, t.deviation())
		}
		all = append(all, o)
	}
	return all
}

// deviation is the relative standard deviation of the times, without stalls of the machine: these are seldom, and only
// make times longer. So it is at most twice what the least of as many normal values tells (Blom 1958); 0 of one time.
func (t *Time) deviation() float64 {
	if t.Count < 2 {
		return 0
	}
	n := float64(t.Count)
	least := distuv.UnitNormal.Quantile((n - 0.375) / (n + 0.25)) // of n values, in standard deviations below the median
	return min(t.HalfWidth/halfWidth(1, t.Count), 2*(t.Median-t.Min)/least) / t.Median
}

// confidence is that of the intervals of means.
const confidence = 0.95

// halfWidth is that of the interval of the mean of values with a standard deviation; NaN of one value.
func halfWidth(deviation float64, count int) float64 {
	if count < 2 {
		return math.NaN()
	}
	t := distuv.StudentsT{Sigma: 1, Nu: float64(count - 1)}.Quantile((1 + confidence) / 2)
	return t * deviation / math.Sqrt(float64(count))
}
