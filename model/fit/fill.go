package fit

import (
	"math"
	"slices"

	"github.com/topocast/topocast/model/contention"
	"github.com/topocast/topocast/topology"
)

// A loneTransfer was timed while nothing else was under way.
type loneTransfer struct {
	flow  *contention.Flow
	level int     // that joins its ranks
	rate  float64 // B/s
}

// fill returns the arcs with a bandwidth for each link. A link that transfers speak for has a measured bandwidth. That of each
// other link has the mark Arc.Estimated.
//
//   - Transfers speak for a link that is determined, if some would have been faster without it (holdsUp).
//   - Transfers speak for a link that was crossed by a transfer between hosts that need no coarser link, unless finer links
//     of its route would have held it up as well: an uplink that single pairs of hosts crossed carries at least what the
//     links of hosts do.
//   - Where all transfers alone over a link were slow, they speak for the link if it is blamed for that.
//   - No transfer speaks for a link that held none up, nor for a bandwidth above all that was seen on the link. Where
//     several routes are possible, several transfers may have crossed different links: what each had by itself counts.
//
// Any other link has at most a lower bound, whatever the search found. Its estimate is what is typical of its level, or
// what it carried if that is more. A link that was only crossed while others were under way, and may have held transfers up, is
// estimated as the search found it.
//
// Typical is the median over the links of a level that are determined, or that transfers of their level crossed.
func (f *fitter) fill() []topology.Arc {
	level := linkLevels(f.n)
	var single, slow []loneTransfer
	own := make([]bool, len(f.links)) // a transfer of the link's level speaks for it
	isForest := f.n.Graph().IsForest()
	sure := make([]bool, len(f.links))       // transfers over it have no other route
	carried := make([]float64, len(f.links)) // B/s of what was seen on the link; 0: nothing
	for arc, l := range f.linkOf {
		sure[l] = isCrossedForSure(f.n.Graph(), isForest, arc)
		if sure[l] && !math.IsNaN(f.lowest[l]) {
			carried[l] = math.Exp(f.lowest[l])
		}
	}
	rates := make([][]float64, len(f.n.Levels())) // of transfers alone
	for i := range f.patterns {
		p := &f.patterns[i]
		for k, j := range p.Flows {
			rate := rateOf(p, k)
			for _, c := range j.Data {
				l := f.linkOf[c]
				carried[l] = max(carried[l], rate)
				own[l] = own[l] || level[c] == p.level[k] && !f.hides(j.Data, level, level[c], f.links[l].Bandwidth)
			}
		}
		if len(p.Flows) == 1 {
			j := &p.Flows[0]
			x := loneTransfer{j, p.level[0], rateOf(p, 0)}
			single, rates[x.level] = append(single, x), append(rates[x.level], x.rate)
		}
	}
	typical := quantiles(rates, fastShare)
	usual := make([]bool, len(f.links))      // crossed by one as fast as is usual
	fastest := make([]float64, len(f.links)) // B/s of a transfer alone; 0: none
	for _, x := range single {
		isUsual := x.rate >= usualShare*typical[x.level]
		for _, c := range x.flow.Data {
			l := f.linkOf[c]
			usual[l], fastest[l] = usual[l] || isUsual, max(fastest[l], x.rate)
		}
		if !isUsual {
			slow = append(slow, x)
		}
	}
	blamed := f.blamed(slow, fastest)
	bounded := make([]bool, len(f.links)) // by transfers that others may have held up
	for l := range f.links {
		bounded[l] = fastest[l] == 0 && f.links[l].isIdle && !f.links[l].Given
	}
	speaks := make([]bool, len(f.links))
	rates = make([][]float64, len(f.n.Levels()))
	for l, level := range f.levelOf {
		link := &f.links[l]
		if !math.IsNaN(link.Bandwidth) && (own[l] && !bounded[l] || link.Determined) {
			rates[level] = append(rates[level], link.Bandwidth)
		}
		isSeen := link.Bandwidth <= carried[l]*(1+tieApart)
		switch {
		case link.Given:
			speaks[l] = true
		case bounded[l]:
		case fastest[l] > 0 && !usual[l]:
			speaks[l] = blamed[l]
		case link.Determined && !link.isHidden:
			speaks[l] = sure[l] || isSeen
		default:
			speaks[l] = own[l] && isSeen
		}
	}
	typical = quantiles(rates, 0.5)
	arcs := slices.Clone(f.n.Graph().Arcs())
	for i := range arcs {
		l := f.linkOf[i]
		found := f.links[l].Bandwidth
		isKept := speaks[l] || fastest[l] == 0 && !bounded[l]
		if !isKept {
			found = min(found, carried[l])
		}
		if !math.IsNaN(found) && (isKept || !(found < typical[level[i]])) {
			arcs[i].Bandwidth, arcs[i].Estimated = found, !speaks[l]
		}
	}
	estimate(arcs, level, typical)
	return arcs
}

// hides tells whether some link on a route, of a finer level than the given one, is about as slow as the given bandwidth in B/s.
func (f *fitter) hides(route []int32, level []int, coarse int, bandwidth float64) bool {
	return slices.ContainsFunc(route, func(c int32) bool {
		return level[c] < coarse && f.links[f.linkOf[c]].Bandwidth <= bandwidth*blameShare
	})
}

// rateOf is the mean rate in B/s of a transfer from when its bytes begin to flow.
func rateOf(p *fitPattern, transfer int) float64 {
	f, seconds := &p.Flows[transfer], p.seconds[transfer]
	return f.Bytes / max(seconds-(f.Start-p.Transfers[transfer].Start), leastMoving*seconds)
}

// leastMoving is the share of a transfer's time that its bytes take at least: where the latency
// of the path is as long as the whole, the rate is high, and not infinite.
const leastMoving = 1e-3

// usualShare of the rate of the fastShare-quantile of its level makes a transfer one of
// usual speed. The median will not do: of three racks one slow uplink slows down two
// pairs of three.
const (
	usualShare = 0.8
	fastShare  = 0.9
)

// quantiles are those of lists, NaN of empty ones.
func quantiles(lists [][]float64, q float64) []float64 {
	out := make([]float64, len(lists))
	for i, list := range lists {
		if out[i] = math.NaN(); len(list) > 0 {
			out[i] = quantile(list, q)
		}
	}
	return out
}
