package fit

import (
	"fmt"
	"math"
	"slices"

	"github.com/topocast/topocast/internal/quantity"
	"gonum.org/v1/gonum/stat"
	"gonum.org/v1/gonum/stat/distuv"
)

// ratioSteps is the number of steps between the quantiles that a network keeps: 2.5 %, so that
// intervals of 90 and 95 % need no interpolation.
const ratioSteps = 40

// Patterns of several transfers are held out in five folds. With fewer than ten patterns nothing is held out: a fold
// would be one of them, and intervals of 90 % from five held 75 %.
const (
	folds        = 5
	manyPatterns = 2 * folds
)

// leastOfLevel is how many residuals a level has quantiles of its own from: fewer have none of 2.5 %.
const leastOfLevel = ratioSteps - 1

// unseenByLevel are the residuals of patterns that the fit has not seen by the level of their transfers: messages inside
// hosts, which the processors carry, may be far less regular than those over links.
func (f *fitter) unseenByLevel() [][]float64 {
	out := make([][]float64, len(f.n.Levels()))
	for k, p := range f.several() {
		for i, level := range p.level {
			out[level] = append(out[level], f.unseen[k][i])
		}
	}
	return out
}

// addDeviations makes the residuals of medians those of single times. A residual gets one value of its transfer's normal
// distribution. The values are spread evenly: multiples of the golden ratio fill [0, 1) so.
func (f *fitter) addDeviations() {
	const golden = math.Phi - 1
	at := 0.0
	for k, p := range f.several() {
		for i, deviation := range p.deviations {
			at = math.Mod(at+golden, 1)
			f.unseen[k][i] += deviation * distuv.UnitNormal.Quantile(at)
		}
	}
}

// ratiosOf are quantiles of measured over predicted times, evenly spaced, from
// residuals of predictions, not of the fit: see heldOut. The k-th of n
// residuals is taken as the k/(n+1)-quantile, for the next one falls below it
// with that probability (V. Vovk et al. 2005, Algorithmic Learning in a Random World, 2.2).
//
// Residuals of n patterns are widened by n/(n-1): the fits of heldOut begin where the fit to all patterns ended, so a
// pattern that was held out still has its share of 1/n in the parameters.
func ratiosOf(residuals []float64, patterns int) []float64 {
	sorted := slices.Sorted(slices.Values(residuals))
	for i := range sorted {
		sorted[i] *= float64(patterns) / float64(patterns-1)
	}
	n := len(sorted)
	out := make([]float64, ratioSteps+1)
	for i := range out {
		at := min(max(0, float64(i)/ratioSteps*float64(n+1)-1), float64(n-1))
		low := int(at)
		high := min(low+1, n-1)
		out[i] = math.Exp(sorted[low] + (at-float64(low))*(sorted[high]-sorted[low]))
	}
	return out
}

// misses is the mean of |ln(measured/predicted)| from which on a fit is warned of: twice what predictions of concurrent
// transfers come to where the law holds and times are quiet.
const misses = 0.1

// missWarning says of a fit that misses what it has not seen, of which ratios are quantiles, by how much; "" if it does not.
func missWarning(ratios []float64) string {
	sum := 0.0
	for _, x := range ratios {
		sum += math.Abs(math.Log(x))
	}
	off := sum / float64(len(ratios))
	if off <= misses {
		return ""
	}
	const tail = ratioSteps / 20 // 5 %
	return fmt.Sprintf("transfers that the fit had not seen are off its predictions by %s in the mean: of ten, nine took %.2f to %.2f times as long",
		quantity.Percent(math.Expm1(off)), ratios[tail], ratios[ratioSteps-tail])
}

// heldOut are the residuals of the patterns of several transfers, in their order. Each is predicted by parameters that
// were fitted to four fifths of these patterns without it, so that they hold the errors of the parameters besides the
// noise. There have to be manyPatterns. The fits follow the derivatives of the one to all patterns, which has to have
// been found: a fifth of the patterns hardly moves the parameters, and derivatives take most of the time.
func (f *fitter) heldOut() [][]float64 {
	all, theta := f.patterns, f.theta
	out := make([][]float64, len(f.several()))
	for fold := range folds {
		var train, held []fitPattern
		var number []int // of those held out
		k := 0
		for _, p := range all {
			if len(p.Flows) > 1 {
				k++
			}
			if len(p.Flows) > 1 && k%folds == fold {
				held, number = append(held, p), append(number, k-1)
			} else {
				train = append(train, p)
			}
		}
		f.patterns, f.theta = train, slices.Clone(theta)
		f.follow()
		for i := range held {
			out[number[i]] = f.residuals(nil, &held[i])
		}
	}
	f.patterns, f.theta = all, theta
	f.allResiduals()
	f.sigma = f.spread()
	f.equations()
	return out
}

// quantile is the p-quantile of unsorted values, at least one.
func quantile(x []float64, p float64) float64 {
	return stat.Quantile(p, stat.LinInterp, slices.Sorted(slices.Values(x)), nil)
}

// quantileOff is the p-quantile of how far values are from 0.
func quantileOff(x []float64, p float64) float64 {
	off := make([]float64, len(x))
	for i := range x {
		off[i] = math.Abs(x[i])
	}
	return quantile(off, p)
}
