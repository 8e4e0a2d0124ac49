package check

import (
	"math"
	"slices"

	"github.com/topocast/topocast/internal/stats"
)

// spreads are the sigmas of series, from differences of samples that follow each other, which a step
// hardly changes: the series' own, drawn to that of the family by as much as the family's agree (Smyth 2004,
// https://doi.org/10.2202/1544-6115.1027).
func spreads(family []series) []float64 {
	var all []float64
	own, known := make([]float64, len(family)), make([]float64, len(family)) // sigma of a series, and the samples that tell it
	for i, f := range family {
		x := slices.DeleteFunc(slices.Clone(f.x), math.IsNaN)
		var differences []float64
		for k := 1; k < len(x); k++ {
			differences = append(differences, math.Abs(x[k]-x[k-1])/f.scale)
		}
		all = append(all, differences...)
		own[i] = math.Max(leastSeriesSpread, stats.SigmaOfOne(differences)) // NaN of none
		known[i] = differenceWeight * float64(len(differences))
	}
	typical := leastSeriesSpread
	if len(all) > 0 {
		typical = max(typical, stats.SigmaOfOne(all))
	}
	prior := priorSamples(own, known)
	sigmas := make([]float64, len(family))
	for i, f := range family {
		variance := typical * typical
		if known[i] > 0 {
			variance = (prior*variance + known[i]*own[i]*own[i]) / (prior + known[i])
		}
		sigmas[i] = math.Sqrt(variance) * f.scale
	}
	return sigmas
}

// priorSamples is how many samples the sigma of a family weighs against that of one series: few where the logarithms of the
// variances of series differ by more than they would by chance. That of n samples has a variance of 2/n.
func priorSamples(sigmas, known []float64) float64 {
	var logs []float64
	chance := 0.0
	for i, n := range known {
		if n > 0 {
			logs = append(logs, 2*math.Log(sigmas[i]))
			chance += 2 / n
		}
	}
	if len(logs) < fewSeries {
		return mostPrior
	}
	spread := stats.SigmaAbout(medianOf(logs), logs)
	apart := spread*spread - chance/float64(len(logs))
	return math.Min(mostPrior, 2/math.Max(apart, 2/float64(mostPrior)))
}
