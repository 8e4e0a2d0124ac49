package contention

import (
	"cmp"
	"fmt"
	"math"
	"slices"
)

// A Flow is a transfer over given channels: what Playback takes. The zero values of
// all but Data and Bytes are useful.
type Flow struct {
	Data    []int32 // channels that its bytes cross, in any order
	Reverse []int32 // channels that its acknowledgements cross
	Bytes   float64 // above 0
	Start   float64 // s: when its bytes begin to flow
	Bound   float64 // B/s that it never exceeds; 0: none
	Share   float64 // of a channel, in proportion to other flows'; 0: 1
}

// Playback finds when concurrent flows are complete: it lets them begin and end,
// and asks a Solver for new rates each time. At each step the flow that ends first
// ends, by definition, and so does every other that has at most NothingLeft of its size
// left (Zhu et al. 2014, Algorithm 2, with start times).
//
// It keeps the work of an event proportional to the rates that change: the
// end of a flow is recomputed only when its rate changes, and ends wait in a
// heap, where one that becomes later keeps its place until it is the first. It allocates nothing once it has seen
// as many flows before. It belongs to one goroutine.
type Playback struct {
	solver *Solver
	played []playedFlow // by the solver's numbers
	heap   []waitingEnd // the earliest first
	order  []int32      // flows to play, by start
	change []int
}

// playedFlow is a flow under way.
type playedFlow struct {
	left   float64 // bytes, at time since
	rate   float64 // B/s, from then on
	since  float64 // s
	end    float64 // s
	number int32   // which of the flows played
	place  int32   // index in heap
}

// waitingEnd is a flow in the heap.
type waitingEnd struct {
	time float64 // s, its end or before
	flow int32   // the solver's number
}

// NewPlayback returns a Playback over the channels of a Solver, which has no flows
// now and whenever Times begins.
func NewPlayback(s *Solver) *Playback { return &Playback{solver: s} }

// NothingLeft is the share of a transfer's bytes that is only rounding: what ends at one
// moment is to end together. It moves an end by a billionth of the transfer's time at most.
const NothingLeft = 1e-9

// Times appends to dst the times in s at which the flows are complete. It is an error if
// a size is not above 0, a size or start not finite, or the Solver refuses a flow (see
// Solver.Add). The Solver has no flows left
// afterwards, also after an error. O(events * (changed rates + log flows)).
func (p *Playback) Times(dst []float64, flows []Flow) ([]float64, error) {
	from := len(dst)
	p.order = p.order[:0]
	for i := range flows {
		if f := &flows[i]; !(f.Bytes > 0) || math.IsInf(f.Bytes, 0) || math.IsNaN(f.Start) || math.IsInf(f.Start, 0) {
			return dst[:from], fmt.Errorf("contention: play flow %d: %g bytes from %g s on: want a size above 0, and both finite", i, f.Bytes, f.Start)
		}
		dst = append(dst, 0)
		p.order = append(p.order, int32(i))
	}
	sortByStart(p.order, flows)
	done := dst[from:]
	next := 0
	for next < len(p.order) || len(p.heap) > 0 {
		now := p.first()
		if next < len(p.order) {
			now = min(now, flows[p.order[next]].Start)
		}
		for len(p.heap) > 0 {
			id := p.heap[0].flow
			f := &p.played[id]
			if (f.end-now)*f.rate > NothingLeft*flows[f.number].Bytes {
				break
			}
			done[f.number] = now
			p.takeFirst()
			p.first()
			p.solver.Remove(int(id))
		}
		for ; next < len(p.order) && flows[p.order[next]].Start <= now; next++ {
			if err := p.begin(p.order[next], &flows[p.order[next]], now); err != nil {
				p.stop()
				return dst[:from], err
			}
		}
		p.change = p.solver.solve(p.change[:0])
		for _, id := range p.change {
			f := &p.played[id]
			f.left -= f.rate * (now - f.since)
			f.since = now
			f.rate = p.solver.Rate(id)
			f.end = now + max(0, f.left)/f.rate
			if x := (waitingEnd{f.end, int32(id)}); x.sooner(p.heap[f.place]) {
				p.raise(f.place, x)
			}
		}
	}
	return dst, nil
}

func (p *Playback) begin(number int32, f *Flow, now float64) error {
	bound, share := f.Bound, f.Share
	if bound == 0 {
		bound = math.Inf(1)
	}
	if share == 0 {
		share = 1
	}
	id, err := p.solver.Add(f.Data, f.Reverse, bound, share)
	if err != nil {
		return err
	}
	for id >= len(p.played) {
		p.played = append(p.played, playedFlow{})
	}
	p.played[id] = playedFlow{left: f.Bytes, since: now, end: math.Inf(1), number: number}
	p.heap = append(p.heap, waitingEnd{})
	p.put(int32(len(p.heap)-1), waitingEnd{math.Inf(1), int32(id)})
	return nil
}

// stop takes away the flows of a playback that cannot go on, so that the next one
// begins with none.
func (p *Playback) stop() {
	for _, x := range p.heap {
		p.solver.Remove(int(x.flow))
	}
	p.heap = p.heap[:0]
	p.change = p.solver.solve(p.change[:0])
}

// sooner orders the heap by time and then by flow.
func (x waitingEnd) sooner(y waitingEnd) bool {
	return x.time < y.time || x.time == y.time && x.flow < y.flow
}

func (p *Playback) put(i int32, x waitingEnd) {
	p.heap[i] = x
	p.played[x.flow].place = i
}

// first brings the flow that ends first to the top of the heap, and returns its end in s, +Inf without flows.
func (p *Playback) first() float64 {
	for len(p.heap) > 0 {
		x := p.heap[0]
		end := p.played[x.flow].end
		if !(x.time < end) {
			return end
		}
		p.sink(waitingEnd{end, x.flow})
	}
	return math.Inf(1)
}

// takeFirst takes the first flow from the heap.
func (p *Playback) takeFirst() {
	last := len(p.heap) - 1
	x := p.heap[last]
	if p.heap = p.heap[:last]; last > 0 {
		p.sink(x)
	}
}

// raise puts what ends sooner than the flow at place i there, or further up.
func (p *Playback) raise(i int32, x waitingEnd) {
	for i > 0 {
		parent := (i - 1) / 2
		if !x.sooner(p.heap[parent]) {
			break
		}
		p.put(i, p.heap[parent])
		i = parent
	}
	p.put(i, x)
}

// sink puts what ends later than the first flow in its place, or further down.
func (p *Playback) sink(x waitingEnd) {
	i, n := int32(0), int32(len(p.heap))
	for {
		child := 2*i + 1
		if child >= n {
			break
		}
		if child+1 < n && p.heap[child+1].sooner(p.heap[child]) {
			child++
		}
		if !p.heap[child].sooner(x) {
			break
		}
		p.put(i, p.heap[child])
		i = child
	}
	p.put(i, x)
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
