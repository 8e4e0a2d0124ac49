package model

import (
	"math"

	"github.com/topocast/topocast/model/contention"
)

// otherLaw is how much of the geometric law's deviation the linear one may leave to be
// taken: less than 2 % is not told from chance with ten to a hundred patterns.
const otherLaw = 0.98

// chooseLaw fits each law of coupling to four fifths of the patterns, and
// takes the one that predicts the rest better: the geometric one unless the
// other's mean deviation is lower by 2 %, or if there are fewer than ten patterns
// of several transfers.
func (f *fitter) chooseLaw(steps int) {
	all := f.patterns
	train, held := f.split()
	if held == nil {
		return
	}
	var deviation [2]float64
	for _, law := range [...]contention.CouplingLaw{contention.GeometricLaw, contention.LinearLaw} {
		f.setLaw(law)
		f.patterns = train
		f.start()
		f.search(steps)
		f.patterns = held
		f.allResiduals()
		for _, r := range f.residual {
			deviation[law] += math.Abs(r)
		}
	}
	f.setLaw(contention.GeometricLaw)
	if deviation[contention.LinearLaw] < otherLaw*deviation[contention.GeometricLaw] {
		f.setLaw(contention.LinearLaw)
	}
	f.patterns = all
	f.start()
}

// split takes a fifth of the patterns of several transfers from the others; none if
// these are fewer than ten.
func (f *fitter) split() (train, held []fitPattern) {
	several := 0
	for _, p := range f.patterns {
		if len(p.flows) > 1 {
			several++
		}
		if len(p.flows) > 1 && several%foldsOfMany == 0 {
			held = append(held, p)
		} else {
			train = append(train, p)
		}
	}
	if several < manyPatterns {
		return f.patterns, nil
	}
	return train, held
}

func (f *fitter) setLaw(law contention.CouplingLaw) {
	f.law = law
	must(f.solver.SetLaw(law))
}
