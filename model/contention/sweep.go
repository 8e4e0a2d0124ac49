package contention

import (
	"math"

	"github.com/topocast/topocast/internal/queue"
)

// solve brings the levels up to date and appends to dst the flows whose
// levels changed, in no particular order.
func (s *filling) solve(dst []int) []int {
	s.queue, s.caps, s.now, s.thinAt = s.queue[:0], s.caps[:0], 0, shortQueue
	for _, id := range s.touched {
		s.watchBound(id)
	}
	for _, c := range s.dirty {
		s.watch(c)
	}
	for len(s.queue) > 0 {
		if s.open == 0 && len(s.queue) > s.thinAt {
			s.thin()
			continue
		}
		top := s.queue[0]
		if top.ID < 0 {
			s.queue.Pop()
			if id := int32(^top.ID); s.state[id] == flowOpen {
				s.now = max(s.now, top.Key)
				s.freeze(id, s.flows[id].bound)
			}
			continue
		}
		c := &s.channels[top.ID]
		if c.state == channelSettled || top.Key != c.key {
			s.queue.Pop()
			continue
		}
		s.now = max(s.now, top.Key)
		if c.state == channelWatched {
			// Mostly it has only got more room since: then it goes further down.
			if key := min(c.bound(), s.full[top.ID]); key > s.now*(1+levelTolerance) {
				if c.key = key; math.IsInf(key, 1) {
					s.queue.Pop()
				} else {
					s.queue[0].Key = key
					s.queue.Lower(0)
				}
				continue
			}
		}
		s.queue.Pop()
		s.visit(int32(top.ID))
	}
	for _, id := range s.touched {
		if s.state[id] == flowOpen {
			s.freeze(id, s.flows[id].bound)
		}
		if s.state[id] == flowFrozen {
			s.state[id] = flowClean
			if s.level[id] != s.before[id] {
				dst = append(dst, int(id))
			}
		}
	}
	s.moved = s.moved[:0]
	for _, id := range s.dirty {
		c := &s.channels[id]
		c.state = channelClean
		if s.full[id] != s.tallies[id].was {
			s.moved = append(s.moved, id)
		}
	}
	s.dirty, s.touched = s.dirty[:0], s.touched[:0]
	return dst
}

// thin drops the entries that nothing can come of now that no flow rises:
// most of a sweep's channels are watched in vain.
func (s *filling) thin() {
	kept := s.queue[:0]
	for _, e := range s.queue {
		if e.ID < 0 {
			continue
		}
		c := &s.channels[e.ID]
		if e.Key != c.key || c.state == channelSettled {
			continue
		}
		if c.state == channelWatched && math.IsInf(min(c.bound(), s.full[e.ID]), 1) {
			c.key = math.Inf(1)
			continue
		}
		kept = append(kept, e)
	}
	s.queue = kept
	s.queue.Order()
	s.thinAt = 2*len(kept) + shortQueue
}

// watch queues a watched channel for the least level at which something can
// happen to it: its members saturate it, or it is no longer saturated at its old level.
// Clean members above that level count in full, so it is a lower bound.
func (s *filling) watch(id int32) {
	c := &s.channels[id]
	if c.state != channelWatched {
		return
	}
	if key := max(s.now, min(c.bound(), s.full[id])); key < c.key {
		c.key = key
		s.queue.Push(queue.Item{Key: key, ID: int64(id)})
	}
}

// bound is a level below which a watched channel does not saturate.
func (c *channel) bound() float64 {
	room := c.capacity - (c.load - c.risen)
	switch {
	case c.open > 0:
		return room / c.rising
	case room <= capacityTolerance*c.capacity:
		return 0 // used up, or over-committed since its capacity changed
	}
	return math.Inf(1)
}

// watchBound queues an open flow for its own bound.
func (s *filling) watchBound(id int32) {
	if b := s.flows[id].bound; s.state[id] == flowOpen && !math.IsInf(b, 1) {
		s.queue.Push(queue.Item{Key: b, ID: ^int64(id)})
	}
}

// visit does what happens to a channel at the current level.
func (s *filling) visit(id int32) {
	c := &s.channels[id]
	reached := s.now * (1 + levelTolerance)
	full := c.bound()
	if c.state == channelWatched && full <= reached {
		s.enter(id)
	}
	if c.state == channelEntered {
		t := &s.tallies[id]
		s.passCaps(t)
		if full = t.saturation(c.capacity, s.now); full <= reached {
			s.saturate(id, full)
			return
		}
	}
	if s.full[id] <= reached {
		s.release(id)
		if c.state == channelWatched {
			full = c.bound()
		}
	}
	if c.key = max(s.now, min(full, s.full[id])); !math.IsInf(c.key, 1) {
		s.queue.Push(queue.Item{Key: c.key, ID: int64(id)})
	}
}

// saturate stops the members of a channel at the given level.
func (s *filling) saturate(id int32, level float64) {
	s.channels[id].state, s.full[id] = channelSettled, level
	above := level * (1 + levelTolerance)
	for _, m := range s.tallies[id].members {
		switch s.state[m.flow] {
		case flowOpen:
			s.freeze(m.flow, level)
		case flowClean:
			switch y := s.level[m.flow]; {
			case y > above:
				s.before[m.flow] = y
				s.touched = append(s.touched, m.flow)
				s.freeze(m.flow, level)
			case y >= level*(1-equalLevels):
				s.level[m.flow] = level // the same but for rounding
			}
		}
	}
}

// freeze stops a flow at a level and tells its channels.
func (s *filling) freeze(id int32, level float64) {
	wasOpen, before := s.state[id] == flowOpen, s.before[id]
	if wasOpen {
		s.open--
	}
	s.state[id] = flowFrozen
	s.level[id] = level
	for _, h := range s.flows[id].hops {
		if h.weight == 0 {
			continue
		}
		c := &s.channels[h.channel]
		c.load += h.weight * (level - before)
		if wasOpen {
			c.close(h.weight, before)
		}
		switch c.state {
		case channelClean:
			// It has more room than before, which matters if it was saturated.
			if !math.IsInf(s.full[h.channel], 1) {
				s.touch(h.channel)
				s.watch(h.channel)
			}
		case channelEntered:
			s.tallies[h.channel].settle(h.weight, level)
		}
	}
}

// release notes that a channel no longer saturates at its old level, and opens
// the members that nothing else stops there.
func (s *filling) release(id int32) {
	level := s.full[id]
	s.full[id] = math.Inf(1)
	for _, m := range s.tallies[id].members {
		if s.state[m.flow] != flowClean || s.level[m.flow] < level*(1-equalLevels) {
			continue
		}
		f := &s.flows[m.flow]
		limit := s.level[m.flow] * (1 + 2*levelTolerance)
		if f.bound <= limit || s.stops(f, limit) {
			continue
		}
		s.setOpen(m.flow)
		s.watchBound(m.flow)
		for _, h := range f.hops {
			if h.channel != id {
				s.watch(h.channel)
			}
		}
	}
}

// stops tells whether one of the flow's channels saturates at or below a level.
func (s *filling) stops(f *flowEntry, level float64) bool {
	for _, h := range f.hops {
		if s.full[h.channel] <= level {
			return true
		}
	}
	return false
}
