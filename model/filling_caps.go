package model

import "math"

// enter counts what the members of a channel take at the current level.
func (s *filling) enter(c *channel) {
	c.state = channelEntered
	c.used, c.weight, c.active = 0, 0, 0
	c.capStart = int32(len(s.caps))
	settled := s.now * (1 - levelTolerance)
	for _, m := range c.members {
		y := s.level[m.flow]
		switch st := s.state[m.flow]; {
		case m.weight == 0:
		case st == flowFrozen || st == flowClean && y < settled:
			c.used += m.weight * y
		default:
			c.weight += m.weight
			c.active++
			if st == flowClean {
				s.caps = append(s.caps, capEntry{y, m.weight, m.flow})
			}
		}
	}
	c.capLen = int32(len(s.caps)) - c.capStart
	heapifyCaps(s.caps[c.capStart:])
}

// saturation is the level at which an entered channel saturates if the members
// that count in weight all go on rising.
func (c *channel) saturation(now float64) float64 {
	if c.active > 0 {
		return max(0, c.capacity-c.used) / c.weight
	}
	// The last member was stopped elsewhere at the very level at which it would
	// have filled this channel: both are saturated.
	if c.capacity-c.used <= capacityTolerance*c.capacity && len(c.members) > 0 {
		return now
	}
	return math.Inf(1)
}

// passCaps settles the members of an entered channel that stopped below the
// current level.
func (s *filling) passCaps(c *channel) {
	settled := s.now * (1 - levelTolerance)
	for c.capLen > 0 {
		caps := s.caps[c.capStart : c.capStart+c.capLen]
		top := caps[0]
		if s.state[top.flow] == flowClean {
			if top.level >= settled {
				return
			}
			c.settle(top.weight, top.level)
		}
		caps[0] = caps[len(caps)-1]
		c.capLen--
		siftDownCaps(caps[:c.capLen], 0)
	}
}

// settle moves a member from the rising ones to the settled ones.
func (c *channel) settle(weight, level float64) {
	c.used += weight * level
	c.weight -= weight
	if c.active--; c.active == 0 {
		c.weight = 0
	}
}

// heapifyCaps orders the caps of a channel as a binary heap by level. O(n).
func heapifyCaps(h []capEntry) {
	for i := len(h)/2 - 1; i >= 0; i-- {
		siftDownCaps(h, i)
	}
}

func siftDownCaps(h []capEntry, i int) {
	for {
		child := 2*i + 1
		if child >= len(h) {
			return
		}
		if child+1 < len(h) && h[child+1].level < h[child].level {
			child++
		}
		if h[i].level <= h[child].level {
			return
		}
		h[i], h[child] = h[child], h[i]
		i = child
	}
}
