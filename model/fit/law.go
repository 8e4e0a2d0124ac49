package fit

import (
	"math"
	"slices"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/stat"

	"github.com/topocast/topocast/model"
)

// otherLaw is how much of a simpler law's deviation another may leave to be taken. Less than 2 % is not told from chance
// with ten to a hundred patterns.
const otherLaw = 0.98

// The parameters of a law follow the bandwidths.
const (
	coupling   = iota
	duplex     // of links of hosts
	connection // the same of connections
	bias       // by round-trip times
	ofLaw
)

// A sharingLaw tells which parameters a fit looks for; the others are 0, which is fair sharing.
type sharingLaw [ofLaw]bool

// furtherParameters are what may be added to fair sharing, in the order in which they are tried.
func furtherParameters() []sharingLaw {
	return []sharingLaw{{coupling: true}, {bias: true}, {duplex: true, connection: true}}
}

// A lawParameter is where the search for a parameter begins, its range, and its greatest standard error. Beyond that it is
// not told from fair sharing, and unsure is the warning.
type lawParameter struct {
	first, least, most, sure float64
	unsure                   string
}

// fullDuplex is the factor of a link that nothing but itself holds up.
const fullDuplex = 2

// lawParameters are those of the parameters of a law. Shares as RTT^-2 are beyond every law of TCP (Mathis et al. 1997 has
// RTT^-1).
func lawParameters() [ofLaw]lawParameter {
	return [ofLaw]lawParameter{
		coupling:   {0.5, 0, 1, 0.1, "few transfers against the stream: the coupling of links is not determined"},
		duplex:     {1.5, 1, fullDuplex, 0.1, ""},
		connection: {1.5, 1, fullDuplex, 0.1, ""},
		bias:       {0, -2, 2, 0.2, "few transfers of different round-trip times share a link: the RTT bias is not determined"},
	}
}

// lawNow is the law of the parameters as they are.
func (f *fitter) lawNow() model.Law {
	at := f.theta[len(f.links):]
	return model.Law{Coupling: at[coupling], Duplex: at[duplex], Connection: at[connection], RTTBias: at[bias]}
}

// isSought tells whether a parameter is looked for.
func (f *fitter) isSought(k int) bool {
	if k >= len(f.links) {
		return f.law[k-len(f.links)]
	}
	return !math.IsNaN(f.theta[k]) && !f.links[k].Given
}

// chooseLaw finds out which parameters of the law there are to find. It begins with fair sharing. It adds parameters where
// they predict patterns better that the fit has not seen (heldOut, explainsMore): parameters that explain nothing would
// not stay at zero by themselves, as they follow the noise. With fewer than ten patterns of several transfers coupling
// and RTT bias are both looked for. It ends with the search that fits best.
func (f *fitter) chooseLaw() {
	if len(f.several()) < manyPatterns {
		f.law = sharingLaw{coupling: true, bias: true}
		f.searchFirst()
		return
	}
	f.searchFirst()
	f.unseen = f.heldOut()
	for _, more := range furtherParameters() {
		if more[duplex] && quantileOff(slices.Concat(f.unseen...), 0.9) <= explained {
			break // a fit to both directions takes twice as long
		}
		law, theta := f.law, f.theta
		f.theta = slices.Clone(theta)
		for k, p := range lawParameters() {
			if more[k] {
				f.law[k], f.theta[len(f.links)+k] = true, p.first
			}
		}
		f.search()
		if with := f.heldOut(); explainsMore(with, f.unseen) {
			f.unseen = with
		} else {
			f.law, f.theta = law, theta
		}
	}
	f.settle() // residuals and derivatives of them
}

// explainsMore tells whether a law predicts patterns better than a simpler one: by 2 % and by two standard errors
// of what it gains from pattern to pattern.
func explainsMore(with, without [][]float64) bool {
	var gains []float64
	gain, before := 0.0, 0.0
	for i := range without {
		was := floats.Norm(without[i], 1)
		gains = append(gains, was-floats.Norm(with[i], 1))
		gain, before = gain+gains[i], before+was
	}
	_, deviation := stat.MeanStdDev(gains, nil)
	return gain > (1-otherLaw)*before && gain > surely*deviation*math.Sqrt(float64(len(gains)))
}

// surely is in standard errors.
const surely = 2

// several are the patterns of more than one transfer.
func (f *fitter) several() []fitPattern {
	return slices.DeleteFunc(slices.Clone(f.patterns), func(p fitPattern) bool { return len(p.Flows) == 1 })
}

// explained is what nine of ten transfers that the fit has not seen are off by where it explains them. Noise of 3 % makes
// less than that.
const explained = 0.08
