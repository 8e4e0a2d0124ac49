package classic

import "github.com/topocast/topocast/bcast/schedule"

// A scattering is the first half of the algorithms that divide the message into
// a block for each rank: the root sends each half of the line its half of the
// blocks, and so on, along a binomial tree. After it the rank in place i has
// the blocks of all ranks in its subtree, from its own on.
type scattering struct {
	ranks  int
	place  int
	parent int   // rank; -1: none
	served []int // ranks, the one with the most blocks first
}

func newScattering(line []int, place int) scattering {
	s := scattering{ranks: len(line), place: place, parent: -1}
	if place > 0 {
		s.parent = line[place&(place-1)]
	}
	for step := scatterWidth(s.ranks, place) / 2; step > 0; step /= 2 {
		if place+step < s.ranks {
			s.served = append(s.served, line[place+step])
		}
	}
	return s
}

// scatterWidth is the size of the binomial subtree of a place, places beyond the
// last rank included.
func scatterWidth(ranks, place int) int {
	if place > 0 {
		return place & -place
	}
	w := 1
	for w < ranks {
		w *= 2
	}
	return w
}

// scattered is the block after the last one that a place has after the scattering.
func scattered(ranks, place int) int { return min(place+scatterWidth(ranks, place), ranks) }

// blocks are the bytes of the blocks [lo, hi), all of the same length as far as
// there are bytes.
func (s scattering) blocks(p schedule.Problem, lo, hi int) schedule.Span {
	length := (p.Bytes-1)/s.ranks + 1
	return schedule.Span{Lo: blockStart(p, length, lo), Hi: blockStart(p, length, hi)}
}

func blockStart(p schedule.Problem, length, block int) int {
	if block > p.Bytes/length { // block*length might not fit an int
		return p.Bytes
	}
	return min(block*length, p.Bytes)
}

// ops appends the steps of the scattering.
func (s scattering) ops(dst []schedule.Op, p schedule.Problem) []schedule.Op {
	if s.parent >= 0 {
		dst = schedule.Swap(dst, 0, schedule.Span{}, s.parent, s.blocks(p, s.place, scattered(s.ranks, s.place)))
	}
	step := scatterWidth(s.ranks, s.place) / 2
	for _, to := range s.served {
		for s.place+step >= s.ranks { // nobody there
			step /= 2
		}
		dst = schedule.Swap(dst, to, s.blocks(p, s.place+step, min(s.place+2*step, s.ranks)), 0, schedule.Span{})
		step /= 2
	}
	return dst
}
