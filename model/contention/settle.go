package contention

import "math"

// least is the least level of the flow's bound and its channels but one, and what has it.
func (s *filling) least(f *flowEntry, but int32) (stop int32, level float64) {
	stop, level = ownBound, f.bound
	for i := range f.hops {
		c := f.hops[i].channel
		if x := s.height[c]; x < level && c != but {
			stop, level = c, x
		}
	}
	return stop, level
}

// carry moves a flow that a channel stops to the channel's new level.
func (s *filling) carry(id, by int32, level float64) {
	f := &s.flows[id]
	s.touch(id, f)
	rise := level - s.level[id]
	s.level[id] = level
	for i := range f.hops[:f.heavy] {
		if h := &f.hops[i]; h.channel != by {
			s.channels[h.channel].used += h.weight * rise
			s.update(h.channel)
		}
	}
}

// relocate makes another channel stop a flow, at a new level. Channels are queued where
// that puts them out of line, but for the one that the caller is at.
func (s *filling) relocate(id, stop int32, level float64, but int32) {
	f := &s.flows[id]
	s.touch(id, f)
	from, before := f.stop, s.level[id]
	f.stop, s.level[id] = stop, level
	f.moved = f.moved || stop != from
	for i := range f.hops {
		h := &f.hops[i]
		c := &s.channels[h.channel]
		switch {
		case from == stop && h.channel == stop:
			continue
		case h.channel == from:
			if s.disown(h); h.weight > 0 {
				c.drop(h.weight)
				c.used += h.weight * level
			}
		case h.channel == stop:
			if s.enown(h); h.weight > 0 {
				c.used -= h.weight * before
				c.take(h.weight)
			}
		case h.weight == 0:
			continue
		default:
			c.used += h.weight * (level - before)
		}
		if h.channel != but {
			s.update(h.channel)
		}
	}
}

// freeze stops an open flow.
func (s *filling) freeze(id, stop int32, level float64) {
	f := &s.flows[id]
	f.state, f.stop, f.moved = flowStopped, stop, true
	s.level[id] = level
	for i := range f.hops {
		h := &f.hops[i]
		c := &s.channels[h.channel]
		c.open--
		switch {
		case h.channel == stop:
			if h.weight == 0 {
				s.enown(h)
			}
			continue
		case h.weight > 0:
			s.disown(h)
			c.drop(h.weight)
			c.used += h.weight * level
		}
		s.update(h.channel)
	}
}

// setLevel notes the level of a channel.
func (s *filling) setLevel(id int32, level float64) {
	c := &s.channels[id]
	if s.tells {
		s.changed = append(s.changed, levelChange{id, s.height[id]})
	}
	if s.height[id] = level; !math.IsInf(level, 1) {
		c.seen = level
	}
}

// rise brings a channel that has more room than before up to the level at which its own
// members use it up. Members that another channel stops on the way go there, and leave
// the more to the others.
func (s *filling) rise(id int32, level float64) {
	c := &s.channels[id]
	for again := true; again; {
		again = false
		for i := c.own - 1; i >= 0; i-- {
			m := s.members[id][i]
			f := &s.flows[m.flow]
			if c.open > 0 && f.state == flowOpen {
				continue
			}
			stop, least := s.least(f, id)
			switch {
			case math.IsInf(level, 1) && least == unlimited:
				s.setOpen(m.flow)
				continue
			case least >= level*(1-levelTolerance):
				continue
			}
			if s.relocate(m.flow, stop, least, id); m.weight > 0 {
				again = true
				level = s.target(id)
			}
		}
	}
	s.setLevel(id, level)
	for i := c.own - 1; i >= 0; i-- {
		if m := s.members[id][i]; s.level[m.flow] != level && (c.open == 0 || s.flows[m.flow].state == flowStopped) {
			s.carry(m.flow, id, level)
		}
	}
}

// fall brings a channel that has less room than before down to the level at which its members use
// it up, those included that were stopped elsewhere, but higher.
func (s *filling) fall(id int32, level float64) {
	c := &s.channels[id]
	list := s.members[id]
	above := level * (1 + levelTolerance)
	for _, m := range list[c.own:] {
		if s.level[m.flow] > above && s.flows[m.flow].state == flowStopped {
			if c.active > 0 {
				level = s.filled(id)
			}
			above = level * (1 + levelTolerance)
			for i := c.own; int(i) < len(list); i++ {
				if m := list[i]; s.level[m.flow] > above && s.flows[m.flow].state == flowStopped {
					s.relocate(m.flow, id, level, id)
				}
			}
			s.count(id)
			break
		}
	}
	s.setLevel(id, level)
	for _, m := range list[:c.own] {
		if s.level[m.flow] != level && (c.open == 0 || s.flows[m.flow].state == flowStopped) {
			s.carry(m.flow, id, level)
		}
	}
}

// stopOpen stops the open members of a channel at its level.
func (s *filling) stopOpen(id int32) {
	c := &s.channels[id]
	list := s.members[id]
	for i := 0; c.open > 0 && i < len(list); i++ {
		if m := list[i]; s.flows[m.flow].state == flowOpen {
			s.freeze(m.flow, id, s.height[id])
		}
	}
}

// count sums up anew what the members stopped elsewhere use of a channel.
func (s *filling) count(id int32) {
	c := &s.channels[id]
	c.used = 0
	for _, m := range s.members[id][c.own:] {
		if m.weight > 0 {
			c.used += m.weight * s.level[m.flow]
		}
	}
}

// filled is the level at which the members of a channel use it up if each rises to
// where it is stopped elsewhere at most, and those of its own for ever. Where that is not quite
// enough, the highest go on.
func (s *filling) filled(id int32) float64 {
	c := &s.channels[id]
	list := s.members[id][c.own:]
	used, weight, highest, top := 0.0, c.weight, 0.0, 0.0
	for _, m := range list {
		if m.weight == 0 {
			continue
		}
		y := s.level[m.flow]
		used += m.weight * y
		weight += m.weight
		switch {
		case y > highest*(1+levelTolerance):
			highest, top = y, m.weight
		case y >= highest*(1-levelTolerance):
			top += m.weight
		}
	}
	c.used = used // no rounding stays
	if c.active == 0 && used <= c.capacity*(1+overTolerance) {
		return highest + max(0, c.capacity-used)/top
	}
	level := c.capacity / weight
	for {
		used, rising := 0.0, c.weight
		for _, m := range list {
			if y := s.level[m.flow]; m.weight > 0 && y > level {
				rising += m.weight
			} else {
				used += m.weight * y
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
	if c.active > 0 {
		return c.settled()
	}
	if s.isFull(c) {
		return s.filled(id)
	}
	return math.Inf(1)
}

// settled is the target of a channel that stops flows of some weight.
func (c *channel) settled() float64 { return max(0, c.capacity-c.used) / c.weight }

// isFull tells whether a channel is used up by members that are stopped elsewhere. If it is so at the very
// level of one of them, both channels stop that one. If they would take more, they
// are to be stopped here.
func (s *filling) isFull(c *channel) bool {
	return c.active == 0 && c.heavy > 0 && c.used >= c.capacity*s.full
}
