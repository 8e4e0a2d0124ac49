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
// heap. It allocates nothing once it has seen as many flows before. It belongs to one
// goroutine.
type Playback struct {
	solver *Solver
	// Per solver flow.
	number []int32   // which of the flows played
	left   []float64 // bytes, at time since
	rate   []float64 // B/s, from then on
	since  []float64 // s
	end    []float64 // s
	place  []int32   // index in heap
	heap   []int32   // flows by end
	order  []int32   // flows played, by start
	change []int
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
		var now float64
		switch {
		case len(p.heap) == 0:
			now = flows[p.order[next]].Start
		case next == len(p.order):
			now = p.end[p.heap[0]]
		default:
			now = min(p.end[p.heap[0]], flows[p.order[next]].Start)
		}
		for len(p.heap) > 0 {
			id := p.heap[0]
			j := p.number[id]
			if (p.end[id]-now)*p.rate[id] > NothingLeft*flows[j].Bytes {
				break
			}
			done[j] = now
			p.takeFirst()
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
			p.left[id] -= p.rate[id] * (now - p.since[id])
			p.since[id] = now
			p.rate[id] = p.solver.Rate(id)
			p.end[id] = now + max(0, p.left[id])/p.rate[id]
			p.fix(p.place[id])
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
	for id >= len(p.number) {
		p.number, p.place = append(p.number, 0), append(p.place, 0)
		p.left, p.rate = append(p.left, 0), append(p.rate, 0)
		p.since, p.end = append(p.since, 0), append(p.end, 0)
	}
	p.number[id], p.left[id], p.rate[id], p.since[id] = number, f.Bytes, 0, now
	p.end[id] = now
	p.place[id] = int32(len(p.heap))
	p.heap = append(p.heap, int32(id))
	p.fix(p.place[id])
	return nil
}

// stop takes away the flows of a playback that cannot go on, so that the next one
// begins with none.
func (p *Playback) stop() {
	for _, id := range p.heap {
		p.solver.Remove(int(id))
	}
	p.heap = p.heap[:0]
	p.change = p.solver.solve(p.change[:0])
}

// sooner orders flows by end and then by number.
func (p *Playback) sooner(a, b int32) bool {
	return p.end[a] < p.end[b] || p.end[a] == p.end[b] && a < b
}

func (p *Playback) put(i int, id int32) {
	p.heap[i] = id
	p.place[id] = int32(i)
}

// takeFirst takes the flow that ends first from the heap.
func (p *Playback) takeFirst() {
	last := p.heap[len(p.heap)-1]
	p.heap = p.heap[:len(p.heap)-1]
	if len(p.heap) > 0 {
		p.put(0, last)
		p.fix(0)
	}
}

// fix restores the heap after the end of the flow at place i has changed.
func (p *Playback) fix(place int32) {
	i, id := int(place), p.heap[place]
	for i > 0 {
		parent := (i - 1) / 2
		if !p.sooner(id, p.heap[parent]) {
			break
		}
		p.put(i, p.heap[parent])
		i = parent
	}
	for {
		child := 2*i + 1
		if child >= len(p.heap) {
			break
		}
		if child+1 < len(p.heap) && p.sooner(p.heap[child+1], p.heap[child]) {
			child++
		}
		if !p.sooner(p.heap[child], id) {
			break
		}
		p.put(i, p.heap[child])
		i = child
	}
	p.put(i, id)
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
