package fit

import (
	"math"
	"slices"

	"github.com/topocast/topocast/model/contention"
	"github.com/topocast/topocast/topology"
)

// fill gives bandwidths to the links of which the transfers say nothing, those
// typical of their level, and returns the arcs.
//
// Where all transfers over a link were slow, it is kept if it is one of the links
// blamed for that. Typical is the median of the links that were determined, or crossed by a
// transfer that needs no coarser link. Of a link that only longer ways crossed
// the fit knows a bound, which the other links of those ways may have set: where
// these ways were as fast as is usual between their levels, nothing speaks against the
// link, and it is filled, too, if its level has more. So is a link that no transfer crossed alone and that held
// none up: it is as fast as what it carried, at least.
func (f *fitter) fill() []topology.Arc {
	level := linkLevels(f.n)
	own := make([]bool, len(f.links))             // crossed by a transfer of the link's level
	usual := make([]bool, len(f.links))           // crossed by one as fast as is usual
	rates := make([][]float64, len(f.n.Levels())) // of transfers alone
	alone := func(visit func(j *contention.Flow, joined int, rate float64)) {
		for i := range f.patterns {
			if p := &f.patterns[i]; len(p.flows) == 1 {
				j := &p.flows[0]
				visit(j, p.level[0], j.Bytes/max(p.seconds[0]-(j.Start-p.begin[0]), leastMoving*p.seconds[0]))
			}
		}
	}
	alone(func(_ *contention.Flow, joined int, rate float64) { rates[joined] = append(rates[joined], rate) })
	typical := quantiles(rates, fastShare)
	fastest := make([]float64, len(f.links)) // B/s of a transfer alone; 0: none
	var slow []*contention.Flow
	var slowRates []float64
	alone(func(j *contention.Flow, joined int, rate float64) {
		isUsual := rate >= usualShare*typical[joined]
		for _, c := range j.Data {
			l := f.linkOf[c]
			usual[l], fastest[l] = usual[l] || isUsual, max(fastest[l], rate)
		}
		if !isUsual && !f.explained(j, rate) {
			slow, slowRates = append(slow, j), append(slowRates, rate)
		}
	})
	blamed := f.blamed(slow, slowRates, fastest)
	for i := range f.patterns {
		p := &f.patterns[i]
		for k, j := range p.flows {
			for _, c := range j.Data {
				own[f.linkOf[c]] = own[f.linkOf[c]] || level[c] == p.level[k]
			}
		}
	}
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
