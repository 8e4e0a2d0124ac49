package contention

import "math"

// least is the least level of the flow's channels but one, and which has it.
func (s *filling) least(f *flowEntry, but int32) (stop int32, level float64) {
	stop, level = s.nothing, unlimited
	for i := range f.hops {
		c := f.hops[i].channel
		if x := s.channels[c].level; x < level && c != but {
			stop, level = c, x
		}
	}
	return stop, level
}

// carry sets the level of a channel and moves the flows that it stops there. That changes what is used
// of the channels that they cross.
func (s *filling) carry(id int32, level float64) {
	rise := level - s.channels[id].level
	if rise == 0 || math.IsNaN(rise) {
		return
	}
	s.setLevel(id, level)
	for i := range s.out[id] {
		if e := &s.out[id][i]; e.weight > 0 {
			s.channels[e.other].used += e.weight * rise
			s.update(e.other)
		}
	}
}

// relocate makes another channel stop a flow. Channels are queued where
// that puts them out of line, but for the one that the caller is at.
func (s *filling) relocate(id, stop, but int32) {
	f := &s.flows[id]
	s.note(id, f)
	from, before := f.stop, s.level(id)
	f.stop = stop
	level := s.level(id)
	for i := range f.hops {
		h := &f.hops[i]
		c := &s.channels[h.channel]
		switch h.channel {
		case from:
			if s.disown(h); h.weight > 0 {
				c.drop(h.weight)
				c.used += h.weight * level
			}
			s.link(stop, h)
		case stop:
			s.unlink(from, h)
			if s.enown(h); h.weight > 0 {
				c.used -= h.weight * before
				c.take(h.weight)
			}
		default:
			s.unlink(from, h)
			s.link(stop, h)
			c.used += h.weight * (level - before)
		}
		if h.channel != but {
			s.update(h.channel)
		}
	}
}

// freeze stops an open flow.
func (s *filling) freeze(id, stop int32) {
	f := &s.flows[id]
	f.state, f.stop = flowStopped, stop
	level := s.level(id)
	for i := range f.hops {
		h := &f.hops[i]
		c := &s.channels[h.channel]
		c.open--
		if h.channel == stop {
			if h.weight == 0 {
				s.enown(h)
			}
			continue
		}
		s.link(stop, h)
		if h.weight > 0 {
			s.disown(h)
			c.drop(h.weight)
			c.used += h.weight * level
		}
		s.update(h.channel)
	}
}

// setLevel notes the level of a channel.
func (s *filling) setLevel(id int32, level float64) {
	c, p := &s.channels[id], &s.places[id]
	if !p.risen {
		p.risen, p.before = true, c.level
		s.risen = append(s.risen, id)
	}
	if c.level = level; !math.IsInf(level, 1) {
		p.seen = level
	}
}

// blocks tells whether flows that a channel stops cross another one of less than a level.
func (s *filling) blocks(id int32, level float64) bool {
	level *= 1 - s.tolerance
	for i := range s.out[id] {
		if s.channels[s.out[id][i].other].level < level {
			return true
		}
	}
	return false
}

// rise brings a channel that has more room than before up to the level at which its own
// members use it up. Members that another channel stops on the way go there, and leave
// the more to the others.
func (s *filling) rise(id int32, level float64) {
	c := &s.channels[id]
	for again := math.IsInf(level, 1) || s.blocks(id, level); again; {
		again = false
		for i := c.own - 1; i >= 0; i-- {
			m := s.members[id][i]
			f := &s.flows[m.flow]
			if c.open > 0 && f.state == flowOpen {
				continue
			}
			stop, least := s.least(f, id)
			switch {
			case math.IsInf(level, 1) && stop == s.nothing:
				s.setOpen(m.flow)
				continue
			case least >= level*(1-s.tolerance):
				continue
			}
			if s.relocate(m.flow, stop, id); m.weight > 0 {
				again = true
				level = s.target(id)
			}
		}
	}
	s.carry(id, level)
}

// fall brings a channel that has less room than before down to the level at which its members use
// it up. It takes over members that were stopped elsewhere at higher levels.
func (s *filling) fall(id int32, level float64) {
	if !s.takesOver(id, level) {
		s.carry(id, level)
		return
	}
	c := &s.channels[id]
	if c.active > 0 {
		level = s.filled(id)
	}
	s.carry(id, level)
	above := level * (1 + s.tolerance)
	list := s.members[id]
	for i := c.own; int(i) < len(list); i++ {
		if m := list[i]; s.flows[m.flow].state == flowStopped && s.level(m.flow) > above {
			s.relocate(m.flow, id, id)
		}
	}
	s.count(id)
}

// takesOver tells whether members of a channel that are stopped elsewhere are above a level.
func (s *filling) takesOver(id int32, level float64) bool {
	level *= 1 + s.tolerance
	for i := range s.in[id] {
		if s.channels[s.in[id][i].other].level > level {
			return true
		}
	}
	return false
}

// stopOpen stops the open members of a channel at its level.
func (s *filling) stopOpen(id int32) {
	c := &s.channels[id]
	list := s.members[id]
	for i := 0; c.open > 0 && i < len(list); i++ {
		if m := list[i]; s.flows[m.flow].state == flowOpen {
			s.freeze(m.flow, id)
		}
	}
}

// count sums up anew what the members stopped elsewhere use of a channel.
func (s *filling) count(id int32) {
	used := 0.0
	for i := range s.in[id] {
		e := &s.in[id][i]
		used += e.weight * s.channels[e.other].level
	}
	s.channels[id].used = used
}

// filled is the level at which the members of a channel use it up. Members that are stopped elsewhere rise to
// their level there at most, and its own for ever. Where that is not quite enough, the highest go on.
func (s *filling) filled(id int32) float64 {
	c := &s.channels[id]
	list := s.in[id]
	used, weight, highest, top := 0.0, c.weight, 0.0, 0.0
	for i := range list {
		e := &list[i]
		if e.weight == 0 {
			continue
		}
		y := s.channels[e.other].level
		used += e.weight * y
		weight += e.weight
		switch {
		case y > highest*(1+levelTolerance):
			highest, top = y, e.weight
		case y >= highest*(1-levelTolerance):
			top += e.weight
		}
	}
	c.used = used // no rounding stays
	if c.active == 0 && used <= c.capacity*(1+overTolerance) {
		return highest + max(0, c.capacity-used)/top
	}
	level := c.capacity / weight
	for {
		used, rising := 0.0, c.weight
		for i := range list {
			e := &list[i]
			if y := s.channels[e.other].level; e.weight > 0 && y > level {
				rising += e.weight
			} else {
				used += e.weight * y
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
