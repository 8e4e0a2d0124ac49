package contention

import (
	"math"

	"github.com/topocast/topocast/internal/queue"
)

// filling is the incremental max-min solver: what progressive filling over
// channels (specification in the doc of Solver) comes to, worked out anew only where
// something changed.
//
// The solution is described by levels. A flow's level is the least level of its
// channels (or its own bound), and that channel is said to stop it. A channel's level
// is the one at which its members use it up, given those that are stopped elsewhere:
//
//	level = (capacity - used by members stopped elsewhere) / weight of the others
//
// Levels for which both hold everywhere are those of filling, from the lowest up:
// no channel can be lower than the least of capacity/weight, the one that has it is settled
// whatever the others do, and so on with what is left. So the order in which channels
// are brought in line does not matter to the result. It matters to the work: lower
// ones first, and what is lower is never visited again but for what follows.
//
// A change touches few channels. Each is visited, gives its new level to
// the flows that it stops, and so changes what is used of their other channels: mostly
// some flows and hops, with no flow changing hands. A channel that rises above another one on
// a flow's way lets the flow go to it; a channel that falls takes over the
// flows that were higher. Flows that nothing stops as yet are open: they count as
// members to be stopped in all of their channels, and the lowest takes them.
type filling struct {
	channels []channel
	members  [][]member // per channel: own[c] stopped by it or open, then the others; in an order fixed by the calls
	flows    []flowEntry
	level    []float64 // per flow: its level; its rate is level * share
	height   []float64 // per channel: its level, at which it is used up; +Inf if it is not

	// Where members of no weight or what stops a flow count, a channel that is used up by members
	// stopped elsewhere has a level, too: ties. Elsewhere that only costs time.
	ties bool
	full float64 // share of its capacity from which on such a channel is looked at

	tolerance float64 // share of a channel's level that it need not follow

	// Where it is asked for, solve also reports the flows that something else stops at the level that they
	// had, and how the levels of channels changed, in that order, until the caller clears it.
	tells   bool
	changed []levelChange

	dirty []int32 // channels that changed since the last sweep

	// Of one sweep.
	sweeps  bool    // it is under way
	touched []int32 // flows that changed
	now     float64 // the level that the sweep has reached

	// Of channels by number, keyed by the level from which on they are to be brought in
	// line, and of open flows by ^number, each for the flow's own bound.
	queue queue.Min
}

type channel struct {
	capacity float64 // B/s
	used     float64 // B/s of the members stopped elsewhere
	weight   float64 // of the others
	key      float64 // of its entry in the queue that counts; others are stale; +Inf: none
	seen     float64 // the last level that was not +Inf
	own      int32   // members stopped by it or open with weight
	active   int32   // those of own that have weight
	open     int32   // members that are open
	heavy    int32   // members that have weight
	dirty    bool
}

// levelChange is that of a channel, which may change several times in a sweep.
type levelChange struct {
	channel int32
	before  float64
}

type flowEntry struct {
	hops   []hop // data channels first; those with weight first
	share  float64
	bound  float64 // level that it never exceeds
	before float64 // its level before the sweep, where touched
	stop   int32   // the channel that stops it; ownBound
	data   int32   // hops[:data] carry data
	heavy  int32   // hops[:heavy] have weight
	state  flowState
	was    bool // touched
	moved  bool // since then something else stops it
}

// hop is the membership of a flow in a channel.
type hop struct {
	weight  float64 // B/s of the channel per level
	channel int32
	place   int32 // index in the channel's members
}

type member struct {
	flow   int32
	hop    int32 // index in the flow's hops
	weight float64
}

type flowState uint8

const (
	flowGone flowState = iota
	flowOpen           // to be stopped
	flowStopped
)

// ownBound stands for a flow's bound where a channel that stops it is named.
const ownBound = -1

// unlimited is the level of flows that nothing stops: out of reach, but a number, so that sums stay such.
const unlimited = 1e200

const (
	levelTolerance    = 1e-12 // two levels are one
	capacityTolerance = 1e-9  // a channel is used up
	overTolerance     = 1e-11 // it is not over-committed, but for rounding
	afterOwners       = 1 + 4*levelTolerance
)

func newFilling(capacity []float64, ties bool) *filling {
	s := &filling{
		channels: make([]channel, len(capacity)), members: make([][]member, len(capacity)), height: make([]float64, len(capacity)),
		ties: ties, full: 1 + overTolerance, tolerance: levelTolerance,
	}
	if ties {
		s.full = 1 - capacityTolerance
	}
	for i, c := range capacity {
		s.channels[i], s.height[i] = channel{capacity: c, key: math.Inf(1)}, math.Inf(1)
	}
	return s
}

// tolerate lets channels follow only what changes their level by more. What ties is then as
// near to a capacity as the levels of two flows are to theirs.
func (s *filling) tolerate(tolerance float64) {
	s.tolerance = max(levelTolerance, tolerance)
	if s.ties {
		s.full = 1 - s.tied()
	}
}

