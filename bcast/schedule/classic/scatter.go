package classic

import "github.com/topocast/topocast/bcast/schedule"

// A scattering is the first half of the algorithms that divide the message into
// a block for each rank: the root sends each half of the line its half of the
// blocks, and so on, along a binomial tree. After it the rank in place i has
// the blocks of all ranks in its subtree, from its own on.
type scattering struct {
	line  []int // ranks, the root first
	place int   // of the rank
}

// ranks is the number of ranks, and of blocks.
func (s scattering) ranks() int { return len(s.line) }

// rank is the rank some places further on in the circle.
func (s scattering) rank(further int) int { return s.line[s.at(further)] }

// at is the place some places further on in the circle.
func (s scattering) at(further int) int { return (s.place + further + s.ranks()) % s.ranks() }

// width is the size of the binomial subtree of a place, places beyond the
// last rank included.
func (s scattering) width() int {
	if s.place > 0 {
		return s.place & -s.place
	}
	w := 1
	for w < s.ranks() {
		w *= 2
	}
	return w
}

// end is the block after the last one that the rank has after the scattering.
func (s scattering) end() int { return min(s.place+s.width(), s.ranks()) }

// blocks are the bytes of the blocks [lo, hi), all of the same length as far as
// there are bytes.
func (s scattering) blocks(p schedule.Problem, lo, hi int) schedule.Span {
	length := (p.Bytes-1)/s.ranks() + 1
	start := func(block int) int {
		if block > p.Bytes/length { // block*length might not fit an int
			return p.Bytes
		}
		return min(block*length, p.Bytes)
	}
	return schedule.Span{Lo: start(lo), Hi: start(hi)}
}

// ops appends the steps of the scattering.
func (s scattering) ops(dst []schedule.Op, p schedule.Problem) []schedule.Op {
	if s.place > 0 {
		dst = schedule.Swap(dst, 0, schedule.Span{}, s.line[s.place&(s.place-1)], s.blocks(p, s.place, s.end()))
	}
	for step := s.width() / 2; step > 0; step /= 2 {
		if to := s.place + step; to < s.ranks() {
			dst = schedule.Swap(dst, s.line[to], s.blocks(p, to, min(to+step, s.ranks())), 0, schedule.Span{})
		}
	}
	return dst
}
