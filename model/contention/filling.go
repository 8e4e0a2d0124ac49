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
// ones first, and what is lower is rarely visited again (sweep.go).
//
// Flows that nothing stops as yet are open: they count as members to be stopped in all of
// their channels, and the lowest takes them.
type filling struct {
	channels []channel
	members  [][]member  // per channel: the flows that cross it
	stopped  [][]int32   // per channel: the flows that it stops
	crossed  []crossings // per channel: the other hops of these flows, so that a visit reads one list in order
	flows    []flowEntry // by number
	stop     []int32     // per flow: the channel that stops it

	// Two channels that no flow crosses stand for what stops flows that are open, and those that nothing stops.
	open, nothing int32

	// Where members of no weight or what stops a flow count, a channel that is used up by members
	// stopped elsewhere has a level, too: ties. Elsewhere that only costs time.
	ties bool
	full float64 // share of its capacity from which on such a channel is looked at

	tolerance float64 // share of a channel's level that it need not follow

	dirty []int32   // channels that may be out of line
	queue queue.Min // channels, keyed by the level from which on they are to be brought in line
	now   float64   // the level that the sweep has reached

	// Of the last survey.
	above   []higher // members that are stopped elsewhere above a level
	below   float64  // B/s that the others take which are stopped elsewhere
	highest float64  // level of those above

	// What the last sweep changed, until forget.
	moved []int32 // flows that another channel stops, where flowEntry.moved
	risen []int32 // channels of another level
}

// channel fills a line of the cache.
type channel struct {
	capacity float64 // B/s
	used     float64 // B/s of the members stopped elsewhere
	weight   float64 // of the others
	level    float64 // at which it is used up; +Inf if it is not
	before   float64 // the level before the sweep, where risen
	seen     float64 // the last level that was not +Inf
	key      float64 // of its entry in the queue that counts; others are stale; +Inf: none
	heavy    int32   // members that have weight
	active   int32   // those of them that it stops or that are open
	open     int32   // members that are open
	risen    bool
	dirty    bool
}

type flowEntry struct {
	hops  []hop // data channels, then reverse ones, then that of the bound if it has one
	share float64
	place int32 // index among the flows that its channel stops
	at    int32 // index of its first crossing there
	data  int32 // hops[:data] carry data
	bound int32 // the channel of its bound, or the one for nothing
	moved bool  // since the last sweep something else stops it
}

// hop is the membership of a flow in a channel.
type hop struct {
	weight  float64 // B/s of the channel per level
	channel int32
	index   int32 // in the channel's members
}

// crossings are lists of hops, flow by flow. Flows that have left leave holes: hops of no weight in a channel that is never lower.
type crossings struct {
	list  []crossing
	holes int
}

type crossing struct {
	weight  float64
	channel int32
}

type member struct {
	weight float64
	flow   int32
	hop    int32 // index in the flow's hops
}

// higher is a member of a channel that another one stops at a higher level.
type higher struct {
	weight, level float64
	flow          int32
}

// unlimited is the level of flows that nothing stops: out of reach, but a number, so that sums stay such.
const unlimited = 1e200

const (
	levelTolerance    = 1e-12 // two levels are one
	capacityTolerance = 1e-9  // a channel is used up
	overTolerance     = 1e-11 // it is not over-committed, but for rounding
	afterOwners       = 1 + 4*levelTolerance
)

func newFilling(capacity []float64, ties bool) *filling {
	s := &filling{ties: ties, full: 1 + overTolerance, tolerance: levelTolerance}
	if ties {
		s.full = 1 - capacityTolerance
	}
	for _, c := range capacity {
		s.newChannel(c)
	}
	s.nothing, s.open = s.newChannel(math.Inf(1)), s.newChannel(math.Inf(1))
	s.channels[s.nothing].level, s.channels[s.open].level = unlimited, unlimited
	return s
}

func (s *filling) newChannel(capacity float64) int32 {
	s.channels = append(s.channels, channel{capacity: capacity, key: math.Inf(1), level: math.Inf(1)})
	s.members, s.stopped, s.crossed = append(s.members, nil), append(s.stopped, nil), append(s.crossed, crossings{})
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
	for id, stop := range s.stop {
		if lower, level := s.least(int32(id), stop); stop != s.open && level < s.channels[stop].level {
			s.assign(int32(id), lower)
		}
	}
	for c := range s.channels {
		s.note(int32(c))
	}
}

// tied is within what share two levels are one, of channels that stop a flow together.
func (s *filling) tied() float64 { return max(capacityTolerance, 2*s.tolerance) }

// level is the level of a flow; its rate is that times its share.
func (s *filling) level(flow int32) float64 { return s.channels[s.stop[flow]].level }

// begin returns the entry of a flow that is to be added.
func (s *filling) begin(id int, share float64) *flowEntry {
	for id >= len(s.flows) {
		s.flows = append(s.flows, flowEntry{bound: s.nothing})
		s.stop = append(s.stop, s.nothing)
	}
	f := &s.flows[id]
	f.hops, f.share = f.hops[:0], share
	return f
}

// add enters flow id, whose hops the caller has filled, into its channels.
func (s *filling) add(id int32, bound float64) {
	s.setStop(id, s.open)
	for i := range s.flows[id].hops {
		s.join(id, i)
	}
	s.setBound(id, bound)
}

// join makes a flow a member of the channel of one of its hops.
func (s *filling) join(id int32, i int) {
	h := &s.flows[id].hops[i]
	h.index = int32(len(s.members[h.channel]))
	s.members[h.channel] = append(s.members[h.channel], member{h.weight, id, int32(i)})
	if h.weight > 0 {
		s.channels[h.channel].heavy++
	}
	s.count(h, s.stop[id])
}