// tied is within what share two levels are one, of channels that stop a flow together.
func (s *filling) tied() float64 { return max(capacityTolerance, 2*s.tolerance) }

// grow makes room for flow id.
func (s *filling) grow(id int) {
	for id >= len(s.flows) {
		s.flows = append(s.flows, flowEntry{})
		s.level = append(s.level, 0)
	}
}

// add enters flow id, whose hops the caller has filled, into its channels.
func (s *filling) add(id int, share, bound float64) {
	f := &s.flows[id]
	f.share, f.bound, f.stop, f.heavy, f.was = share, min(bound/share, unlimited), ownBound, 0, false
	s.level[id] = 0
	for i := range f.hops {
		h := &f.hops[i]
		h.place = int32(len(s.members[h.channel]))
		s.members[h.channel] = append(s.members[h.channel], member{int32(id), int32(i), h.weight})
		if h.weight > 0 {
			f.heavy++
			s.channels[h.channel].heavy++
		}
	}
	s.setOpen(int32(id))
}

// remove takes the flow out of its channels and keeps its slice of hops.
func (s *filling) remove(id int) {
	f := &s.flows[id]
	for i := range f.hops {
		h := &f.hops[i]
		c := &s.channels[h.channel]
		own := h.place < c.own
		if own {
			s.disown(h)
		}
		list := s.members[h.channel]
		last := list[len(list)-1]
		list[h.place] = last
		s.flows[last.flow].hops[last.hop].place = h.place
		s.members[h.channel] = list[:len(list)-1]
		if f.state == flowOpen {
			c.open--
		}
		if h.weight > 0 {
			c.heavy--
			if own {
				c.drop(h.weight)
			} else {
				c.used -= h.weight * s.level[id]
			}
			if c.heavy == c.active {
				c.used = 0 // no rounding stays
			}
		}
		s.update(h.channel)
	}
	f.hops, f.state, f.was = f.hops[:0], flowGone, false
}

func (s *filling) setCapacity(id int, capacity float64) {
	c := &s.channels[id]
	c.capacity = capacity
	s.count(int32(id))
	s.update(int32(id))
}

// setBound changes the rate that the flow never exceeds.
func (s *filling) setBound(id int, bound float64) {
	f := &s.flows[id]
	before := f.bound
	if bound = min(bound/f.share, unlimited); bound == before {
		return
	}
	f.bound = bound
	if f.state != flowStopped {
		s.watchBound(int32(id))
		return
	}
	switch level := s.level[id]; {
	case bound < level:
		s.relocate(int32(id), ownBound, bound, ownBound)
	case f.stop == ownBound:
		if stop, least := s.least(f, ownBound); least == unlimited {
			s.setOpen(int32(id))
		} else {
			s.relocate(int32(id), stop, least, ownBound)
		}
	}
}

// touch notes that the flow is about to change.
func (s *filling) touch(id int32, f *flowEntry) {
	if !f.was {
		f.was, f.moved, f.before = true, false, s.level[id]
		s.touched = append(s.touched, id)
	}
}

// enown makes the member of a hop one that the channel stops, or that is open.
func (s *filling) enown(h *hop) {
	c := &s.channels[h.channel]
	s.swap(h, c.own)
	c.own++
}

// disown undoes it.
func (s *filling) disown(h *hop) {
	c := &s.channels[h.channel]
	c.own--
	s.swap(h, c.own)
}

func (s *filling) swap(h *hop, to int32) {
	if from := h.place; from != to {
		list := s.members[h.channel]
		other := list[to]
		list[to], list[from] = list[from], other
		s.flows[other.flow].hops[other.hop].place = from
		h.place = to
	}
}

// drop takes the weight of a member out of what the channel stops.
func (c *channel) drop(weight float64) {
	c.weight -= weight
	if c.active--; c.active == 0 {
		c.weight = 0
	}
}

// take puts it in.
func (c *channel) take(weight float64) {
	c.weight += weight
	c.active++
}

// setOpen marks a flow as one that nothing stops.
func (s *filling) setOpen(id int32) {
	f, level := &s.flows[id], s.level[id]
	s.touch(id, f)
	f.state = flowOpen
	for i := range f.hops {
		h := &f.hops[i]
		c := &s.channels[h.channel]
		c.open++
		switch own := h.place < c.own; {
		case h.weight > 0 && !own:
			c.used -= h.weight * level
			c.take(h.weight)
			s.enown(h)
		case h.weight == 0 && own:
			s.disown(h)
		}
		s.update(h.channel)
	}
	f.stop = ownBound
	s.watchBound(id)
}

// watchBound queues an open flow for its own bound.
func (s *filling) watchBound(id int32) {
	if b := s.flows[id].bound; b < unlimited {
		s.queue.Push(queue.Item{Key: b, ID: ^int64(id)})
	}
}
