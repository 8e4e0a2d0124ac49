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
// stays. A flow is opened when the channel that stopped it no longer does,
// and is lowered when a channel stops it earlier than before. A channel one of
// whose members changes is watched: its load and the weight of its open
// members bound from below the level at which it can saturate. Only when the
// sweep gets there does it look at its members.
//
// What a sweep reads at random is kept small: with ten thousand flows it is
// the cache that tells how long a sweep takes.
type filling struct {
	channels []channel
	full     []float64 // per channel: the level at which it saturates; +Inf if it does not
	tallies  []tally   // per channel
	flows    []flow
	level    []float64 // per flow: its level; its rate is level * share
	state    []flowState
	before   []float64 // per flow: its level before the sweep, where touched

	// Scratch of one sweep.
	touched []int32 // flows opened or lowered
	dirty   []int32 // channels that take part
	moved   []int32 // channels whose levels the last sweep changed
	caps    []capEntry
	queue   []queueEntry
	open    int     // flows that rise
	thinAt  int     // length of the queue from which it is thinned
	now     float64 // the level that the sweep has reached
}

type channel struct {
	capacity float64 // B/s

	// Kept up as levels change.
	load   float64 // B/s of all members, open ones as before the sweep
	rising float64 // weight of the open members
	risen  float64 // their part of load
	open   int32   // how many of the members with weight are open

	// Of the sweep.
	state channelState
	key   float64 // of its entry in the queue that counts; others are stale
}

// tally is what a channel counts when it is looked at closely.
type tally struct {
	members  []member // unordered, but in an order fixed by the calls
	was      float64  // its level before the sweep
	used     float64  // B/s taken by members whose level is settled
	weight   float64  // of the members that are not
	active   int32    // how many those are
	capStart int32    // its part of caps: a heap of clean members that count in weight
	capLen   int32
}

type channelState uint8

const (
	channelClean   channelState = iota
	channelWatched              // by load and rising
	channelEntered              // by used, weight, active and caps
	channelSettled              // saturated in this sweep
)

type flow struct {
	hops  []hop
	place []int32 // per hop: index in the channel's members
	share float64 // rate per level
	bound float64 // level that it never exceeds
}

// hop is the membership of a flow in a channel.
type hop struct {
	weight  float64 // B/s of the channel per level
	channel int32
	data    bool // data, not only acknowledgements
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

// shortQueue is the length of a queue that is not worth thinning. It decides the time alone.
const shortQueue = 32

const (
	levelTolerance    = 1e-12              // two levels are one
	capacityTolerance = 1e-9               // a channel is used up
	equalLevels       = 4 * levelTolerance // of two that were each rounded up and down
)

func newFilling(capacity []float64) *filling {
	s := &filling{
		channels: make([]channel, len(capacity)), full: make([]float64, len(capacity)), tallies: make([]tally, len(capacity)),
	}
	for i, c := range capacity {
		s.channels[i].capacity, s.full[i] = c, math.Inf(1)
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

// add enters flow id, whose hops the caller has filled, into its channels.
func (s *filling) add(id int, share, bound float64) {
	f := &s.flows[id]
	f.share, f.bound = share, bound/share
	s.level[id] = 0
	f.place = f.place[:0]
	for i, h := range f.hops {
		t := &s.tallies[h.channel]
		f.place = append(f.place, int32(len(t.members)))
		t.members = append(t.members, member{int32(id), int32(i), h.weight})
	}
	s.setOpen(int32(id))
}

// remove takes the flow out of its channels and keeps its slice of hops.
func (s *filling) remove(id int) {
	f := &s.flows[id]
	for i, h := range f.hops {
		c, t := &s.channels[h.channel], &s.tallies[h.channel]
		last := t.members[len(t.members)-1]
		t.members[f.place[i]] = last
		s.flows[last.flow].place[last.hop] = f.place[i]
		t.members = t.members[:len(t.members)-1]
		c.load -= h.weight * s.level[id]
		if s.state[id] == flowOpen {
			c.close(h.weight, s.level[id])
		}
		if len(t.members) == 0 {
			c.load = 0
		}
		s.touch(h.channel)
	}
	f.hops = f.hops[:0]
	if s.state[id] == flowOpen {
		s.open--
	}
	s.state[id] = flowGone
}

func (s *filling) setCapacity(c int, capacity float64) {
	s.channels[c].capacity = capacity
	s.touch(int32(c))
}

// setBound changes the rate that the flow never exceeds.
func (s *filling) setBound(id int, bound float64) {
	f := &s.flows[id]
	if bound/f.share == f.bound {
		return
	}
	f.bound = bound / f.share
	if s.state[id] == flowClean {
		s.setOpen(int32(id))
	}
}

// setOpen marks a flow as one that rises, and touches its channels.
func (s *filling) setOpen(id int32) {
	s.state[id] = flowOpen
	s.open++
	s.before[id] = s.level[id]
	s.touched = append(s.touched, id)
	for _, h := range s.flows[id].hops {
		if h.weight > 0 {
			c := &s.channels[h.channel]
			c.open++
			c.rising += h.weight
			c.risen += h.weight * s.level[id]
		} else if math.IsInf(s.full[h.channel], 1) {
			continue // if it comes to saturate, its other members tell
		}
		s.touch(h.channel)
	}
}

// close takes the weight of an open member of the given level before the sweep
// out of what rises.
func (c *channel) close(weight, before float64) {
	if weight == 0 {
		return
	}
	c.rising -= weight
	c.risen -= weight * before
	if c.open--; c.open == 0 {
		c.rising, c.risen = 0, 0
	}
}

// touch makes the channel part of the next sweep.
func (s *filling) touch(id int32) {
	if c := &s.channels[id]; c.state == channelClean {
		c.state, c.key = channelWatched, math.Inf(1)
		s.tallies[id].was = s.full[id]
		s.dirty = append(s.dirty, id)
	}
}

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
		if top.id < 0 {
			s.pop()
			if id := ^top.id; s.state[id] == flowOpen {
				s.now = max(s.now, top.key)
				s.freeze(id, s.flows[id].bound)
			}
			continue
		}
		c := &s.channels[top.id]
		if c.state == channelSettled || top.key != c.key {
			s.pop()
			continue
		}
		s.now = max(s.now, top.key)
		if c.state == channelWatched {
			// Mostly it has only got more room since: then it goes further down.
			if key := min(c.bound(), s.full[top.id]); key > s.now*(1+levelTolerance) {
				if c.key = key; math.IsInf(key, 1) {
					s.pop()
				} else {
					s.queue[0].key = key
					s.siftDown(0)
				}
				continue
			}
		}
		s.pop()
		s.visit(top.id)
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
		if e.id < 0 {
			continue
		}
		c := &s.channels[e.id]
		if e.key != c.key || c.state == channelSettled {
			continue
		}
		if c.state == channelWatched && math.IsInf(min(c.bound(), s.full[e.id]), 1) {
			c.key = math.Inf(1)
			continue
		}
		kept = append(kept, e)
	}
	s.queue = kept
	for i := (len(kept) - 2) / 4; i >= 0 && len(kept) > 1; i-- {
		s.siftDown(i)
	}
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
		s.push(key, id)
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
		s.push(b, ^id)
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
		s.push(c.key, id)
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
func (s *filling) stops(f *flow, level float64) bool {
	for _, h := range f.hops {
		if s.full[h.channel] <= level {
			return true
		}
	}
	return false
}
