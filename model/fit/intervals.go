package fit

import (
	"fmt"
	"math"
	"slices"

	"github.com/topocast/topocast/internal/quantity"
)

// ratioSteps is the number of steps between the quantiles that a network keeps: 2.5 %, so that
// intervals of 90 and 95 % need no interpolation.
const ratioSteps = 40

// How patterns are held out. Five folds are what is usual; below ten patterns of several
// transfers a fifth is one of them, or none. Of two, one would be fitted alone.
const (
	foldsOfMany  = 5
	manyPatterns = 2 * foldsOfMany
	fewPatterns  = 3
)

// leastFree is the share of the residuals that are taken to be free of the parameters at least:
// n - parameters tells nothing where these are nearly as many. They are at most doubled.
const leastFree = 0.25

// leastOfLevel is how many residuals a level has quantiles of its own from: fewer have none of 2.5 %.
const leastOfLevel = ratioSteps - 1

// predictUnseen predicts patterns by fits that have not seen them, unless that was done to choose the law.
func (f *fitter) predictUnseen(steps int) {
	if f.unseen == nil {
		f.unseen = f.heldOut(steps)
	}
}

// unseenByLevel are the residuals of predictUnseen by the level of their transfers: messages inside hosts, which the
// processors carry, may be far less regular than those over links. None if there were too few patterns to be held out.
func (f *fitter) unseenByLevel(levels int) [][]float64 {
	out := make([][]float64, levels)
	if f.several() < fewPatterns {
		return out
	}
	k := 0
	for _, p := range f.patterns {
		if len(p.flows) == 1 {
			continue
		}
		for i, level := range p.level {
			out[level] = append(out[level], f.unseen[k][i])
		}
		k++
	}
	return out
}

// ratiosOf are quantiles of measured over predicted times, evenly spaced, from
// residuals of predictions, not of the fit: see heldOut. The k-th of n
// residuals is taken as the k/(n+1)-quantile, for the next one falls below it
// with that probability (V. Vovk et al. 2005, Algorithmic Learning in a Random World, 2.2).
func ratiosOf(residuals []float64) []float64 {
	sorted := slices.Sorted(slices.Values(residuals))
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

// heldOut are the residuals of the patterns of several transfers, in their order, each predicted
// by parameters that were fitted to four fifths of these patterns without it (to
// all others if they are fewer than ten): they hold the errors of the parameters
// besides the noise. The fits follow the derivatives of the one to all patterns, which has to have been found:
// a fifth of the patterns hardly moves the parameters, and derivatives take most of the time. With fewer than three such patterns they are the residuals of the fit, all in one,
// widened by what its parameters have taken out of them.
func (f *fitter) heldOut(steps int) [][]float64 {
	all, theta := f.patterns, f.theta
	several := f.several()
	folds := foldsOfMany
	switch {
	case several < fewPatterns:
		return [][]float64{f.widened()}
	case several < manyPatterns:
		folds = several
	}
	out := make([][]float64, several)
	for fold := range folds {
		var train, held []fitPattern
		var number []int // of those held out
		k := 0
		for _, p := range all {
			if len(p.flows) > 1 {
				k++
			}
			if len(p.flows) > 1 && k%folds == fold {
				held, number = append(held, p), append(number, k-1)
			} else {
				train = append(train, p)
			}
		}
		f.patterns, f.theta = train, slices.Clone(theta)
		f.follow(steps)
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

// widened are the residuals, larger by what the fitted parameters have taken
// out of them.
func (f *fitter) widened() []float64 {
	free := 0
	for k := range f.theta {
		if f.diagonal[k] > blind {
			free++
		}
	}
	n := float64(len(f.residual))
	widen := math.Sqrt(n / max(n*leastFree, n-float64(free)))
	out := slices.Clone(f.residual)
	for i := range out {
		out[i] *= widen
	}
	return out
}
