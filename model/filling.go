package model

import "math"

// filling is the incremental max-min solver: progressive filling over
// channels (specification in the doc of Solver), repeated only where something
// changed.
//
// The solution is described by levels. Filling raises the level of all flows
// together; a channel saturates at the level at which its members use it up,
// and its members stay at that level if nothing stopped them before. So the
// level of a flow is the least level of its channels (or its own bound), and
// the level of a channel follows from the levels of its members that are
// lower. That makes the solution unique, and lets a change be carried upward
// in one sweep in the order of levels: whatever is settled below the current level
// stays. A channel takes part from the level at which one of its members
// changes ("dirty"); a flow is opened when the channel that stopped it no
// longer does, and is lowered when a channel stops it earlier than before.
type filling struct {
	channels []channel
	flows    []flow
	level    []float64 // per flow: its level; its rate is level * share
	state    []flowState
	before   []float64 // per flow: its level before the sweep, where touched

	// Scratch of one sweep.
	touched []int32 // flows opened or lowered
	dirty   []int32 // channels that take part
	caps    []capEntry
	queue   []queueEntry
	now     float64 // the level that the sweep has reached
}

type channel struct {
	capacity float64  // B/s
	level    float64  // at which it saturates; +Inf if it does not
	members  []member // unordered, but in an order fixed by the calls

	// Of the sweep.
	state    channelState
	since    float64 // the level from which its state may differ, while clean
	used     float64 // B/s taken by members whose level is settled
	weight   float64 // of the members that are not
	active   int32   // how many those are
	capStart int32   // its part of caps: a heap of clean members that count in weight
	capLen   int32
}

type channelState uint8

const (
	channelClean   channelState = iota
	channelTouched              // a change waits for the next sweep
	channelDirty                // in the sweep's queue
	channelSettled              // saturated in this sweep, or never will be
)

type flow struct {
	hops  []hop
	share float64 // rate per level
	bound float64 // level that it never exceeds
}

// hop is the membership of a flow in a channel.
type hop struct {
	channel int32
	place   int32   // index in the channel's members
	weight  float64 // B/s of the channel per level
	data    bool    // data, not only acknowledgements
}

type member struct {
	flow   int32
	hop    int32 // index in the flow's hops
	weight float64
}

type flowState uint8

const (
	flowClean  flowState = iota // keeps its level
	flowOpen                    // rises with the current level
	flowFrozen                  // has a new level
	flowGone
)

type capEntry struct {
	level  float64
	weight float64
	flow   int32
}

// queueEntry waits in the queue of a sweep: channel id, or flow ^id for the
// flow's own bound. The key is never above the level at which something happens,
// for levels of saturation only rise while members stop.
type queueEntry struct {
	key float64
	id  int32
}

const (
	levelTolerance    = 1e-12 // two levels are one
	capacityTolerance = 1e-9  // a channel is used up
)

func newFilling(capacity []float64) *filling {
	s := &filling{channels: make([]channel, len(capacity))}
	for i, c := range capacity {
		s.channels[i] = channel{capacity: c, level: math.Inf(1), since: math.Inf(1)}
	}
	return s
}

// grow makes room for flow id.
func (s *filling) grow(id int) {
	for id >= len(s.flows) {
		s.flows = append(s.flows, flow{})
		s.level = append(s.level, 0)
		s.before = append(s.before, 0)
		s.state = append(s.state, flowGone)
	}
}

// add enters flow id, whose hops the caller has filled but for the place, into
// its channels.
func (s *filling) add(id int, share, bound float64) {
	f := &s.flows[id]
	f.share, f.bound = share, bound/share
	s.state[id] = flowOpen
	s.level[id], s.before[id] = 0, 0
	s.touched = append(s.touched, int32(id))
	for i := range f.hops {
		h := &f.hops[i]
		c := &s.channels[h.channel]
		h.place = int32(len(c.members))
		c.members = append(c.members, member{int32(id), int32(i), h.weight})
		s.touch(h.channel, 0)
	}
}

// remove takes the flow out of its channels and keeps its slice of hops.
func (s *filling) remove(id int) {
	f := &s.flows[id]
	for _, h := range f.hops {
		c := &s.channels[h.channel]
		last := c.members[len(c.members)-1]
		c.members[h.place] = last
		s.flows[last.flow].hops[last.hop].place = h.place
		c.members = c.members[:len(c.members)-1]
		s.touch(h.channel, s.level[id])
	}
	f.hops = f.hops[:0]
	s.state[id] = flowGone
}

func (s *filling) setCapacity(c int, capacity float64) {
	s.channels[c].capacity = capacity
	s.touch(int32(c), 0)
}

// setBound changes the rate that the flow never exceeds.
func (s *filling) setBound(id int, bound float64) {
	f := &s.flows[id]
	if bound/f.share == f.bound {
		return
	}
	f.bound = bound / f.share
	if s.state[id] != flowClean {
		return // already waiting
	}
	// Below the lower of its old level and the new bound nothing changes.
	since := min(s.level[id], f.bound)
	s.before[id] = s.level[id]
	s.state[id] = flowOpen
	s.touched = append(s.touched, int32(id))
	for _, h := range f.hops {
		s.touch(h.channel, since)
	}
}

// touch notes that the channel may fill differently from a level on.
func (s *filling) touch(c int32, since float64) {
	ch := &s.channels[c]
	if ch.state == channelClean {
		ch.state = channelTouched
		s.dirty = append(s.dirty, c)
	}
	ch.since = min(ch.since, since)
}

