package contention

import (
	"math"

	"github.com/topocast/topocast/internal/queue"
)

// A sweep visits channels that are out of line, the one of the lowest level first. A visit changes the level of the channel, and so
// what is used of the channels that the flows cross which it stops: these may be out of line then. Nearly
// always no flow changes hands. A channel that rises above another one on a flow's path lets the flow go
// to it. A channel that falls takes over the flows that were higher.

// sweep brings the levels up to date.
func (s *filling) sweep() {
	for {
		for _, id := range s.dirty {
			s.channels[id].dirty = false
			s.enqueue(id)
		}
		s.dirty = s.dirty[:0]
		if len(s.queue) == 0 {
			break
		}
		top := s.queue.Pop()
		id := int32(top.ID)
		if c := &s.channels[id]; top.Key == c.key {
			c.key, s.now = math.Inf(1), top.Key
			c.dirty = true // so that the visit does not note the channel itself
			s.visit(id)
			s.channels[id].dirty = false
		}
	}
	for list := s.stopped[s.open]; len(list) > 0; list = s.stopped[s.open] {
		s.assign(list[len(list)-1], s.nothing)
	}
}

// enqueue queues a channel that is out of line for the least level at which something can come of it.
func (s *filling) enqueue(id int32) {
	c := &s.channels[id]
	key := c.level
	switch {
	case c.active > 0:
		room := c.room()
		if c.open == 0 && s.alike(room, c.level*c.weight) {
			return
		}
		key = min(room/c.weight, c.level)
	case s.isFull(c): // only a visit can tell more
		if c.key < math.Inf(1) {
			return
		}
		if math.IsInf(key, 1) {
			key = c.seen
		}
		if s.ties {
			key *= afterOwners
		}
	case len(s.stopped[id]) > 0: // of no weight
		key *= afterOwners
	default:
		if !math.IsInf(c.level, 1) {
			s.setLevel(id, math.Inf(1))
		}
		return
	}
	if key < c.key {
		s.push(id, key)
	}
}

func (s *filling) push(id int32, key float64) {
	s.channels[id].key = key
	s.queue.Push(queue.Item{Key: key, ID: int64(id)})
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
		s.push(id, level)
		return
	default:
		s.fall(id, level)
	}
	switch {
	case c.open == 0 || math.IsInf(c.level, 1):
	case c.level > reached:
		s.push(id, c.level)
	default:
		s.stopOpen(id)
	}
}

// rise brings a channel that has more room than before up to the level at which its own
// members use it up. Members that another channel stops on the path go there, and leave
// the more to the others.
func (s *filling) rise(id int32, level float64) {
	for !math.IsInf(level, 1) {
		if isBlocked := s.carry(id, level); !isBlocked {
			return
		}
		s.letGo(id, level)
		level = s.target(id)
	}
	s.letGo(id, level)
	s.setLevel(id, level)
}

// letGo gives flows that a channel stops to those that stop them below a level. Flows that nothing stops
// there are open.
func (s *filling) letGo(id int32, level float64) {
	level *= 1 - s.tolerance
	for i := len(s.stopped[id]) - 1; i >= 0; i-- {
		flow := s.stopped[id][i]
		switch stop, least := s.least(flow, id); {
		case least >= level:
		case stop == s.nothing:
			s.assign(flow, s.open)
		default:
			s.assign(flow, stop)
		}
	}
}

// least is the least level of the flow's channels but one, and which has it.
func (s *filling) least(flow, but int32) (stop int32, level float64) {
	stop, level = s.nothing, unlimited
	hops := s.flows[flow].hops
	for i := range hops {
		c := hops[i].channel
		if x := s.channels[c].level; x < level && c != but {
			stop, level = c, x
		}
	}
	return stop, level
}

// carry sets the level of a channel and moves the flows that it stops there. That changes what is used
// of the channels that they cross. It tells whether one of these is lower.
func (s *filling) carry(id int32, level float64) (isBlocked bool) {
	rise := level - s.channels[id].level
	if rise == 0 {
		return false // two channels would visit each other for ever, where a tolerance leaves both out of line
	}
	s.setLevel(id, level)
	level *= 1 - s.tolerance
	list := s.crossed[id].list
	for i := range list {
		x := &list[i]
		c := &s.channels[x.channel]
		isBlocked = isBlocked || c.level < level
		if x.weight > 0 {
			c.used += x.weight * rise
			s.note(x.channel)
		}
	}
	return isBlocked
}

