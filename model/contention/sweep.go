package contention

import (
	"math"

	"github.com/topocast/topocast/internal/queue"
)

// solve brings the levels up to date and appends to dst the flows whose
// levels changed, in no particular order.
func (s *filling) solve(dst []int) []int {
	s.sweeps = true
	for _, id := range s.dirty {
		s.channels[id].dirty = false
		s.update(id)
	}
	s.dirty = s.dirty[:0]
	for len(s.queue) > 0 {
		top := s.queue.Pop()
		if top.ID < 0 {
			if id := int32(^top.ID); s.flows[id].state == flowOpen && s.flows[id].bound == top.Key {
				s.now = top.Key
				s.freeze(id, ownBound, top.Key)
			}
			continue
		}
		if c := &s.channels[top.ID]; top.Key == c.key {
			c.key, s.now = math.Inf(1), top.Key
			s.visit(int32(top.ID))
		}
	}
	for _, id := range s.touched {
		f := &s.flows[id]
		if f.state == flowOpen {
			s.freeze(id, ownBound, f.bound)
		}
		if f.was {
			f.was = false
			if s.level[id] != f.before || s.tells && f.moved {
				dst = append(dst, int(id))
			}
		}
	}
	s.touched, s.sweeps = s.touched[:0], false
	return dst
}

// update queues a channel that is out of line for the least level at which
// something can come of it. Between sweeps it only notes the channel, for
// more changes may come.
func (s *filling) update(id int32) {
	c := &s.channels[id]
	if !s.sweeps {
		if !c.dirty {
			c.dirty = true
			s.dirty = append(s.dirty, id)
		}
		return
	}
	var key float64
	switch {
	case c.active > 0:
		key = c.settled()
		if c.open == 0 && s.alike(key, s.height[id]) {
			return
		}
		key = min(key, s.height[id])
	case s.isFull(c):
		// Only a visit can tell more.
		if c.key < math.Inf(1) {
			return
		}
		if key = c.seen; s.ties {
			key *= afterOwners
		}
	case c.own > 0: // of no weight
		key = s.height[id] * afterOwners
	default:
		if !math.IsInf(s.height[id], 1) {
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
	case s.alike(level, s.height[id]):
	case level > s.height[id]:
		s.rise(id, level)
	case level > reached && (c.open > 0 || c.active == 0): // some may be stopped elsewhere before
		c.key = level
		s.queue.Push(queue.Item{Key: level, ID: int64(id)})
		return
	default:
		s.fall(id, level)
	}
	if c.open == 0 || math.IsInf(s.height[id], 1) {
		return
	}
	if s.height[id] > reached {
		c.key = s.height[id]
		s.queue.Push(queue.Item{Key: s.height[id], ID: int64(id)})
		return
	}
	s.stopOpen(id)
}
