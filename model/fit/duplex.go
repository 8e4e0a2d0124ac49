package fit

import (
	"math"
	"slices"

	"github.com/topocast/topocast/model"
)

// firstDuplex is in the middle of what a duplex factor may be.
const firstDuplex = 1.5

// fullDuplex is the factor of a link that nothing but itself holds up.
const fullDuplex = 2

// Duplex factors are looked for if, without them, a tenth of the concurrent transfers is off by
// more than unexplained. Noise of 3 % makes less than that. They are kept if they leave at most
// keptDuplex of the mean deviation of patterns that the fit has not seen.
const (
	unexplained = 0.08
	mostOf      = 0.9
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
func (f *fitter) share(p *fitPattern) {
	arcs := f.n.Graph().Arcs()
	direction := make(map[int32]bool) // of the first transfer over a link
	ends := func(i int) (src, dst int) {
		data := p.flows[i].Data
		return arcs[data[0]].From, arcs[data[len(data)-1]].To
	}
	for i := range p.flows {
		if len(p.flows[i].Data) == 0 {
			p.both = append(p.both, nil)
			continue
		}
		both := slices.Clone(p.flows[i].Data)
		for _, c := range p.flows[i].Data {
			link := f.both(c)
			up := arcs[c].From < arcs[c].To
			if first, is := direction[link]; is && first != up {
				p.opposed = true
			}
			direction[link] = up
			both = append(both, int32(len(arcs))+link)
		}
		p.both = append(p.both, both)
	}
	pairs := make(map[[2]int][]int) // transfers from one to the other
	for i := range p.flows {
		if len(p.flows[i].Data) > 0 {
			src, dst := ends(i)
			pairs[[2]int{src, dst}] = append(pairs[[2]int{src, dst}], i)
		}
	}
	for i := range p.flows {
		if len(p.flows[i].Data) == 0 {
			continue
		}
		src, dst := ends(i)
		forth, back := pairs[[2]int{src, dst}], pairs[[2]int{dst, src}]
		if forth[0] != i || len(back) == 0 || src > dst {
			continue
		}
		channel := int32(f.shared + len(p.connections))
		p.connections = append(p.connections, [2]int{i, back[0]})
		for _, k := range append(slices.Clone(forth), back...) {
			p.both[k] = append(p.both[k], channel)
		}
	}
}

// limit makes the transfers of a pattern cross what both directions share, and returns what undoes it.
func (f *fitter) limit(p *fitPattern) (undo func()) {
	arcs := f.n.Graph().Arcs()
	alone := make([][]int32, len(p.flows))
	least := func(i int) float64 {
		rate := math.Inf(1)
		for _, c := range alone[i] {
			rate = min(rate, f.rate(c))
		}
		return rate
	}
	for i := range p.flows {
		j := &p.flows[i]
		alone[i] = j.Data
		for _, c := range j.Data {
			back := f.n.Graph().ArcIndex(arcs[c].To, arcs[c].From)
			capacity := math.Inf(1)
			if back >= 0 {
				if other := f.rate(int32(back)); !math.IsInf(other, 1) {
					capacity = model.BothWays(f.rate(c), other, f.theta[f.duplexOf(f.classOf[c])])
				}
			}
			must(f.solver.SetCapacity(len(arcs)+int(f.both(c)), capacity))
		}
		j.Data = p.both[i]
	}
	for k, c := range p.connections {
		must(f.solver.SetCapacity(f.shared+k, model.BothWays(least(c[0]), least(c[1]), f.theta[f.connection()])))
	}
	return func() {
		for i := range p.flows {
			p.flows[i].Data = alone[i]
		}
	}
}

// isDuplex tells whether a parameter is a duplex factor.
func (f *fitter) isDuplex(k int) bool { return k >= f.duplexOf(0) && k < f.bias() }

// chooseDuplex finds out whether both directions of links or connections share something: where
// transfers are not explained without it, and patterns that the fit has not seen are better with it.
// It ends with the search that fits best.
func (f *fitter) chooseDuplex(steps int) {
	opposed := 0
	for _, p := range f.patterns {
		if p.opposed {
			opposed++
		}
	}
	if opposed < 2 || f.several() < manyPatterns || f.unexplained() <= unexplained {
		return
	}
	without, theta := f.unseen, f.theta
	f.duplex = true
	f.startAt(theta[:len(f.links)])
	f.search(steps)
	with := f.heldOut(steps)
	if deviation(with) > keptDuplex*deviation(without) {
		f.duplex, f.theta = false, theta
		f.search(0)
		return
	}
	f.unseen = with
}

// unexplained is what nine of ten transfers that were under way with others are off by at most.
func (f *fitter) unexplained() float64 {
	var off []float64
	at := 0
	for _, p := range f.patterns {
		for range p.flows {
			if len(p.flows) > 1 {
				off = append(off, math.Abs(f.residual[at]))
			}
			at++
		}
	}
	if len(off) == 0 {
		return 0
	}
	return quantile(off, mostOf)
}
