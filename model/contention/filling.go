package contention

import (
	"math"

	"github.com/topocast/topocast/internal/queue"
)

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
	flows    []flowEntry
	level    []float64 // per flow: its level; its rate is level * share
	state    []flowState
	before   []float64 // per flow: its level before the sweep, where touched

	// Scratch of one sweep.
	touched []int32 // flows opened or lowered
	dirty   []int32 // channels that take part
	moved   []int32 // channels whose levels the last sweep changed
	caps    []capEntry
	open    int     // flows that rise
	thinAt  int     // length of the queue from which it is thinned
	now     float64 // the level that the sweep has reached

	// Of channels by number and flows by ^number, each for the flow's own bound. A key is
	// never above the level at which something happens, for levels of saturation
	// only rise while members stop.
	queue queue.Min
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

type flowEntry struct {
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
		s.flows = append(s.flows, flowEntry{})
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
