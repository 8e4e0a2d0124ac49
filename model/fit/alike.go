package fit

import (
	"math"
	"slices"
)

// priorWeight is what the square of a bandwidth's distance from the mean of its level costs. It stands for a standard
// deviation of 1 in ln bandwidth. It decides only what the transfers leave open: with 3 % of noise one transfer that a
// link holds up weighs a thousand times as much.
func (f *fitter) priorWeight() float64 { return f.sigma * f.sigma }

// prior is what the distances of bandwidths from the mean of their level cost, as cost has residuals. Given
// links count in the mean.
func (f *fitter) prior() float64 {
	sum := 0.0
	mean := f.levelMeans()
	for l, level := range f.levelOf {
		if f.isPrior(l) {
			d := f.theta[l] - mean[level]
			sum += d * d / 2
		}
	}
	return f.priorWeight() * sum
}

// levelMeans are the means of ln bandwidth by level; NaN where none is known.
func (f *fitter) levelMeans() []float64 {
	mean, count := make([]float64, len(f.n.Levels())), make([]float64, len(f.n.Levels()))
	for l, level := range f.levelOf {
		if x := f.theta[l]; !math.IsNaN(x) {
			mean[level] += x
			count[level]++
		}
	}
	for i := range mean {
		mean[i] /= count[i]
	}
	return mean
}

// tieApart is by how much, in ln bandwidth, a level begins above the next coarser one if it is as fast: of two that
// are equal neither holds a transfer up by itself.
const tieApart = 0.05

// alikeRates are the ln bandwidths of the links that explain the transfers best if all of a level are alike; NaN on
// levels that none crosses.
func (f *fitter) alikeRates() []float64 {
	tied := f.tied
	tied.start()
	for i := len(f.n.Levels()) - 2; i >= 0; i-- {
		if above := tied.theta[i+1]; math.Abs(tied.theta[i]-above) < tieApart {
			tied.theta[i] = above + tieApart
		}
	}
	tied.search()
	rates := make([]float64, len(f.links))
	for l, level := range f.levelOf {
		rates[l] = tied.theta[level]
	}
	return rates
}

// searchFirst is the search from where all links of a level are alike, or from the highest throughput seen on a link if
// that is more. A link that is slower than it need be may explain what another one did; a fast one holds nothing up.
func (f *fitter) searchFirst() {
	alike := f.alikeRates()
	f.start()
	for l, x := range alike {
		if f.isSought(l) && f.theta[l] < x {
			f.theta[l] = x
		}
	}
	f.search()
}

// whole is the cost of the residuals and of the prior.
func (f *fitter) whole() float64 { return f.cost() + f.prior() }

// isPrior tells whether a parameter is a bandwidth that is looked for.
func (f *fitter) isPrior(k int) bool { return k < len(f.links) && f.isSought(k) }

// pull adds the prior to the gradient.
func (f *fitter) pull(gradient []float64) {
	weight, mean := f.priorWeight(), f.levelMeans()
	for k, level := range f.levelOf {
		if f.isPrior(k) {
			gradient[k] -= weight * (f.theta[k] - mean[level])
		}
	}
}

// isIdle tells whether no transfer would take longer if the link were a little slower. The derivatives do not tell: they
// are taken upward, where a link changes nothing either if the next one on the way is as slow.
func (f *fitter) isIdle(link int) bool {
	if math.IsNaN(f.theta[link]) {
		return true
	}
	return !f.changes(link, -changeOfRate, func(before, after float64) bool { return math.Abs(after-before) > leastSpread })
}

// changes tells whether the residual of some transfer over a link changes in a given way if the logarithm of its bandwidth
// changes by so much. O(patterns over the link).
func (f *fitter) changes(link int, by float64, isChange func(before, after float64) bool) bool {
	old := f.theta[link]
	f.theta[link] = old + by
	defer func() { f.theta[link] = old }()
	at := 0
	for i := range f.patterns {
		p := &f.patterns[i]
		before := f.residual[at : at+len(p.Flows)]
		at += len(p.Flows)
		if _, crosses := slices.BinarySearch(p.params, link); !crosses {
			continue
		}
		for k, after := range f.residuals(nil, p) {
			if isChange(before[k], after) {
				return true
			}
		}
	}
	return false
}

const (
	outOfTheWay = 3   // ln: a link of some twenty times the bandwidth
	leastDelay  = 0.1 // ln of time: what a link between switches costs some transfer, if its bandwidth shows
)

// holdsUp tells whether some transfer that is predicted well would be clearly faster if the link were out of the way. Otherwise the
// bandwidth is a lower bound, however small its error: of two links that are about as slow, noise decides which one holds
// a transfer up. The links of hosts are not asked, for transfers of few links tell them apart. O(patterns over the link).
func (f *fitter) holdsUp(link int) bool {
	if !f.n.Graph().IsSwitch(f.links[link].A) || !f.n.Graph().IsSwitch(f.links[link].B) {
		return true
	}
	return f.changes(link, outOfTheWay, func(with, without float64) bool { return math.Abs(with) < leastDelay/2 && without > leastDelay })
}