// solve brings the levels up to date and appends to dst the flows whose
// levels changed, in no particular order.
func (s *filling) solve(dst []int) []int {
	s.queue, s.caps, s.now = s.queue[:0], s.caps[:0], 0
	for _, id := range s.touched {
		if s.state[id] == flowOpen && !math.IsInf(s.flows[id].bound, 1) {
			s.push(s.flows[id].bound, ^id)
		}
	}
	for _, c := range s.dirty {
		s.push(s.channels[c].since, c)
	}
	for len(s.queue) > 0 {
		top := s.pop()
		s.now = max(s.now, top.key)
		if id := ^top.id; top.id >= 0 {
			s.visit(top.id)
		} else if s.state[id] == flowOpen {
			s.freeze(id, s.flows[id].bound, -1)
		}
	}
	for _, id := range s.touched {
		if s.state[id] == flowGone {
			continue
		}
		if s.state[id] == flowOpen {
			s.level[id] = s.flows[id].bound
		}
		s.state[id] = flowClean
		if s.level[id] != s.before[id] {
			s.before[id] = s.level[id]
			dst = append(dst, int(id))
		}
	}
	for _, c := range s.dirty {
		s.channels[c].state, s.channels[c].since = channelClean, math.Inf(1)
	}
	s.touched, s.dirty = s.touched[:0], s.dirty[:0]
	return dst
}

// enter makes a channel part of the sweep, from the given level on.
func (s *filling) enter(id int32, since float64) {
	c := &s.channels[id]
	c.state = channelDirty
	c.used, c.weight, c.active = 0, 0, 0
	c.capStart = int32(len(s.caps))
	settled := since * (1 - levelTolerance)
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

// enterNow makes a channel part of the sweep at the current level, unless it is.
func (s *filling) enterNow(id int32) {
	c := &s.channels[id]
	switch c.state {
	case channelClean:
		s.dirty = append(s.dirty, id)
	case channelTouched: // its entry in the queue stays, and does no harm
	default:
		return
	}
	s.enter(id, s.now)
	s.push(max(s.now, min(c.saturation(s.now), c.level)), id)
}

// saturation is the level at which the channel saturates if the members that
// count in weight all go on rising.
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

// visit does what happens to a channel at the current level.
func (s *filling) visit(id int32) {
	c := &s.channels[id]
	switch c.state {
	case channelTouched:
		s.enter(id, s.now)
	case channelSettled:
		return
	}
	// Members that stopped below the current level count no longer.
	settled := s.now * (1 - levelTolerance)
	for c.capLen > 0 {
		caps := s.caps[c.capStart : c.capStart+c.capLen]
		top := caps[0]
		if s.state[top.flow] == flowClean {
			if top.level >= settled {
				break
			}
			c.settle(top.weight, top.level)
		}
		caps[0] = caps[len(caps)-1]
		c.capLen--
		siftDownCaps(caps[:c.capLen], 0)
	}
	reached := s.now * (1 + levelTolerance)
	full := c.saturation(s.now)
	if full <= reached {
		s.saturate(id, full)
		return
	}
	if c.level <= reached {
		s.release(id)
	}
	if key := min(full, c.level); math.IsInf(key, 1) {
		c.state = channelSettled
	} else {
		s.push(key, id)
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

// saturate stops the members of a channel at the given level.
func (s *filling) saturate(id int32, level float64) {
	c := &s.channels[id]
	c.state, c.level = channelSettled, level
	above := level * (1 + levelTolerance)
	for _, m := range c.members {
		switch s.state[m.flow] {
		case flowOpen:
			s.freeze(m.flow, level, id)
		case flowClean:
			switch y := s.level[m.flow]; {
			case y > above:
				s.before[m.flow] = y
				s.touched = append(s.touched, m.flow)
				s.freeze(m.flow, level, id)
			case y >= level*(1-4*levelTolerance):
				s.level[m.flow] = level // the same but for rounding
			}
		}
	}
}

// freeze stops a flow at a level on behalf of a channel, -1 for its own bound,
// and tells its other channels.
func (s *filling) freeze(id int32, level float64, by int32) {
	s.state[id] = flowFrozen
	s.level[id] = level
	for _, h := range s.flows[id].hops {
		if h.channel == by {
			continue
		}
		if c := &s.channels[h.channel]; c.state != channelDirty {
			s.enterNow(h.channel)
		} else if h.weight > 0 {
			c.settle(h.weight, level)
		}
	}
}

// release notes that a channel no longer saturates at its old level, and opens
// the members that nothing else stops there.
func (s *filling) release(id int32) {
	c := &s.channels[id]
	level := c.level
	c.level = math.Inf(1)
	for _, m := range c.members {
		if s.state[m.flow] != flowClean || s.level[m.flow] < level*(1-4*levelTolerance) {
			continue
		}
		f := &s.flows[m.flow]
		limit := s.level[m.flow] * (1 + 2*levelTolerance)
		stopped := f.bound <= limit
		for _, h := range f.hops {
			stopped = stopped || s.channels[h.channel].level <= limit
		}
		if !stopped {
			s.open(m.flow)
		}
	}
}

// open lets a flow rise from its level on.
func (s *filling) open(id int32) {
	f := &s.flows[id]
	s.state[id] = flowOpen
	s.before[id] = s.level[id]
	s.touched = append(s.touched, id)
	if !math.IsInf(f.bound, 1) {
		s.push(f.bound, ^id)
	}
	for _, h := range f.hops {
		s.enterNow(h.channel)
	}
}
