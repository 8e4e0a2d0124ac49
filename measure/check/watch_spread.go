package check

import (
	"math"

	"github.com/topocast/topocast/internal/stats"
)

// spreads are the sigmas of series, from differences of samples that follow each other, which a step
// hardly changes: the series' own, drawn to that of the family by as much as the family's agree (Smyth 2004,
// https://doi.org/10.2202/1544-6115.1027).
func spreads(family []series) []float64 {
	var all []float64
	own := make([][]float64, len(family))
	for i, f := range family {
		last := math.NaN()
		for _, v := range f.x {
			if math.IsNaN(v) {
				continue
			}
			if !math.IsNaN(last) {
				own[i] = append(own[i], math.Abs(v-last)/f.scale)
			}
			last = v
		}
		all = append(all, own[i]...)
	}
	sigmas := make([]float64, len(family))
	typical := leastSeriesSpread
	if len(all) > 0 {
		typical = max(typical, stats.SigmaOfOne(all))
	}
	alone := make([]float64, len(family))
	for i := range family {
		alone[i] = math.Max(leastSeriesSpread, clippedSigma(own[i])) // NaN of none
	}
	prior := priorSamples(alone, own)
	for i, f := range family {
		variance, n := typical*typical, differenceWeight*float64(len(own[i]))
		if n > 0 {
			variance = (prior*variance + n*alone[i]*alone[i]) / (prior + n)
		}
		sigmas[i] = math.Sqrt(variance) * f.scale
	}
	return sigmas
}

// Mean squares of normal values that are clipped at so many sigma, in sigma squared: they lie below one by what is clipped.
const (
	differenceClip = 2.5
	clippedSquare  = 0.9776
)

// clippedSigma is the standard deviation of one value where differences are the absolute differences of two each: their mean square, where
// those that are far out count no more than differenceClip sigma (Huber 1964, https://doi.org/10.1214/aoms/1177703732). It
// reorders them.
func clippedSigma(differences []float64) float64 {
	sigma := stats.SigmaOfOne(differences) * math.Sqrt2 // of a difference
	for range 3 {
		sum := 0.0
		for _, d := range differences {
			d = math.Min(d, differenceClip*sigma)
			sum += d * d
		}
		sigma = math.Sqrt(sum / clippedSquare / float64(len(differences)))
	}
	return sigma / math.Sqrt2
}

// priorSamples is how many samples the sigma of a family weighs against that of one series: few where the logarithms of the
// variances of series differ by more than they would by chance. That of n samples has a variance of 2/n.
func priorSamples(sigmas []float64, differences [][]float64) float64 {
	var logs []float64
	chance := 0.0
	for i, sigma := range sigmas {
		if n := differenceWeight * float64(len(differences[i])); n > 0 {
			logs = append(logs, 2*math.Log(sigma))
			chance += 2 / n
		}
	}
	if len(logs) < fewSeries {
		return mostPrior
	}
	middle := medianOf(logs)
	off := make([]float64, len(logs))
	for i, x := range logs {
		off[i] = math.Abs(x - middle)
	}
	spread := stats.Sigma(off)
	apart := spread*spread - chance/float64(len(logs))
	return math.Min(mostPrior, 2/math.Max(apart, 2/float64(mostPrior)))
}
