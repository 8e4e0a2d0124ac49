package contention

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	"github.com/topocast/topocast/internal/queue"
)

// A Flow is a transfer over given channels: what Solver.Times takes. The zero values of
// all but Data and Bytes are useful.
type Flow struct {
	Data    []int32 // channels that its bytes cross, in any order
	Reverse []int32 // channels that its acknowledgements cross
	Bytes   float64 // above 0
	Start   float64 // s: when its bytes begin to flow
	Bound   float64 // B/s that it never exceeds; 0: none
	Share   float64 // of a channel, in proportion to other flows'; 0: 1
}

// playback is the working memory of Solver.Times, which lets flows begin and end
// and finds the new rates each time (Zhu et al. 2014, Algorithm 2, with start times). At each
// step the flow that ends first is complete. So is every other one that has at most NothingLeft of its
// size left.
//
// The work of an event is proportional to the channels whose levels change. All flows that a
// channel stops advance together, by its level times their shares. So a flow is complete when
// its channel has advanced to a mark. The mark stays where it is until another channel
// stops the flow.
type playback struct {
	played []playedFlow // by the solver's numbers
	lanes  []lane       // per channel
	ends   tournament   // of the lanes
	order  []int32      // flows to play, by start
}

// lane is the progress of the flows that one channel stops.
type lane struct {
	level    float64   // B/s and share, from since on
	since    float64   // s
	progress float64   // bytes per share, at time since
	flows    int       // under way here
	marks    queue.Min // of these flows, and of some that have left
}

// playedFlow is a flow under way.
type playedFlow struct {
	mark   float64 // progress of its lane at which it is complete
	share  float64
	lane   int32
	number int32 // which of the flows played
}

// noLane is where a flow is that does not move yet, or no more.
const noLane = -1

// NothingLeft is the share of a transfer's bytes that is only rounding: what ends at one
// moment is to end together. It moves an end by a billionth of the transfer's time at most.
const NothingLeft = 1e-9

// Times appends to dst the times in s at which the flows are complete, which begin and end by themselves. The Solver must
// have no other flows, and has none left afterwards. It is an error if
// a size is not above 0, a size or start not finite, or Add would refuse a flow.
// Then none is played. It allocates nothing once the Solver has seen as many flows before.
// O(events * (changed levels * log channels + changed hands * log flows)).
func (s *Solver) Times(dst []float64, flows []Flow) ([]float64, error) {
	from := len(dst)
	s.order = s.order[:0]
	for i := range flows {
		f := &flows[i]
		if !(f.Bytes > 0) || math.IsInf(f.Bytes, 0) || math.IsNaN(f.Start) || math.IsInf(f.Start, 0) {
			return dst[:from], fmt.Errorf("contention: play flow %d: %g bytes from %g s on: want a size above 0, and both finite", i, f.Bytes, f.Start)
		}
		bound, share := f.limits()
		if err := s.check(f.Data, f.Reverse, bound, share); err != nil {
			return dst[:from], fmt.Errorf("contention: play flow %d: %w", i, err)
		}
		dst = append(dst, 0)
		s.order = append(s.order, int32(i))
	}
	sortByStart(s.order, flows)
	done := dst[from:]
	next := 0
	for next < len(s.order) || s.underWay() > 0 {
		id, end := s.first()
		now := end
		if next < len(s.order) {
			now = min(now, flows[s.order[next]].Start)
		}
		for id >= 0 {
			f := &s.played[id]
			if (end-now)*s.lanes[f.lane].level*f.share > NothingLeft*flows[f.number].Bytes {
				break
			}
			done[f.number] = now
			s.leave(f)
			s.Remove(int(id))
			id, end = s.first()
		}
		for ; next < len(s.order) && flows[s.order[next]].Start <= now; next++ {
			s.begin(s.order[next], &flows[s.order[next]])
		}
		s.relax()
		s.sweep()
		s.follow(flows, now)
	}
	return dst, nil
}

// limits are the bound and the share of a flow.
func (f *Flow) limits() (bound, share float64) {
	bound, share = f.Bound, f.Share
	if bound == 0 {
		bound = math.Inf(1)
	}
	if share == 0 {
		share = 1
	}
	return bound, share
}

func (s *Solver) begin(number int32, f *Flow) {
	bound, share := f.limits()
	id := s.add(f.Data, f.Reverse, bound, share)
	for id >= len(s.played) {
		s.played = append(s.played, playedFlow{})
	}
	s.played[id] = playedFlow{share: share, lane: noLane, number: number}
}

