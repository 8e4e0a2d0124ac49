package contention

import (
	"fmt"
	"math"
	"slices"
)

// A Solver knows the rates of concurrent flows over directed channels of
// given capacities, and keeps them up to date as flows come and go. With U the
// flows that still rise and used the capacity taken, it does what this does:
//
//	weight w(c,f) = 1 for data channels, plus AckWeight for reverse channels
//	while U is not empty:
//	    for every channel c with W_c = sum of w(c,f) over f in U > 0:
//	        level_c = (C_c - used_c) / W_c
//	    the members in U of the channels of least level get that level as
//	    rate, add to used, and leave U
//
// (Progressive filling; D. Bertsekas, R. Gallager, Data Networks, section 6.5.2. Zhu et al. 2014,
// Algorithm 1, without the over-commitments of its lines 10 and 17.) No channel is over-committed. What stops a
// flow is a channel that is used up, or its own bound. The result does not depend on
// the order of flows but for rounding, and for Sharing.Tolerance.
//
// Solve visits only what a change reaches, and allocates nothing once the
// Solver has seen as many flows before. Memory is linear in channels and
// hops. A Solver belongs to one goroutine.
type Solver struct {
	sharing  Sharing
	channels int
	main     *filling   // the answer; between fair and asymmetric sharing the one with bounds
	fair     *filling   // in between only
	reverse  *filling   // in between only: asymmetric
	fillings []*filling // these
	free     []int      // flows that may be used again, last removed first
	live     []bool
	bound    []float64 // B/s, as given to Add
	coupled  []bool    // in between only, per flow: asymmetric sharing stops it on its way back
	judged   []uint64  // in between only, per flow: the round in which that was last found
	round    uint64    // of the last Solve
	changed  []int     // scratch
	crowded  bool      // see relax
	mark     []int32   // scratch: channel -> 1 + hop, while a flow is added
	playback
}

// What Times takes for a crowd, in flows, and what it tolerates in one.
const (
	crowd           = 10000
	crowdPerChannel = 2
	crowdTolerance  = 0.001
)

// jumps is how much nearer to the truth asymmetric sharing is kept than the others: coupling jumps with what stops a flow there.
const jumps = 10

// NewSolver returns a Solver without flows over channels of the given
// capacities in B/s, +Inf for one without limit. A nil Sharing is fair.
func NewSolver(capacity []float64, sharing *Sharing) (*Solver, error) {
	if sharing == nil {
		sharing = &Sharing{}
	}
	for c, x := range capacity {
		if !(x > 0) {
			return nil, fmt.Errorf("contention: solver: capacity of channel %d is %g B/s: want above 0", c, x)
		}
	}
	if err := sharing.validate(); err != nil {
		return nil, fmt.Errorf("contention: solver: %w", err)
	}
	s := &Solver{sharing: *sharing, channels: len(capacity), mark: make([]int32, len(capacity))}
	if sharing.Coupling > 0 && sharing.Coupling < 1 {
		s.fair, s.reverse, s.main = newFilling(capacity, false), newFilling(capacity, true), newFilling(capacity, false)
		s.fillings = []*filling{s.main, s.fair, s.reverse}
	} else {
		s.main = newFilling(capacity, sharing.Coupling == 1 && sharing.AckWeight == 0)
		s.fillings = []*filling{s.main}
	}
	s.tolerate(sharing.Tolerance)
	return s, nil
}

func (s *Solver) tolerate(tolerance float64) {
	for _, f := range s.fillings {
		if f == s.reverse {
			tolerance /= jumps
		}
		f.tolerate(tolerance)
	}
}

// relax tolerates what a crowd of flows needs for its events to stay cheap, and no more once it has gone. Crowds end
// at fewer flows than they begin with, because the way back costs as much as all flows have hops.
func (s *Solver) relax() {
	limit := max(crowd, crowdPerChannel*s.channels)
	switch flows := s.underWay(); {
	case s.sharing.Tolerance > 0:
	case !s.crowded && flows > limit:
		s.crowded = true
		s.tolerate(crowdTolerance)
	case s.crowded && flows < limit*4/5:
		s.crowded = false
		s.tolerate(0)
		for _, f := range s.fillings {
			f.refine()
		}
	}
}

// Add adds a flow over data channels, with acknowledgements over reverse
// channels, and returns its number, which may be that of a flow removed
// before. The flow never exceeds bound in B/s (+Inf: no bound). Flows share a
// channel in proportion to share, 1 for equals. The slices are copied. Rates hold
// again after Solve. It is an error if a channel is unknown, or bound or share is not above 0.
func (s *Solver) Add(data, reverse []int32, bound, share float64) (int, error) {
	if err := s.check(data, reverse, bound, share); err != nil {
		return 0, fmt.Errorf("contention: add flow: %w", err)
	}
	return s.add(data, reverse, bound, share), nil
}

