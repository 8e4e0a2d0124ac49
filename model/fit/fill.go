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

// fill returns the arcs with a bandwidth for each link. A link keeps what the search found if transfers speak for it, and
// else gets what is typical of its level, with the mark Arc.Estimated.
//
//   - Transfers speak for a link that is determined, or that was crossed by a transfer between hosts that need no
//     coarser link, unless finer links of its route would have held it up as well: an uplink that single pairs of hosts
//     crossed carries at least what the links of hosts do.
//   - Where all transfers alone over a link were slow, the link is kept if it is blamed for that.
//   - A link that only longer routes crossed has a bound, which other links of these routes may have set. It is filled
//     if the routes were as fast as is usual and its level has more.
//   - A link that no transfer crossed alone and that held none up is at least as fast as what it carried.
//
// Typical is the median over the links of a level that transfers speak for.
func (f *fitter) fill() []topology.Arc {
	level := linkLevels(f.n)
	var single, slow []loneTransfer
	own := make([]bool, len(f.links))             // a transfer of the link's level speaks for it
	rates := make([][]float64, len(f.n.Levels())) // of transfers alone
	for i := range f.patterns {
		p := &f.patterns[i]
		for k, j := range p.Flows {
			for _, c := range j.Data {
				l := f.linkOf[c]
				own[l] = own[l] || level[c] == p.level[k] && !f.hides(j.Data, level, level[c], f.links[l].Bandwidth)
			}
		}
		if len(p.Flows) == 1 {
			j := &p.Flows[0]
			x := loneTransfer{j, p.level[0], j.Bytes / max(p.seconds[0]-(j.Start-p.Transfers[0].Start), leastMoving*p.seconds[0])}
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
		if !isUsual && !f.explained(x.flow, x.rate) {
			slow = append(slow, x)
		}
	}
	blamed := f.blamed(slow, fastest)
	bounded := make([]bool, len(f.links)) // by transfers that others may have held up
	for l := range f.links {
		bounded[l] = fastest[l] == 0 && f.links[l].isIdle && !f.links[l].Given
	}
	rates = make([][]float64, len(f.n.Levels()))
	for l, level := range f.levelOf {
		if link := &f.links[l]; !math.IsNaN(link.Bandwidth) && (own[l] && !bounded[l] || link.Determined) {
			rates[level] = append(rates[level], link.Bandwidth)
		}
	}
	typical = quantiles(rates, 0.5)
	arcs := slices.Clone(f.n.Graph().Arcs())
	for i := range arcs {
		l := f.linkOf[i]
		link := &f.links[l]
		explained := link.Determined || own[l] || !usual[l]
		switch {
		case bounded[l]:
			explained = false
		case fastest[l] > 0 && !usual[l] && !link.Given:
			explained = blamed[l]
		}
		if !math.IsNaN(link.Bandwidth) && (explained || !(link.Bandwidth < typical[level[i]])) {
			arcs[i].Bandwidth = link.Bandwidth
		}
	}
	estimate(arcs, level, typical)
	return arcs
}

// hides tells whether some link on a route, of a finer level than the given one, is as slow as the given bandwidth in B/s.
func (f *fitter) hides(route []int32, level []int, coarse int, bandwidth float64) bool {
	return slices.ContainsFunc(route, func(c int32) bool {
		return level[c] < coarse && f.links[f.linkOf[c]].Bandwidth <= bandwidth*(1+tieApart)
	})
}

// leastMoving is the share of a transfer's time that its bytes take at least: where the latency
// of the path is as long as the whole, the rate is high, and not infinite.
const leastMoving = 1e-3

// explained tells whether a link of given bandwidth lets a transfer alone through no
// faster than it was.
func (f *fitter) explained(j *contention.Flow, rate float64) bool {
	for _, c := range j.Data {
		if f.given[f.linkOf[c]] <= blameShare*rate {
			return true
		}
	}
	return false
}

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
