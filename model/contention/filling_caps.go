package contention

import "math"

// enter counts what the members of a channel take at the current level.
func (s *filling) enter(id int32) {
	s.channels[id].state = channelEntered
	t := &s.tallies[id]
	t.used, t.weight, t.active = 0, 0, 0
	t.capStart = int32(len(s.caps))
	settled := s.now * (1 - levelTolerance)
	for _, m := range t.members {
		y := s.level[m.flow]
		switch st := s.state[m.flow]; {
		case m.weight == 0:
		case st == flowFrozen || st == flowClean && y < settled:
			t.used += m.weight * y
		default:
			t.weight += m.weight
			t.active++
			if st == flowClean {
				s.caps = append(s.caps, capEntry{y, m.weight, m.flow})
			}
		}
	}
	t.capLen = int32(len(s.caps)) - t.capStart
	heapifyCaps(s.caps[t.capStart:])
}

// saturation is the level at which an entered channel saturates if the members
// that count in weight all go on rising.
func (t *tally) saturation(capacity, now float64) float64 {
	if t.active > 0 {
		return max(0, capacity-t.used) / t.weight
	}
	// The last member was stopped elsewhere at the very level at which it would
	// have filled this channel: both are saturated.
	if capacity-t.used <= capacityTolerance*capacity && len(t.members) > 0 {
		return now
	}
	return math.Inf(1)
}

// passCaps settles the members of an entered channel that stopped below the
// current level.
func (s *filling) passCaps(t *tally) {
	settled := s.now * (1 - levelTolerance)
	for t.capLen > 0 {
		caps := s.caps[t.capStart : t.capStart+t.capLen]
		top := caps[0]
		if s.state[top.flow] == flowClean {
			if top.level >= settled {
				return
			}
			t.settle(top.weight, top.level)
		}
		caps[0] = caps[len(caps)-1]
		t.capLen--
		siftDownCaps(caps[:t.capLen], 0)
	}
}

// settle moves a member from the rising ones to the settled ones.
func (t *tally) settle(weight, level float64) {
	t.used += weight * level
	t.weight -= weight
	if t.active--; t.active == 0 {
		t.weight = 0
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
