package check

import (
	"math"
	"slices"

	"github.com/topocast/topocast/internal/stats"
)

// slowHosts are those among some candidates that seem slow.
func (r *readings) slowHosts(targets []int32, tolerance float64) (hosts []int) {
	for _, c := range targets {
		at := r.c.placeOf(c)
		if at.v < 0 && at.u < r.w.hosts && !slices.Contains(hosts, at.u) && r.estimate(c) > 1+tolerance {
			hosts = append(hosts, at.u)
		}
	}
	return hosts
}

// couples are pairs of some hosts of which each is slow more often while the other transfers than while it rests (Fisher
// 1922, exact). While the other rests it is seldom slow.
func (r *readings) couples(hosts []int, tolerance, level float64) []effect {
	excess, busy := make([]map[int32]float64, len(hosts)), make([]map[int32]bool, len(hosts))
	for i, h := range hosts {
		excess[i], busy[i] = r.excessOf(h)
	}
	bar := math.Log1p(tolerance)
	var found []effect
	for i := range hosts {
		for j := range i {
			p, factors := 0.0, []float64(nil)
			for _, of := range [][2]int{{i, j}, {j, i}} {
				own, other := excess[of[0]], busy[of[1]]
				rounds, slow := map[bool]int{}, map[bool]int{} // by whether the other one transfers, too
				for round, x := range own {
					with := other[round]
					rounds[with]++
					if x > bar {
						slow[with]++
						if with {
							factors = append(factors, math.Exp(x))
						}
					}
				}
				if rounds[false] == 0 || seldom*slow[false] > rounds[false] {
					p = 1
					break
				}
				p = max(p, moreOften(slow[true], rounds[true], slow[false], rounds[false]))
			}
			if p *= float64(len(hosts)*(len(hosts)-1)) / 2; p > level {
				continue
			}
			x := effect{place{min(hosts[i], hosts[j]), max(hosts[i], hosts[j])}, byItself, 0, Finding{What: Together, Often: 1, P: p, Readings: len(factors) / 2}}
			x.holds(factors)
			found = append(found, x)
		}
	}
	return found
}

// seldom is one in so many of the rounds in which the other host rests.
const seldom = 4

// excessOf is how much longer the transfers of a host take that fill its cable than those of other hosts. It is a logarithm
// for each round of the second part. Busy are the rounds in which the host has any transfers.
func (r *readings) excessOf(host int) (excess map[int32]float64, busy map[int32]bool) {
	own, others := map[int32][]float64{}, map[int32][]float64{}
	busy = map[int32]bool{}
	for i := r.screened; i < len(r.samples); i++ {
		s := &r.samples[i]
		if s.from != host && s.to != host {
			others[s.group] = append(others[s.group], s.excess)
			continue
		}
		busy[s.group] = true
		if slices.ContainsFunc(r.crossings[s.first:s.last], func(cr crossing) bool { return r.c.placeOf(cr.candidate) == place{host, -1} }) {
			own[s.group] = append(own[s.group], s.excess)
		}
	}
	excess = make(map[int32]float64, len(own))
	for round, x := range own {
		if len(others[round]) > 0 {
			excess[round] = stats.MiddleMedian(x) - stats.MiddleMedian(others[round])
		}
	}
	return excess, busy
}

// explainCouple takes out of the samples what a couple makes of them.
func (r *readings) explainCouple(x effect) {
	_, a := r.excessOf(x.u)
	_, b := r.excessOf(x.v)
	for i := range r.samples {
		s := &r.samples[i]
		if a[s.group] && b[s.group] && (s.from == x.u || s.to == x.u || s.from == x.v || s.to == x.v) {
			s.excess -= min(math.Log(x.Factor), max(0, s.excess))
		}
	}
}
