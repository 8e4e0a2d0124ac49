package fit

import (
	"math"
	"slices"

	"gonum.org/v1/gonum/stat"
)

// otherLaw is how much of a simpler law's deviation another may leave to be taken: less than 2 % is
// not told from chance with ten to a hundred patterns.
const otherLaw = 0.98

// A sharingLaw is a way to share links that a fit may take.
type sharingLaw struct {
	fair bool // no coupling
	bias bool // with an RTT bias
}

// sharingLaws are in the order in which they need a reason to be taken.
func sharingLaws() []sharingLaw { return []sharingLaw{{fair: true}, {}, {bias: true}} }

// chooseLaw takes the law that best predicts patterns that its fit has not seen (heldOut): the simplest unless
// another is surely better (explainsMore). Parameters that explain nothing would not stay at zero by
// themselves: they follow the noise. With fewer than ten patterns of several
// transfers coupling and RTT bias are both looked for.
// It ends with the search that fits best.
func (f *fitter) chooseLaw() {
	if f.several() < manyPatterns {
		f.law = sharingLaw{bias: true}
		f.searchFirst()
		return
	}
	var best sharingLaw
	var theta, first []float64 // first: the bandwidths of the first law
	var unseen [][]float64
	for _, law := range sharingLaws() {
		f.law = law
		if first == nil {
			f.searchFirst()
			first = f.theta[:len(f.links)]
		} else {
			f.startAt(first)
			f.search()
		}
		if held := f.heldOut(); unseen == nil || explainsMore(held, unseen) {
			best, theta, unseen = law, f.theta, held
		}
	}
	f.law, f.theta, f.unseen = best, theta, unseen
	f.settle() // residuals and derivatives of them
}

// explainsMore tells whether a law predicts patterns better than a simpler one: by 2 % and by two standard errors
// of what it gains from pattern to pattern. What more than nine of ten transfers are off by counts as the tenth worst does
// (winsorised), of the law that has the worse: they have met with something that is in no law, and would decide alone.
func explainsMore(with, without [][]float64) bool {
	most := max(tenthWorst(with), tenthWorst(without))
	var gains []float64
	gain, before := 0.0, 0.0
	for i := range without {
		was := winsorised(without[i], most)
		gains = append(gains, was-winsorised(with[i], most))
		gain, before = gain+gains[i], before+was
	}
	_, deviation := stat.MeanStdDev(gains, nil)
	return gain > (1-otherLaw)*before && gain > surely*deviation*math.Sqrt(float64(len(gains)))
}

// surely is in standard errors.
const surely = 2

// tenthWorst is what nine of ten transfers are off by at most.
func tenthWorst(patterns [][]float64) float64 {
	var off []float64
	for _, r := range slices.Concat(patterns...) {
		off = append(off, math.Abs(r))
	}
	return quantile(off, 0.9)
}

// winsorised sums up what the transfers of a pattern are off by, each by no more than most.
func winsorised(residuals []float64, most float64) float64 {
	sum := 0.0
	for _, r := range residuals {
		sum += min(most, math.Abs(r))
	}
	return sum
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
func deviation(patterns [][]float64) float64 {
	sum := 0.0
	for _, p := range patterns {
		sum += winsorised(p, math.Inf(1))
	}
	return sum
}

// isCoupling tells whether a parameter is the coupling of a class.
func (f *fitter) isCoupling(k int) bool { return k >= len(f.links) && k < f.duplexOf(0) }
