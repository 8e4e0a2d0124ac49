package model

import (
	"cmp"
	"slices"
)

// A job is a transfer as the playback sees it: what it crosses and when.
type job struct {
	data, reverse []int32 // channels
	bytes         float64
	start         float64 // s: when its bytes begin to flow
	bound, share  float64
}

// playback finds completion times: it lets flows begin and end, and asks the
// solver for new rates each time. At each step the flow that ends first ends,
// by definition, and so does every other that has at most 1e-9 of its size left (Zhu et
// al. 2014, Algorithm 2, with start times).
//
// It keeps the work of an event proportional to the rates that change: the
// end of a flow is recomputed only when its rate changes, and ends wait in a heap.
type playback struct {
	solver *Solver
	// Per solver flow.
	job    []int32   // which job
	left   []float64 // bytes, at time since
	rate   []float64 // B/s, from then on
	since  []float64 // s
	end    []float64 // s
	place  []int32   // index in heap
	heap   []int32   // flows by end
	order  []int32   // jobs by start
	change []int
}

// nothingLeft is the share of a transfer's bytes that is only rounding: what ends at one
// moment is to end together. It moves an end by a billionth of the transfer's time at most.
const nothingLeft = 1e-9

// run appends the completion times in s of jobs to dst. The solver has no
// flows before and none after, also after an error. O(events * (changed rates + log flows)).
func (p *playback) run(dst []float64, jobs []job) ([]float64, error) {
	from := len(dst)
	p.order = p.order[:0]
	for i := range jobs {
		dst = append(dst, 0)
		p.order = append(p.order, int32(i))
	}
	sortByStart(p.order, jobs)
	done := dst[from:]
	next := 0
	for next < len(p.order) || len(p.heap) > 0 {
		var now float64
		switch {
		case len(p.heap) == 0:
			now = jobs[p.order[next]].start
		case next == len(p.order):
			now = p.end[p.heap[0]]
		default:
			now = min(p.end[p.heap[0]], jobs[p.order[next]].start)
		}
		for len(p.heap) > 0 {
			id := p.heap[0]
			j := p.job[id]
			if (p.end[id]-now)*p.rate[id] > nothingLeft*jobs[j].bytes {
				break
			}
			done[j] = now
			p.takeFirst()
			p.solver.Remove(int(id))
		}
		for ; next < len(p.order) && jobs[p.order[next]].start <= now; next++ {
			if err := p.begin(p.order[next], &jobs[p.order[next]], now); err != nil {
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

func (p *playback) begin(number int32, j *job, now float64) error {
	id, err := p.solver.Add(j.data, j.reverse, j.bound, j.share)
	if err != nil {
		return err
	}
	for id >= len(p.job) {
		p.job, p.place = append(p.job, 0), append(p.place, 0)
		p.left, p.rate = append(p.left, 0), append(p.rate, 0)
		p.since, p.end = append(p.since, 0), append(p.end, 0)
	}
	p.job[id], p.left[id], p.rate[id], p.since[id] = number, j.bytes, 0, now
	p.end[id] = now
	p.place[id] = int32(len(p.heap))
	p.heap = append(p.heap, int32(id))
	p.fix(p.place[id])
	return nil
}

// stop takes away the flows of a playback that cannot go on, so that the next one
// begins with none.
func (p *playback) stop() {
	for _, id := range p.heap {
		p.solver.Remove(int(id))
	}
	p.heap = p.heap[:0]
	p.change = p.solver.solve(p.change[:0])
}

// sooner orders flows by end and then by number.
func (p *playback) sooner(a, b int32) bool {
	return p.end[a] < p.end[b] || p.end[a] == p.end[b] && a < b
}

func (p *playback) put(i int, id int32) {
	p.heap[i] = id
	p.place[id] = int32(i)
}

// takeFirst takes the flow that ends first from the heap.
func (p *playback) takeFirst() {
	last := p.heap[len(p.heap)-1]
	p.heap = p.heap[:len(p.heap)-1]
	if len(p.heap) > 0 {
		p.put(0, last)
		p.fix(0)
	}
}

// fix restores the heap after the end of the flow at place i has changed.
func (p *playback) fix(place int32) {
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

// sortByStart orders jobs by start and then by number.
func sortByStart(order []int32, jobs []job) {
	slices.SortFunc(order, func(a, b int32) int {
		if c := cmp.Compare(jobs[a].start, jobs[b].start); c != 0 {
			return c
		}
		return int(a - b)
	})
}