// follow takes over what the solver changed. Flows that another channel stops come first, because what they
// have left depends on the levels until now.
func (s *Solver) follow(flows []Flow, now float64) {
	main := s.main
	for len(s.lanes) < len(main.channels) {
		s.lanes = append(s.lanes, lane{})
	}
	s.ends.grow(len(s.lanes))
	for _, id := range main.moved {
		if f := &s.played[id]; main.flows[id].moved && f.lane != main.stop[id] {
			left := flows[f.number].Bytes
			if f.lane != noLane {
				left = s.left(f, now)
				s.leave(f)
			}
			s.enter(id, main.stop[id], left, now)
		}
	}
	for _, c := range main.risen {
		if s.lanes[c].flows > 0 {
			s.advance(c, now)
			s.schedule(c)
		}
	}
	main.forget()
}

// advance brings a lane up to the present at the level that it had. From then on it has that of its channel.
func (s *Solver) advance(c int32, now float64) *lane {
	l := &s.lanes[c]
	l.progress = l.at(now)
	l.since, l.level = now, s.main.channels[c].level
	return l
}

// schedule notes when the first flow of a lane will be complete.
func (s *Solver) schedule(c int32) {
	l := &s.lanes[c]
	s.ends.set(c, l.since+max(0, l.marks[0].Key-l.progress)/l.level)
}

// enter puts a flow into a lane.
func (s *Solver) enter(id, c int32, left, now float64) {
	f, l := &s.played[id], s.advance(c, now)
	f.lane, f.mark = c, l.progress+left/f.share
	l.flows++
	l.marks.Push(queue.Item{Key: f.mark, ID: int64(id)})
	s.schedule(c)
}

// leave takes a flow out of its lane. Its mark stays until it is the first.
func (s *Solver) leave(f *playedFlow) {
	c := f.lane
	l := &s.lanes[c]
	f.lane = noLane
	if l.flows--; l.flows == 0 {
		*l = lane{marks: l.marks[:0]}
		s.ends.set(c, math.Inf(1))
		return
	}
	for {
		top := l.marks[0]
		if f := &s.played[top.ID]; f.lane == c && f.mark == top.Key {
			break
		}
		l.marks.Pop() // it has left
	}
	s.schedule(c)
}

// left is what a flow has left, in bytes.
func (s *Solver) left(f *playedFlow, now float64) float64 {
	return (f.mark - s.lanes[f.lane].at(now)) * f.share
}

// at is the progress of a lane at some time. The level of a lane that all flows are about to leave may be +Inf,
// but no time passes until they have.
func (l *lane) at(now float64) float64 {
	if now > l.since {
		return l.progress + l.level*(now-l.since)
	}
	return l.progress
}

// first is the flow that is complete first, and when in s; -1 and +Inf if none is under way.
func (s *Solver) first() (flow int32, end float64) {
	c, end := s.ends.first()
	if math.IsInf(end, 1) {
		return -1, end
	}
	return int32(s.lanes[c].marks[0].ID), end
}

// sortByStart orders flows by start and then by number.
func sortByStart(order []int32, flows []Flow) {
	slices.SortFunc(order, func(a, b int32) int {
		if c := cmp.Compare(flows[a].Start, flows[b].Start); c != 0 {
			return c
		}
		return int(a - b)
	})
}

// tournament finds the least of many numbers of which few change. It is a tree, and each node
// has the lesser number of its two children.
type tournament struct {
	nodes []float64 // the root at 1; the second half are the numbers
}

// grow makes room for count numbers; new ones are +Inf.
func (t *tournament) grow(count int) {
	size := len(t.nodes) / 2
	if count <= size {
		return
	}
	old := t.nodes[size:]
	for size = max(1, size); size < count; {
		size *= 2
	}
	t.nodes = make([]float64, 2*size)
	for i := range t.nodes {
		t.nodes[i] = math.Inf(1)
	}
	for i, x := range old {
		t.set(int32(i), x)
	}
}

func (t *tournament) set(i int32, x float64) {
	at := int(i) + len(t.nodes)/2
	t.nodes[at] = x
	for at > 1 {
		x = min(t.nodes[at], t.nodes[at^1])
		if at /= 2; t.nodes[at] == x {
			return
		}
		t.nodes[at] = x
	}
}

// first is the least number and its index, the lowest of equals; +Inf without any.
func (t *tournament) first() (i int32, least float64) {
	if len(t.nodes) == 0 {
		return 0, math.Inf(1)
	}
	at, half := 1, len(t.nodes)/2
	for at < half {
		if at *= 2; t.nodes[at+1] < t.nodes[at] {
			at++
		}
	}
	return int32(at - half), t.nodes[at]
}
