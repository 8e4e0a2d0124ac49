package contention

// stoppedFairly stands for the coupling of a flow that is stopped on its own way, or by its bound.
const stoppedFairly = -1

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
		if s.coupling[id] >= 0 && s.judged[id] != s.round {
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
	coupling := s.stoppedBy(id)
	if coupling == stoppedFairly && s.coupling[id] == stoppedFairly {
		return // by the bound that it has
	}
	s.coupling[id] = coupling
	s.bind(id)
}

// stoppedBy is the coupling of what stops a flow, which are its channels of its level.
func (s *Solver) stoppedBy(id int32) float64 {
	f, stop := &s.reverse.flows[id], s.reverse.stop[id]
	limit := s.reverse.level(id) * (1 + s.reverse.tied())
	data, back := f.hops[:f.data], f.hops[f.data:]
	for i := range data {
		if data[i].channel == stop {
			return stoppedFairly
		}
	}
	for i := range data {
		if s.reverse.channels[data[i].channel].level <= limit {
			return stoppedFairly
		}
	}
	coupling := float64(stoppedFairly)
	for i := range back {
		if c := back[i].channel; c != f.bound && s.reverse.channels[c].level <= limit {
			coupling = max(coupling, s.sharing.Coupling[c])
		}
	}
	return coupling
}

// bind bounds a flow of the answer to what it may have between fair and asymmetric sharing.
func (s *Solver) bind(id int32) {
	bound := s.bound[id]
	if k := s.coupling[id]; k >= 0 {
		share := s.main.flows[id].share
		bound = min(bound, share*mix(s.fair.level(id), s.reverse.level(id), k))
	}
	s.main.setBound(id, bound)
}
