package contention

import "slices"

// couple bounds the flows of the answer to what coupling leaves them, where fair or asymmetric
// sharing changed, each once.
func (s *Solver) couple() {
	s.round++
	s.fair.sweep()
	s.changed = s.fair.changes(s.changed[:0])
	s.fair.forget()
	fair := len(s.changed)
	s.reverse.sweep()
	s.changed = s.reverse.changes(s.changed)
	for _, id := range s.changed[fair:] {
		s.judge(int32(id))
	}
	// A flow may keep its rate and what stops it, and be stopped by another channel as well, or no more.
	for _, id := range s.reverse.risen {
		c := &s.reverse.channels[id]
		for _, m := range s.reverse.members[id] {
			limit := s.reverse.level(m.flow) * (1 + s.reverse.tied())
			if s.reverse.stop[m.flow] != id && (c.before <= limit) != (c.level <= limit) {
				s.judge(m.flow)
			}
		}
	}
	s.reverse.forget()
	for _, id := range s.changed[:fair] {
		if s.coupled[id] && s.judged[id] != s.round {
			s.bind(int32(id))
		}
	}
}

// judge finds out by what asymmetric sharing stops a flow, and bounds it accordingly.
func (s *Solver) judge(id int32) {
	if s.judged[id] == s.round {
		return
	}
	s.judged[id] = s.round
	was := s.coupled[id]
	if s.coupled[id] = s.isStoppedBack(id); was || s.coupled[id] { // or else it keeps the bound that it has
		s.bind(id)
	}
}

// isStoppedBack tells whether a channel on its way back stops a flow, and none on its own way or its bound does. Channels of
// its level stop a flow.
func (s *Solver) isStoppedBack(id int32) bool {
	f, stop := &s.reverse.flows[id], s.reverse.stop[id]
	limit := s.reverse.level(id) * (1 + s.reverse.tied())
	stops := func(h hop) bool { return h.channel == stop || s.reverse.channels[h.channel].level <= limit }
	return !slices.ContainsFunc(f.hops[:f.data], stops) &&
		slices.ContainsFunc(f.hops[f.data:], func(h hop) bool { return h.channel != f.bound && stops(h) })
}

// bind bounds a flow of the answer to what it may have between fair and asymmetric sharing.
func (s *Solver) bind(id int32) {
	bound := s.bound[id]
	if s.coupled[id] {
		share := s.main.flows[id].share
		bound = min(bound, share*mix(s.fair.level(id), s.reverse.level(id), s.sharing.Coupling))
	}
	s.main.setBound(id, bound)
}
