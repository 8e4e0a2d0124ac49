package contention

import (
	"math"

	"github.com/topocast/topocast/internal/queue"
)

// sweep brings the levels up to date.
func (s *filling) sweep() {
	s.sweeps = true
	for _, id := range s.dirty {
		s.places[id].dirty = false
		s.update(id)
	}
	s.dirty = s.dirty[:0]
	for len(s.queue) > 0 {
		top := s.queue.Pop()
		if c := &s.channels[top.ID]; top.Key == c.key {
			c.key, s.now = math.Inf(1), top.Key
			s.visit(int32(top.ID))
		}
	}
	for _, id := range s.moved {
		if s.flows[id].state == flowOpen {
			s.freeze(id, s.nothing)
		}
	}
	s.sweeps = false
}

// changes appends to dst the flows that the last sweep gave another level, or another channel that stops
// them, in no particular order.
func (s *filling) changes(dst []int) []int {
	for _, id := range s.moved {
		if s.flows[id].moved {
			dst = append(dst, int(id))
		}
	}
	for _, id := range s.risen {
		if c := &s.channels[id]; c.level != s.places[id].before {
			for _, m := range s.members[id][:c.own] {
				if !s.flows[m.flow].moved {
					dst = append(dst, int(m.flow))
				}
			}
		}
	}
	return dst
}

// forget begins a new list of changes.
func (s *filling) forget() {
	for _, id := range s.moved {
		s.flows[id].moved = false
	}
	for _, c := range s.risen {
		s.places[c].risen = false
	}
	s.moved, s.risen = s.moved[:0], s.risen[:0]
}

// update queues a channel that is out of line for the least level at which
// something can come of it. Between sweeps it only notes the channel, for
// more changes may come.
func (s *filling) update(id int32) {
	c := &s.channels[id]
	if !s.sweeps {
		if p := &s.places[id]; !p.dirty {
			p.dirty = true
			s.dirty = append(s.dirty, id)
		}
		return
	}
	var key float64
	switch {
	case c.active > 0:
		key = c.settled()
		if c.open == 0 && s.alike(key, c.level) {
			return
		}
		key = min(key, c.level)
	case s.isFull(c):
		// Only a visit can tell more.
		if c.key < math.Inf(1) {
			return
		}
		if key = s.places[id].seen; s.ties {
			key *= afterOwners
		}
	case c.own > 0: // of no weight
		key = c.level * afterOwners
	default:
		if !math.IsInf(c.level, 1) {
			s.setLevel(id, math.Inf(1))
		}
		return
	}
	if key < c.key {
		c.key = key
		s.queue.Push(queue.Item{Key: key, ID: int64(id)})
	}
}

// alike tells whether a channel at one level may stay there where the other is its own.
func (s *filling) alike(a, b float64) bool {
	return a == b || math.Abs(a-b) <= s.tolerance*min(a, b)
}

// visit brings a channel in line with its members.
func (s *filling) visit(id int32) {
	c := &s.channels[id]
	level := s.target(id)
	reached := s.now * (1 + levelTolerance)
	switch {
	case s.alike(level, c.level):
	case level > c.level:
		s.rise(id, level)
	case level > reached && (c.open > 0 || c.active == 0): // some may be stopped elsewhere before
		c.key = level
		s.queue.Push(queue.Item{Key: level, ID: int64(id)})
		return
	default:
		s.fall(id, level)
	}
	if c.open == 0 || math.IsInf(c.level, 1) {
		return
	}
	if c.level > reached {
		c.key = c.level
		s.queue.Push(queue.Item{Key: c.level, ID: int64(id)})
		return
	}
	s.stopOpen(id)
}
