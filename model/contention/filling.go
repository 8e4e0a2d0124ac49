package contention

import (
	"math"

	"github.com/topocast/topocast/internal/queue"
)

// filling is the incremental max-min solver: what progressive filling over
// channels (specification in the doc of Solver) comes to, worked out anew only where
// something changed.
//
// The solution is a level per channel, and for each flow the channel that stops it, which is the
// lowest of its channels. A flow's rate is that level times its share. A bound of a flow is
// a channel of its own. A channel's level is the one at which its members use
// it up, given those that are stopped elsewhere:
//
//	level = (capacity - used by members stopped elsewhere) / weight of the others
//
// Levels for which both hold everywhere are those of filling, from the lowest up:
// no channel can be lower than the least of capacity/weight, the one that has it is settled
// whatever the others do, and so on with what is left. So the order in which channels
// are brought in line does not matter to the result. It matters to the work: lower
// ones first, and what is lower is rarely visited again.
//
// A change of one channel's level changes what is used of the channels that the flows cross
// which it stops. These channels and their weights are its edges, so that a visit
// touches edges and no flows: nearly always no flow changes hands. A channel that rises
// above another one on a flow's way lets the flow go to it. A channel that falls takes over
// the flows that were higher. Flows that nothing stops as yet are open: they count as
// members to be stopped in all of their channels, and the lowest takes them.
type filling struct {
	channels []channel
	places   []place     // per channel
	members  [][]member  // per channel: own[c] stopped by it or open, then the others; in an order fixed by the calls
	out, in  [][]edge    // per channel: what the flows that it stops cross, and by what its members are stopped
	flows    []flowEntry // by number
	nothing  int32       // the channel that stands for what stops a flow that nothing stops
	private  []int32     // channels of bounds that may be used again, last one first

	// Where members of no weight or what stops a flow count, a channel that is used up by members
	// stopped elsewhere has a level, too: ties. Elsewhere that only costs time.
	ties bool
	full float64 // share of its capacity from which on such a channel is looked at

	tolerance float64 // share of a channel's level that it need not follow

	dirty []int32 // channels that changed since the last sweep

	// What the last sweep changed, until forget.
	moved []int32 // flows that another channel stops, where flowEntry.moved
	risen []int32 // channels of another level

	// Of one sweep.
	sweeps bool      // it is under way
	now    float64   // the level that the sweep has reached
	queue  queue.Min // channels, keyed by the level from which on they are to be brought in line
}

// channel is what a sweep reads and writes most; it fills a line of the cache.
type channel struct {
	capacity float64 // B/s
	used     float64 // B/s of the members stopped elsewhere
	weight   float64 // of the others
	level    float64 // at which it is used up; +Inf if it is not
	key      float64 // of its entry in the queue that counts; others are stale; +Inf: none
	own      int32   // members stopped by it or open with weight
	active   int32   // those of own that have weight
	open     int32   // members that are open
	heavy    int32   // members that have weight
}

// place is what else is known of a channel.
type place struct {
	seen   float64 // the last level that was not +Inf
	before float64 // the level before the sweep, where risen
	risen  bool
	dirty  bool
}

