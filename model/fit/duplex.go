package fit

import (
	"math"
	"slices"

	"github.com/topocast/topocast/model"
	"github.com/topocast/topocast/model/contention"
)

// firstDuplex is in the middle of what a duplex factor may be.
const firstDuplex = 1.5

// fullDuplex is the factor of a link that nothing but itself holds up.
const fullDuplex = 2

// Duplex factors are looked for if, without them, a tenth of the transfers that the fit has not seen is off by
// more than unexplained. Noise of 3 % makes less than that. They are kept if they leave at most
// keptDuplex of the mean deviation of patterns that the fit has not seen.
const (
	unexplained = 0.08
	keptDuplex  = 0.8
)

// duplexOf, connection and bias are the places of parameters that follow the couplings.
func (f *fitter) duplexOf(class int) int { return len(f.links) + len(f.classes) + class }
func (f *fitter) connection() int        { return f.duplexOf(len(f.classes)) }
func (f *fitter) bias() int              { return f.connection() + 1 }

// both numbers the link of an arc, both directions alike: by the lower of their arcs.
func (f *fitter) both(arc int32) int32 {
	a := f.n.Graph().Arcs()[arc]
	if back := f.n.Graph().ArcIndex(a.To, a.From); back >= 0 {
		return min(arc, int32(back))
	}
	return arc
}

// share finds the channels of a pattern that both directions of a link, or of a connection, share.
func (f *fitter) share(p *fitPattern, transfers []model.Transfer) {
	arcs := f.n.Graph().Arcs()
	direction := make(map[int32]bool) // of the first transfer over a link
	p.connection, p.connections = model.Connections(transfers)
	for i, j := range p.flows {
		both := slices.Clone(j.Data)
		for _, c := range j.Data {
			link := f.both(c)
			up := arcs[c].From < arcs[c].To
			if first, is := direction[link]; is && first != up {
				p.opposed = true
			}
			direction[link] = up
			both = append(both, int32(len(arcs))+link)
		}
		if k := p.connection[i]; k >= 0 {
			both = append(both, int32(f.shared+k))
		}
		j.Data = both
		p.limited = append(p.limited, j)
	}
}

// limit sets the capacities of what both directions share, and returns the transfers of a pattern over these channels.
func (f *fitter) limit(p *fitPattern) []contention.Flow {
	g := f.n.Graph()
	for i, j := range p.flows {
		for _, c := range j.Data {
			a := g.Arcs()[c]
			if back := g.ArcIndex(a.To, a.From); back >= 0 {
				must(f.solver.SetCapacity(g.NumArcs()+int(f.both(c)), model.BothWays(f.rate(c), f.rate(int32(back)), f.theta[f.duplexOf(f.classOf[c])])))
			}
		}
		if k := p.connection[i]; k >= 0 {
			must(f.solver.SetCapacity(f.shared+k, model.BothWays(f.least(j.Data), f.least(j.Reverse), f.theta[f.connection()])))
		}
	}
	return p.limited
}

// least is the lowest bandwidth in B/s of a route.
func (f *fitter) least(route []int32) float64 {
	rate := math.Inf(1)
	for _, c := range route {
		rate = min(rate, f.rate(c))
	}
	return rate
}

// isDuplex tells whether a parameter is a duplex factor.
func (f *fitter) isDuplex(k int) bool { return k >= f.duplexOf(0) && k < f.bias() }

// chooseDuplex finds out whether both directions of links or connections share something: where
// transfers are not explained without it, and patterns that the fit has not seen are better with it.
// It ends with the search that fits best.
func (f *fitter) chooseDuplex() {
	opposed := 0
	for _, p := range f.patterns {
		if p.opposed {
			opposed++
		}
	}
	if opposed < 2 || f.unseen == nil || tenthWorst(f.unseen) <= unexplained {
		return
	}
	without, theta := f.unseen, f.theta
	f.duplex = true
	f.startAt(theta[:len(f.links)])
	f.search()
	with := f.heldOut()
	if deviation(with) > keptDuplex*deviation(without) {
		f.duplex, f.theta = false, theta
		f.settle()
		return
	}
	f.unseen = with
}
