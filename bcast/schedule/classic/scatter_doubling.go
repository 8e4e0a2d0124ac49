package classic

import "github.com/topocast/topocast/bcast/schedule"

// ScatterDoubling divides the message into a block for each rank, and then all
// exchange what they have, twice as much in each round: in 2 log2(ranks) rounds
// each rank sends and receives little more than the message twice. With a
// power of two of ranks partners swap (recursive doubling, as in MPICH's middle
// sizes; Thakur et al. 2005, Optimization of collective communication
// operations in MPICH, section 4.2), otherwise what each has goes round a
// circle, 1, 2, 4 places on (Bruck et al. 1997), in as many rounds. No rank gets
// what it has. Segments play no part.
type ScatterDoubling struct{}

// Name returns "scatter-doubling".
func (ScatterDoubling) Name() string { return "scatter-doubling" }

// Prepare implements Algorithm. O(ranks log ranks).
func (ScatterDoubling) Prepare(p schedule.Problem) schedule.Parts {
	line := schedule.Line(p)
	return schedule.ByPlace(line, func(place int) schedule.Part { return scattering{line, place}.doubling })
}

// doubling appends the steps of both halves.
func (s scattering) doubling(dst []schedule.Op, p schedule.Problem) []schedule.Op {
	dst = s.ops(dst, p)
	for d := 1; d < s.ranks(); d *= 2 {
		to, from := s.partners(d)
		sentLo, sentHi := scattering{s.line, to}.missing(d)
		gotLo, gotHi := s.missing(d)
		// What goes beyond the last block begins again at the first.
		for turn := range 2 {
			dst = schedule.Swap(dst, s.line[to], s.turn(p, sentLo, sentHi, turn), s.line[from], s.turn(p, gotLo, gotHi, turn))
		}
	}
	return dst
}

// isPower tells whether the number of ranks is a power of two.
func (s scattering) isPower() bool { return s.ranks()&(s.ranks()-1) == 0 }

// partners are the places to which the rank sends, and from which it
// receives, in the round in which all have about d blocks.
func (s scattering) partners(d int) (to, from int) {
	if s.isPower() {
		return s.place ^ d, s.place ^ d
	}
	return s.at(-d), s.at(d)
}

// missing are the blocks [lo, hi) that the rank gets in that round, those of its
// partner but for what it has since the scattering. Blocks from ranks on are
// those from 0 on.
func (s scattering) missing(d int) (lo, hi int) {
	if s.isPower() {
		_, from := s.partners(d)
		lo = from &^ (d - 1)
		hi = lo + d
	} else {
		lo = s.place + d
		hi = lo + min(d, s.ranks()-d)
	}
	if lo > s.place {
		lo = max(lo, min(hi, s.end()))
	}
	return lo, hi
}

// turn is the part of the blocks [lo, hi) in [turn*ranks, (turn+1)*ranks).
func (s scattering) turn(p schedule.Problem, lo, hi, turn int) schedule.Span {
	lo, hi = max(lo-turn*s.ranks(), 0), min(hi-turn*s.ranks(), s.ranks())
	if lo >= hi {
		return schedule.Span{}
	}
	return s.blocks(p, lo, hi)
}
