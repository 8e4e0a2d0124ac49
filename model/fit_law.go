package model

import (
	"math"

	"github.com/topocast/topocast/model/contention"
)

// otherLaw is how much of a simpler law's deviation another may leave to be taken: less than 2 % is
// not told from chance with ten to a hundred patterns.
const otherLaw = 0.98

// A sharingLaw is a way to share links that a fit may take.
type sharingLaw struct {
	fair     bool // no coupling and no RTT bias
	coupling contention.CouplingLaw
}

// sharingLaws are in the order in which they need a reason to be taken.
func sharingLaws() []sharingLaw {
	return []sharingLaw{{fair: true}, {coupling: contention.GeometricLaw}, {coupling: contention.LinearLaw}}
}

// chooseLaw takes the law that best predicts patterns that its fit has not seen (heldOut): the simplest unless
// the mean deviation of another is lower by 2 %. Parameters that explain nothing would not stay at zero by
// themselves: they follow the noise. With fewer than ten patterns of several transfers it is the geometric law.
// It ends with the search that fits best.
func (f *fitter) chooseLaw(steps int) {
	if f.several() < manyPatterns {
		f.searchFirst(steps)
		return
	}
	var best sharingLaw
	var theta, unseen, first []float64 // first: the bandwidths of the first law
	least := math.Inf(1)
	for _, law := range sharingLaws() {
		f.setLaw(law)
		if first == nil {
			f.searchFirst(steps)
			first = f.theta[:len(f.links)]
		} else {
			f.startAt(first)
			f.search(steps)
		}
		held := f.heldOut(steps)
		if d := deviation(held); d < otherLaw*least {
			best, theta, unseen, least = law, f.theta, held, d
		}
	}
	f.setLaw(best)
	f.theta, f.unseen = theta, unseen
	f.search(0) // residuals and derivatives of them
}

// several is the number of patterns of more than one transfer.
func (f *fitter) several() int {
	n := 0
	for _, p := range f.patterns {
		if len(p.flows) > 1 {
			n++
		}
	}
	return n
}

// deviation sums up what patterns are off by.
func deviation(residuals []float64) float64 {
	sum := 0.0
	for _, r := range residuals {
		sum += math.Abs(r)
	}
	return sum
}

func (f *fitter) setLaw(law sharingLaw) {
	f.law = law
	must(f.solver.SetLaw(law.coupling))
}

// isSharing tells whether a parameter is a coupling or the RTT bias.
func (f *fitter) isSharing(k int) bool {
	return k >= len(f.links) && k < f.duplexOf(0) || k == f.bias()
}