// setBound changes the rate in B/s that a flow never exceeds. A bound is a channel of its own, which a
// flow crosses from its first bound on.
func (s *filling) setBound(id int32, bound float64) {
	f := &s.flows[id]
	last := len(f.hops) - 1
	switch {
	case last >= 0 && f.hops[last].channel == f.bound:
		s.setCapacity(f.bound, bound)
		return
	case math.IsInf(bound, 1):
		return
	case f.bound == s.nothing:
		f.bound = s.newChannel(bound)
	default:
		s.channels[f.bound].capacity = bound
		s.setLevel(f.bound, math.Inf(1)) // it may have that of the flow that had this number
	}
	stop := s.stop[id]
	s.unlist(id)
	f.hops = append(f.hops, hop{weight: f.share, channel: f.bound})
	s.setStop(id, stop)
	s.join(id, last+1)
}

// remove takes the flow out of its channels and keeps its slice of hops.
func (s *filling) remove(id int32) {
	f := &s.flows[id]
	for i := range f.hops {
		h := &f.hops[i]
		s.discount(h, s.stop[id])
		list := s.members[h.channel]
		last := list[len(list)-1]
		list[h.index] = last
		s.flows[last.flow].hops[last.hop].index = h.index
		s.members[h.channel] = list[:len(list)-1]
		if c := &s.channels[h.channel]; h.weight > 0 {
			c.heavy--
			c.tidy()
		}
	}
	s.unlist(id)
	s.stop[id] = s.nothing
	f.hops, f.moved = f.hops[:0], false
}

func (s *filling) setCapacity(id int32, capacity float64) {
	if c := &s.channels[id]; c.capacity != capacity {
		c.capacity = capacity
		for _, m := range s.members[id] { // next to the level of those that nothing stops, all others are rounding
			if s.stop[m.flow] == s.nothing {
				s.assign(m.flow, s.open)
			}
		}
		s.survey(id, math.Inf(1))
		c.used = s.below // which may be rounding next to what an unlimited channel had
		s.note(id)
	}
}

// note remembers that a channel may be out of line.
func (s *filling) note(id int32) {
	if c := &s.channels[id]; !c.dirty {
		c.dirty = true
		s.dirty = append(s.dirty, id)
	}
}

// assign makes another channel stop a flow.
func (s *filling) assign(id, stop int32) {
	from := s.stop[id]
	s.unlist(id)
	s.setStop(id, stop)
	hops := s.flows[id].hops
	for i := range hops {
		s.discount(&hops[i], from)
		s.count(&hops[i], stop)
	}
}

// setStop enters a flow among those that a channel stops.
func (s *filling) setStop(id, stop int32) {
	f := &s.flows[id]
	f.place = int32(len(s.stopped[stop]))
	s.stopped[stop] = append(s.stopped[stop], id)
	s.stop[id] = stop
	s.addCrossings(f, stop)
	if !f.moved {
		f.moved = true
		s.moved = append(s.moved, id)
	}
}

// unlist takes a flow out of those that its channel stops; the last one takes its place.
func (s *filling) unlist(id int32) {
	f, stop := &s.flows[id], s.stop[id]
	list := s.stopped[stop]
	last := len(list) - 1
	list[f.place] = list[last]
	s.flows[list[f.place]].place = f.place
	s.stopped[stop] = list[:last]
	if stop == s.open || stop == s.nothing {
		return
	}
	x := &s.crossed[stop]
	left := x.list[f.at : int(f.at)+len(f.hops)-1]
	for i := range left {
		left[i] = crossing{channel: s.nothing}
	}
	if x.holes += len(left); 2*x.holes > len(x.list) {
		x.list, x.holes = x.list[:0], 0
		for _, flow := range s.stopped[stop] {
			s.addCrossings(&s.flows[flow], stop)
		}
	}
}

// addCrossings lists the hops of a flow but for that in the channel which stops it.
func (s *filling) addCrossings(f *flowEntry, stop int32) {
	if stop == s.open || stop == s.nothing {
		return
	}
	x := &s.crossed[stop]
	f.at = int32(len(x.list))
	for i := range f.hops {
		if h := &f.hops[i]; h.channel != stop {
			x.list = append(x.list, crossing{h.weight, h.channel})
		}
	}
}

// count adds to a channel what a flow takes of it that a channel stops.
func (s *filling) count(h *hop, stop int32) {
	c := &s.channels[h.channel]
	switch {
	case stop != h.channel && stop != s.open:
		c.used += h.weight * s.channels[stop].level
	case h.weight > 0:
		c.weight += h.weight
		c.active++
		c.tidy()
	}
	if stop == s.open {
		c.open++
	}
	s.note(h.channel)
}

// discount undoes it.
func (s *filling) discount(h *hop, stop int32) {
	c := &s.channels[h.channel]
	switch {
	case stop != h.channel && stop != s.open:
		c.used -= h.weight * s.channels[stop].level
	case h.weight > 0:
		c.weight -= h.weight
		c.active--
		c.tidy()
	}
	if stop == s.open {
		c.open--
	}
	s.note(h.channel)
}

// tidy leaves no rounding in sums over no members, and no history in a channel without any: the same flows get the same
// rates to the last bit, whatever was there before.
func (c *channel) tidy() {
	if c.heavy == 0 {
		c.seen = 0
	}
	if c.active == 0 {
		c.weight = 0
	}
	if c.active == c.heavy {
		c.used = 0
	}
}

// setLevel notes the level of a channel.
func (s *filling) setLevel(id int32, level float64) {
	c := &s.channels[id]
	if !c.risen {
		c.risen, c.before = true, c.level
		s.risen = append(s.risen, id)
	}
	if c.level = level; !math.IsInf(level, 1) {
		c.seen = level
	}
}