// check refuses what Add does.
func (s *Solver) check(data, reverse []int32, bound, share float64) error {
	if !(bound > 0) {
		return fmt.Errorf("bound is %g B/s: want above 0", bound)
	}
	if !(share > 0) || math.IsInf(share, 0) {
		return fmt.Errorf("share is %g: want above 0 and finite", share)
	}
	for _, list := range [...][]int32{data, reverse} {
		for _, c := range list {
			if c < 0 || int(c) >= s.channels {
				return fmt.Errorf("channel %d: want in [0, %d)", c, s.channels)
			}
		}
	}
	return nil
}

// add is Add of what was checked.
func (s *Solver) add(data, reverse []int32, bound, share float64) int {
	id := len(s.live)
	if k := len(s.free) - 1; k >= 0 {
		id, s.free = s.free[k], s.free[:k]
		s.live[id], s.bound[id], s.coupled[id], s.judged[id] = true, bound, false, s.round
	} else {
		s.live, s.bound, s.coupled = append(s.live, true), append(s.bound, bound), append(s.coupled, false)
		s.judged = append(s.judged, s.round)
	}
	for _, f := range s.fillings {
		back := reverse
		if f != s.reverse && s.sharing.Coupling < 1 {
			back = nil
		}
		s.addTo(f, id, data, back, bound, share)
	}
	return id
}

// addTo makes the flow's hops: one per channel, even if it crosses it twice.
func (s *Solver) addTo(f *filling, id int, data, reverse []int32, bound, share float64) {
	flow := f.begin(id, share)
	hops := slices.Grow(flow.hops, len(data)+len(reverse))
	put := func(c int32, weight float64) {
		if k := s.mark[c]; k > 0 {
			hops[k-1].weight += weight
			return
		}
		hops = append(hops, hop{channel: c, weight: weight})
		s.mark[c] = int32(len(hops))
	}
	for _, c := range data {
		put(c, share)
	}
	flow.data = int32(len(hops))
	for _, c := range reverse {
		put(c, s.sharing.AckWeight*share)
	}
	for _, h := range hops {
		s.mark[h.channel] = 0
	}
	flow.hops = hops
	f.add(int32(id), bound)
}

// Remove removes a flow, whose number may be given out again. It panics if there
// is no such flow. Rates hold again after Solve. O(hops).
func (s *Solver) Remove(flow int) {
	if flow < 0 || flow >= len(s.live) || !s.live[flow] {
		panic(fmt.Sprintf("contention: remove flow %d: there is no such flow", flow))
	}
	s.live[flow] = false
	s.free = append(s.free, flow)
	for _, f := range s.fillings {
		f.remove(int32(flow))
	}
}

// SetCapacity changes the capacity of a channel, in B/s, to a value above 0,
// +Inf for no limit. It is an error if there is no such channel. Rates hold
// again after Solve.
func (s *Solver) SetCapacity(channel int, capacity float64) error {
	if channel < 0 || channel >= s.channels {
		return fmt.Errorf("contention: set capacity: channel %d: want in [0, %d)", channel, s.channels)
	}
	if !(capacity > 0) {
		return fmt.Errorf("contention: set capacity: channel %d: %g B/s: want above 0", channel, capacity)
	}
	for _, f := range s.fillings {
		f.setCapacity(int32(channel), capacity)
	}
	return nil
}

// Solve brings the rates up to date and appends to dst the flows whose rates
// changed, ascending: all that were added, and those that a change reached. Flows that another channel
// stops at the same rate are among them. Changes since the
// last Solve are carried through together, in O(hops of the flows and members of
// the channels that they reach * log channels).
func (s *Solver) Solve(dst []int) []int {
	from := len(dst)
	s.sweep()
	dst = s.main.changes(dst)
	s.main.forget()
	slices.Sort(dst[from:])
	return dst
}

// sweep brings the rates up to date. Its changes are those of the main filling, until the caller forgets them.
func (s *Solver) sweep() {
	if s.fair != nil {
		s.couple()
	}
	s.main.sweep()
}

// Rate is the rate of a flow in B/s, as of the last Solve; +Inf if nothing limits it.
func (s *Solver) Rate(flow int) float64 {
	level := s.main.level(int32(flow))
	if level >= unlimited {
		return math.Inf(1)
	}
	return level * s.main.flows[flow].share
}

// underWay is the number of flows.
func (s *Solver) underWay() int { return len(s.live) - len(s.free) }