type flowEntry struct {
	hops  []hop // data channels, then reverse ones, then that of the bound if it has one
	share float64
	stop  int32 // the channel that stops it, if it is not open
	data  int32 // hops[:data] carry data
	bound int32 // the channel of its bound, or the one for nothing
	state flowState
	moved bool // since the last sweep something else stops it
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

// edge joins a channel that stops flows with another one that they cross. Both have it.
type edge struct {
	weight float64 // of these flows in the channel that they cross
	other  int32   // the channel at the other end
	back   int32   // index among the edges of the other one
	flows  int32
	heavy  int32 // those of them that have weight there
}

type flowState uint8

const (
	flowGone flowState = iota
	flowOpen           // to be stopped
	flowStopped
)

// unlimited is the level of flows that nothing stops: out of reach, but a number, so that sums stay such.
const unlimited = 1e200

const (
	levelTolerance    = 1e-12 // two levels are one
	capacityTolerance = 1e-9  // a channel is used up
	overTolerance     = 1e-11 // it is not over-committed, but for rounding
	afterOwners       = 1 + 4*levelTolerance
)

func newFilling(capacity []float64, ties bool) *filling {
	s := &filling{nothing: int32(len(capacity)), ties: ties, full: 1 + overTolerance, tolerance: levelTolerance}
	if ties {
		s.full = 1 - capacityTolerance
	}
	for _, c := range capacity {
		s.newChannel(c)
	}
	s.channels[s.newChannel(math.Inf(1))].level = unlimited
	return s
}

func (s *filling) newChannel(capacity float64) int32 {
	s.channels = append(s.channels, channel{capacity: capacity, key: math.Inf(1), level: math.Inf(1)})
	s.places = append(s.places, place{})
	s.members, s.out, s.in = append(s.members, nil), append(s.out, nil), append(s.in, nil)
	return int32(len(s.channels) - 1)
}

// tolerate lets channels follow only what changes their level by more. What ties is then as
// near to a capacity as the levels of two flows are to theirs.
func (s *filling) tolerate(tolerance float64) {
	s.tolerance = max(levelTolerance, tolerance)
	if s.ties {
		s.full = 1 - s.tied()
	}
}

// refine brings everything in line again after a tolerance has become less.
func (s *filling) refine() {
	for i := range s.flows {
		if f := &s.flows[i]; f.state == flowStopped {
			if stop, least := s.least(f, f.stop); least < s.level(int32(i)) {
				s.relocate(int32(i), stop, s.nothing)
			}
		}
	}
	for c := range s.channels {
		s.update(int32(c))
	}
}

// tied is within what share two levels are one, of channels that stop a flow together.
func (s *filling) tied() float64 { return max(capacityTolerance, 2*s.tolerance) }

// level is the level of a flow; its rate is that times its share.
func (s *filling) level(flow int32) float64 { return s.channels[s.flows[flow].stop].level }

// begin returns the entry of a flow that is to be added.
func (s *filling) begin(id int, share float64) *flowEntry {
	for id >= len(s.flows) {
		s.flows = append(s.flows, flowEntry{})
	}
	f := &s.flows[id]
	f.hops, f.share, f.stop, f.bound, f.moved = f.hops[:0], share, s.nothing, s.nothing, false
	return f
}

// add enters flow id, whose hops the caller has filled, into its channels.
func (s *filling) add(id int, bound float64) {
	f := &s.flows[id]
	for i := range f.hops {
		s.join(int32(id), int32(i))
	}
	s.setOpen(int32(id))
	s.setBound(int32(id), bound)
}

// join makes a flow a member of the channel of one of its hops.
func (s *filling) join(id, i int32) {
	h := &s.flows[id].hops[i]
	h.place = int32(len(s.members[h.channel]))
	s.members[h.channel] = append(s.members[h.channel], member{id, i, h.weight})
	if h.weight > 0 {
		s.channels[h.channel].heavy++
	}
}

// setBound changes the rate in B/s that a flow never exceeds. A bound is a channel of its own, which a
// flow has from its first bound on.
func (s *filling) setBound(id int32, bound float64) {
	f := &s.flows[id]
	switch {
	case f.bound != s.nothing:
		s.setCapacity(f.bound, bound)
		return
	case math.IsInf(bound, 1):
		return
	}
	if last := len(s.private) - 1; last >= 0 {
		f.bound, s.private = s.private[last], s.private[:last]
		s.channels[f.bound].capacity = bound
		s.setLevel(f.bound, math.Inf(1)) // it may have that of its last flow
	} else {
		f.bound = s.newChannel(bound)
	}
	f.hops = append(f.hops, hop{weight: f.share, channel: f.bound})
	s.join(id, int32(len(f.hops)-1))
	h, c := &f.hops[len(f.hops)-1], &s.channels[f.bound]
	if f.state == flowOpen {
		c.open++
		c.take(h.weight)
		s.enown(h)
	} else {
		s.link(f.stop, h)
		c.used = h.weight * s.level(id)
	}
	s.update(f.bound)
}

// remove takes the flow out of its channels and keeps its slice of hops.
func (s *filling) remove(id int) {
	f := &s.flows[id]
	level := s.level(int32(id))
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
		} else if h.channel != f.stop {
			s.unlink(f.stop, h)
		}
		if h.weight > 0 {
			c.heavy--
			if own {
				c.drop(h.weight)
			} else {
				c.used -= h.weight * level
			}
			if c.heavy == c.active {
				c.used = 0 // no rounding stays
			}
		}
		s.update(h.channel)
	}
	if f.bound != s.nothing {
		s.private = append(s.private, f.bound)
	}
	f.hops, f.state, f.moved = f.hops[:0], flowGone, false
}

