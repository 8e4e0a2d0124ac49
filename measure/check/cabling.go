package check

import (
	"cmp"
	"maps"
	"math"
	"slices"

	"github.com/topocast/topocast/internal/words"
	"github.com/topocast/topocast/model/contention"
)

const (
	misfits    = 0.15 // share of a host's measurements that contradict its cable
	fits       = 0.8  // share that another switch has to explain
	fewSamples = 6    // measurements of a host that tell where it hangs

	alikeMisfit = 0.005 // switches that explain a host's measurements that much alike are not told apart
)

// misplacedHosts are hosts whose messages take what they would take from another switch. Their short messages take longer to the
// hosts next to them in the graph, and shorter to those of the other switch. Under load their long messages share other links. A slow
// host or cable is slow to all. Only hosts among the targets are looked at. What such a host explains is taken out of the samples.
// Each host that its place in the graph does not explain costs O(switches) wirings, and under load as many plays of all rounds.
func (r *measurements) misplacedHosts(targets []int32, tolerance, level float64) (found []effect) {
	k := ofLatency
	if r.w.load {
		k = ofRate
	}
	if !r.w.specified[k] {
		return nil
	}
	bar := math.Log1p(tolerance) + 3*r.sigma[k]
	of := make([][]int, r.w.hosts) // samples
	for i := range r.samples {
		if s := &r.samples[i]; s.kind == k {
			of[s.from], of[s.to] = append(of[s.from], i), append(of[s.to], i)
		}
	}
	fit := func(h int) float64 {
		return tallyOf(of[h], func(i int) bool { return math.Abs(r.samples[i].excess) <= bar }).share()
	}
	isDoubtful := func(h int) bool { return r.w.switchOf(h) >= 0 && len(of[h]) >= fewSamples && fit(h) <= 1-misfits }
	doubtful := slices.DeleteFunc(slices.Sorted(maps.Keys(r.hostsOf(targets))), func(h int) bool { return !isDoubtful(h) })
	slices.SortStableFunc(doubtful, func(a, b int) int { return cmp.Compare(fit(a), fit(b)) })
	for _, h := range doubtful {
		to := r.elsewhere(h, of[h])
		if to == nil || !isDoubtful(h) { // or another one that was moved has explained it
			continue
		}
		var gains []float64 // of the second part, which had no say
		for n, i := range of[h] {
			gain := math.Abs(r.samples[i].excess) - math.Abs(to[0].rest[n])
			if i >= r.screened && math.Abs(gain) >= bar/2 { // or else neither place tells it
				gains = append(gains, gain-bar/2)
			}
		}
		p, nan := min(1, signedRank(gains)*float64(len(doubtful)*len(r.w.switches()))), math.NaN()
		if p > level || tallyOf(to[0].rest, func(x float64) bool { return math.Abs(x) <= bar }).share() < fits {
			continue
		}
		var names []string
		for _, x := range to {
			names = append(names, r.w.name(x.at))
		}
		found = append(found, effect{place: place{h, -1}, candidate: byItself, Finding: Finding{
			What: cabling, From: r.w.name(r.w.switchOf(h)), To: words.Or(names), Factor: nan, Low: nan, High: nan, Often: 1, P: p, Measurements: len(of[h]),
		}})
		r.move(h, to, of[h])
	}
	return found
}

// A replug is a machine in which a host hangs on another switch, and the excesses that its samples have there.
type replug struct {
	*wiring
	at   int
	rest []float64
}

// elsewhere are the other switches that explain a host's samples best, all of them alike. Without another switch there is none.
func (r *measurements) elsewhere(h int, ids []int) (best []replug) {
	least := math.Inf(1)
	for _, at := range r.w.switches() {
		if at == r.w.switchOf(h) {
			continue
		}
		moved := r.w.moved(h, at)
		x := replug{moved, at, r.excessesIn(moved, h, ids)}
		switch m := misfit(x.rest); {
		case m < least-alikeMisfit:
			least, best = m, []replug{x}
		case m <= least+alikeMisfit:
			best = append(best, x)
		}
	}
	return best
}

// move takes out of the samples what a host explains that hangs elsewhere. Under load all groups are played again, and its transfers
// tell of no other place. One by one, long messages that shared links with its own tell of none: they were planned to go other ways.
func (r *measurements) move(h int, to []replug, ids []int) {
	at := place{h, -1}
	if r.w.load {
		for i := range r.groups {
			r.groups[i].flows = r.flowsIn(to[0].wiring, h, &r.groups[i])
		}
		r.playAgain()
		r.setAside(at)
		return
	}
	for n, i := range ids {
		r.samples[i].excess = to[0].rest[n]
	}
	var x path
	for _, g := range r.groups {
		for _, pair := range g.pairs {
			for _, moved := range to {
				if g.kind != ofRate || pair[0] != h && pair[1] != h || !moved.find(&x, pair[0], pair[1]) {
					continue
				}
				for k := g.first; k < g.last; k++ {
					if beside := &r.samples[k]; slices.ContainsFunc(x.arcs, func(e int32) bool { return slices.Contains(beside.route, e) }) {
						beside.aside = &at
					}
				}
			}
		}
	}
}

// excessesIn are the excesses of a host's samples if it hung where it does in another wiring.
func (r *measurements) excessesIn(moved *wiring, h int, ids []int) []float64 {
	rest := make([]float64, len(ids))
	var x path
	var times []float64 // s, of a group under load
	for n, i := range ids {
		s := &r.samples[i]
		rest[n] = s.excess
		switch {
		case r.w.load:
			if n == 0 || s.group != r.samples[ids[n-1]].group {
				times, _ = r.solver.Times(times[:0], r.flowsIn(moved, h, &r.groups[s.group]))
			}
			rest[n] -= math.Log(times[s.flow] / s.nominal)
		case moved.find(&x, s.from, s.to):
			rest[n] += math.Log(s.usual / r.line[ofLatency].at(moved.oneWay(&x)))
		}
	}
	return rest
}

// flowsIn are the transfers of a group with those of a host on its routes in another wiring.
func (r *measurements) flowsIn(moved *wiring, h int, g *group) []contention.Flow {
	flows := slices.Clone(g.flows)
	var x path
	for i, ends := range g.pairs {
		if (ends[0] == h || ends[1] == h) && moved.find(&x, ends[0], ends[1]) {
			flows[i].Data = moved.addSwitches(slices.Clone(x.arcs[:x.turn]))
		}
	}
	return flows
}

// misfit is how badly some excesses are explained: the mean of their sizes, none of which counts for more than a factor
// of two.
func misfit(excesses []float64) float64 {
	sum := 0.0
	for _, x := range excesses {
		sum += min(math.Abs(x), math.Ln2)
	}
	return sum / float64(len(excesses))
}