// fall brings a channel that has less room than before down to the level at which its members use
// it up. It takes over members that were stopped elsewhere at higher levels.
func (s *filling) fall(id int32, level float64) {
	c := &s.channels[id]
	if c.active > 0 {
		if s.survey(id, level); s.highest > level*(1+s.tolerance) {
			level = s.filled(id, level)
		}
	}
	s.carry(id, level)
	limit, used := level*(1+s.tolerance), s.below
	for _, m := range s.above {
		if m.level > limit {
			s.assign(m.flow, id)
		} else {
			used += m.weight * m.level
		}
	}
	c.used = used // no rounding stays
}

// stopOpen stops the open members of a channel at its level.
func (s *filling) stopOpen(id int32) {
	for _, m := range s.members[id] {
		if s.stop[m.flow] == s.open {
			s.assign(m.flow, id)
		}
	}
}

// survey sorts out which members of a channel are stopped elsewhere above a level, and what the others that are stopped
// elsewhere use.
func (s *filling) survey(id int32, level float64) {
	s.above, s.below, s.highest = s.above[:0], 0, 0
	for _, m := range s.members[id] {
		stop := s.stop[m.flow]
		if stop == id || stop == s.open {
			continue
		}
		if x := s.channels[stop].level; x > level {
			s.above = append(s.above, higher{m.weight, x, m.flow})
			s.highest = max(s.highest, x)
		} else {
			s.below += m.weight * x
		}
	}
}

// filled is the level at which the members of a channel use it up, which is known not to be less than some level. Members
// that are stopped elsewhere rise to their level there at most, and its own for ever. Where that is not quite enough, the highest go on.
func (s *filling) filled(id int32, level float64) float64 {
	c := &s.channels[id]
	if c.active == 0 {
		used, highest, top := s.below, 0.0, 0.0
		for _, m := range s.above {
			used += m.weight * m.level
			switch {
			case m.weight == 0:
			case m.level > highest*(1+levelTolerance):
				highest, top = m.level, m.weight
			case m.level >= highest*(1-levelTolerance):
				top += m.weight
			}
		}
		if c.used = used; used <= c.capacity*(1+overTolerance) {
			return highest + c.room()/top
		}
		level = max(level, highest-(used-c.capacity)/top) // as if only the highest were to be stopped here
	}
	for {
		used, rising := s.below, c.weight
		for _, m := range s.above {
			if m.level > level {
				rising += m.weight
			} else {
				used += m.weight * m.level
			}
		}
		next := max(0, c.capacity-used) / rising
		if !(next > level*(1+levelTolerance)) { // or none rises
			return level
		}
		level = next
	}
}

// target is the level at which a channel is used up if no flow changes hands.
func (s *filling) target(id int32) float64 {
	c := &s.channels[id]
	switch {
	case c.active > 0:
		return c.room() / c.weight
	case s.isFull(c):
		s.survey(id, 0)
		return s.filled(id, 0)
	}
	return math.Inf(1)
}

// room is what a channel has in B/s for members that are not stopped elsewhere.
func (c *channel) room() float64 { return max(0, c.capacity-c.used) }

// isFull tells whether a channel is used up by members that are stopped elsewhere. If it is so at the very
// level of one of them, both channels stop that one. If they would take more, they
// are to be stopped here.
func (s *filling) isFull(c *channel) bool {
	return c.active == 0 && c.heavy > 0 && c.used >= c.capacity*s.full
}

// alike tells whether two values are one, within what a channel need not follow.
func (s *filling) alike(a, b float64) bool {
	return a == b || math.Abs(a-b) <= s.tolerance*min(a, b)
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
		if c := &s.channels[id]; c.level != c.before {
			for _, flow := range s.stopped[id] {
				if !s.flows[flow].moved {
					dst = append(dst, int(flow))
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
		s.channels[c].risen = false
	}
	s.moved, s.risen = s.moved[:0], s.risen[:0]
}
