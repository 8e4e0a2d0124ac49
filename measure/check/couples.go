package check

import (
	"maps"
	"math"
	"slices"
)

// hostsOf are the hosts among some candidates, each with the first of its candidates.
func (r *measurements) hostsOf(targets []int32) map[int]int32 {
	hosts := map[int]int32{}
	for _, c := range targets {
		at := r.c.all[c].place
		if _, seen := hosts[at.u]; !seen && r.w.isHost(at) {
			hosts[at.u] = c
		}
	}
	return hosts
}

// slowHosts are those among some candidates that seem slow, each with the first of its candidates that does.
func (r *measurements) slowHosts(targets []int32, tolerance float64) map[int]int32 {
	return r.hostsOf(slices.DeleteFunc(slices.Clone(targets), func(c int32) bool { return r.estimate(c) <= 1+tolerance }))
}

// couples are pairs of slow hosts of which each is slow more often while the other transfers than while it rests (Fisher
// 1922, exact). While the other rests it is seldom slow. What they explain is taken out of the samples.
func (r *measurements) couples(slow map[int]int32, tolerance, level float64) []effect {
	hosts := slices.Sorted(maps.Keys(slow))
	excess, bar := map[int][]difference{}, map[int]float64{}
	for _, h := range hosts {
		excess[h], bar[h] = r.differences(slow[h], r.tested[slow[h]]), max(math.Log1p(tolerance), math.Log(r.estimate(slow[h]))/2)
	}
	var found []effect
	for j, b := range hosts {
		for _, a := range hosts[:j] {
			p, factors := 0.0, []float64(nil)
			for _, of := range [][2]int{{a, b}, {b, a}} {
				slow := map[bool]*tally{false: {}, true: {}} // by whether the other one transfers, too
				for _, d := range excess[of[0]] {
					with, isSlow := r.groups[d.group].has(of[1]), d.least > bar[of[0]]
					slow[with].add(isSlow)
					if with && isSlow {
						factors = append(factors, math.Exp(d.excess))
					}
				}
				if slow[false].all == 0 || !slow[false].isSeldom() {
					p = 1
					break
				}
				p = max(p, slow[true].moreOften(*slow[false]))
			}
			if p *= float64(len(hosts)*(len(hosts)-1)) / 2; p > level {
				continue
			}
			x := effect{place: place{a, b}, candidate: byItself, Finding: Finding{What: together, Often: 1, P: p, Measurements: len(factors) / 2}}
			x.holds(factors)
			found = append(found, x)
		}
	}
	for _, x := range found {
		for i := range r.samples {
			s := &r.samples[i]
			of := func(h int) bool { return s.from == h || s.to == h }
			if g := &r.groups[s.group]; (of(x.u) || of(x.v)) && g.has(x.u) && g.has(x.v) {
				s.excess -= min(math.Log(x.Factor), max(0, s.excess))
			}
		}
	}
	return found
}