func (s *filling) setCapacity(id int32, capacity float64) {
	if c := &s.channels[id]; c.capacity != capacity {
		c.capacity = capacity
		s.count(id)
		s.update(id)
	}
}

// note remembers that the flow has, or may get, another channel that stops it.
func (s *filling) note(id int32, f *flowEntry) {
	if !f.moved {
		f.moved = true
		s.moved = append(s.moved, id)
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

// find returns the index among out[stop] of the edge to a channel, or -1. It looks through the shorter
// of two lists: a channel that stops many flows, which cross many others, has one edge in each of these.
func (s *filling) find(stop, crossed int32) int32 {
	out, in := s.out[stop], s.in[crossed]
	if len(in) < len(out) {
		for i := range in {
			if in[i].other == stop {
				return in[i].back
			}
		}
		return -1
	}
	for i := range out {
		if out[i].other == crossed {
			return int32(i)
		}
	}
	return -1
}

// link counts a flow's hop in the edge from the channel that stops it.
func (s *filling) link(stop int32, h *hop) {
	i := s.find(stop, h.channel)
	if i < 0 {
		i = int32(len(s.out[stop]))
		s.out[stop] = append(s.out[stop], edge{other: h.channel, back: int32(len(s.in[h.channel]))})
		s.in[h.channel] = append(s.in[h.channel], edge{other: stop, back: i})
	}
	e := &s.out[stop][i]
	e.flows++
	if h.weight > 0 {
		e.heavy++
		e.weight += h.weight
	}
	s.in[h.channel][e.back].weight = e.weight
}

// unlink undoes it.
func (s *filling) unlink(stop int32, h *hop) {
	i := s.find(stop, h.channel)
	e := &s.out[stop][i]
	e.flows--
	if h.weight > 0 {
		e.heavy--
		e.weight -= h.weight
	}
	if e.heavy == 0 {
		e.weight = 0 // no rounding stays
	}
	s.in[h.channel][e.back].weight = e.weight
	if e.flows == 0 {
		back := e.back
		s.out[stop] = cut(s.out[stop], i, s.in)
		s.in[h.channel] = cut(s.in[h.channel], back, s.out)
	}
}

// cut takes edge i out of a list; the last one takes its place.
func cut(list []edge, i int32, others [][]edge) []edge {
	last := len(list) - 1
	if int(i) < last {
		list[i] = list[last]
		others[list[i].other][list[i].back].back = i
	}
	return list[:last]
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
	f, level := &s.flows[id], s.level(id)
	s.note(id, f)
	for i := range f.hops {
		h := &f.hops[i]
		c := &s.channels[h.channel]
		c.open++
		if f.state == flowStopped && h.channel != f.stop {
			s.unlink(f.stop, h)
		}
		switch own := h.place < c.own; {
		case h.weight > 0 && !own:
			if f.state == flowStopped {
				c.used -= h.weight * level
			}
			c.take(h.weight)
			s.enown(h)
		case h.weight == 0 && own:
			s.disown(h)
		}
		s.update(h.channel)
	}
	f.state, f.stop = flowOpen, s.nothing
}
