package check

import (
	"cmp"
	"math"
	"math/bits"
	"slices"

	"github.com/topocast/topocast/model/contention"
)

// A transfer depends on all others that are under way with it. What it should take follows from fair sharing of arcs and
// switches (package contention), which is played once for each group of transfers. One by one all have room. Under load a link that
// is found to be slow changes the times of transfers that never cross it. So all groups are played again when a link is named.

const (
	fullEnough   = 0.6 // of what a channel can carry for its rate to be read: one at half its rate begins to show at 0.5
	nearlyFilled = 0.8 // the same of a link under load: one that is slower by a quarter shows
)

// addTransfers takes over what long messages took between pairs that were under way at once, in s. One by one a short message answers
// each, and short are the samples of short messages of the same pairs, -1 where there is none.
func (r *measurements) addTransfers(pairs [][2]int, seconds []float64, short []int, learn func(usage []float64)) error {
	flows, paths := make([]contention.Flow, len(pairs)), make([]path, len(pairs))
	for i, pair := range pairs {
		r.w.find(&paths[i], pair[0], pair[1])
		flows[i] = contention.Flow{Data: r.w.addSwitches(slices.Clone(paths[i].arcs[:paths[i].turn])), Bytes: r.bytes}
	}
	shares, times, err := r.share(flows)
	if err != nil {
		return err
	}
	learn(shares.usage)
	r.begin(ofRate, pairs, flows)
	for i, pair := range pairs {
		x := &paths[i]
		s := sample{flow: i, from: pair[0], to: pair[1], value: seconds[i], nominal: times[i], route: x.arcs, short: short[i]}
		if r.w.load {
			s.route = x.arcs[:x.turn]
			s.limit, s.inner = shares.limit(r.w, s.route)
		} else {
			s.nominal += 2 * r.w.oneWay(x)
		}
		if !r.addSample(s) {
			continue
		}
		weight := times[i] / s.nominal
		for _, c := range flows[i].Data {
			full := min(1, shares.rates[i]/shares.level[c]*shares.usage[c]/r.w.capacity[c])
			isArc := int(c) < len(r.w.link)
			if full < fullEnough || isArc && r.w.load && full < nearlyFilled || !isArc && !r.w.load { // one by one no switch is full
				continue
			}
			r.cross(r.c.ofChannel(c), weight, full)
			if isArc && r.w.load {
				r.cross(r.c.ofLink(r.w.link[c]), weight, full)
			}
		}
		r.cross(r.c.ofHost(s.from, slowSend), 1, 1)
		r.cross(r.c.ofHost(s.to, slowReceive), 1, 1)
	}
	return nil
}

// shares are what transfers get while all of a group are under way.
type shares struct {
	rates []float64 // B/s of each
	users []int     // of each channel
	usage []float64 // B/s of each channel
	level []float64 // B/s: what the fastest transfer over a channel gets
}

// share finds what transfers get, and how long they take in s.
func (r *measurements) share(flows []contention.Flow) (*shares, []float64, error) {
	n := len(r.w.capacity)
	s := &shares{users: make([]int, n), usage: make([]float64, n), level: make([]float64, n)}
	if r.w.graph == nil { // then all are alike
		return s, slices.Repeat([]float64{r.bytes}, len(flows)), nil
	}
	ids := make([]int, len(flows))
	for i := range flows {
		var err error
		if ids[i], err = r.solver.Add(flows[i].Data, nil, math.Inf(1), 1); err != nil {
			return nil, nil, err
		}
	}
	r.solver.Solve(nil)
	for i, id := range ids {
		rate := r.solver.Rate(id)
		s.rates = append(s.rates, rate)
		for _, c := range flows[i].Data {
			s.users[c]++
			s.usage[c] += rate
			s.level[c] = max(s.level[c], rate)
		}
	}
	for _, id := range ids {
		r.solver.Remove(id)
	}
	times, err := r.solver.Times(nil, flows)
	return s, times, err
}

// A limit is what bounds the rate of a transfer, as far as others may be like it: whether that is the link of a host, 1 or 0;
// its rate, as twice the logarithm to the base 2; and how many transfers share it, as a number of bits. Zero: none is known.
type limit [3]int

// limit is that of a transfer over a route. A transfer is inner if a link between switches bounds its rate, or would if it was slower by
// unlike: other jobs slow all of these down at once.
func (s *shares) limit(w *wiring, route []int32) (by limit, inner bool) {
	most := func(e int32) float64 { return s.level[e] * w.rate[e] / s.usage[e] } // B/s: what a transfer over it could get
	least := slices.MinFunc(route, func(a, b int32) int { return cmp.Compare(most(a), most(b)) })
	for _, e := range route {
		inner = inner || w.isInner(e) && most(e) < (1+unlike)*most(least)
	}
	cable := 1
	if w.isInner(least) {
		cable = 0
	}
	return limit{cable, int(math.Round(2 * math.Log2(w.rate[least]))), bits.Len(uint(s.users[least]))}, inner
}

// replay takes out of the samples what a candidate that is slower by a factor makes of all transfers: also of those that
// have more of other links, as those over it have less. All groups are played over channels as slow as they were
// found to be.
func (r *measurements) replay(candidate int32, factor float64) {
	for _, c := range r.c.all[candidate].channels {
		r.w.capacity[c] /= factor
		if r.solver.SetCapacity(int(c), r.w.capacity[c]) != nil {
			return // a factor that no link has
		}
	}
	r.playAgain()
}

// playAgain takes out of the samples of transfers by how much their times have changed.
func (r *measurements) playAgain() {
	var times []float64
	for _, g := range r.groups {
		times, _ = r.solver.Times(times[:0], g.flows) // as they were played before
		for i := g.first; i < g.last; i++ {
			s := &r.samples[i]
			s.excess -= math.Log(times[s.flow] / s.nominal)
			s.nominal = times[s.flow]
		}
	}
}
