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
	ranks := schedule.Line(p)
	places := schedule.Places(ranks)
	return schedule.PartOf(func(rank int) schedule.Part {
		x := doublingPart{scattering: newScattering(ranks, places[rank])}
		for d := 1; d < p.Ranks; d *= 2 {
			to, from := doublingPartners(p.Ranks, places[rank], d)
			r := doublingRound{to: ranks[to], from: ranks[from]}
			r.sent[0], r.sent[1] = missing(p.Ranks, to, d)
			r.got[0], r.got[1] = missing(p.Ranks, places[rank], d)
			x.rounds = append(x.rounds, r)
		}
		return x
	})
}

// doublingPartners are the places to which a place sends, and from which it
// receives, in the round in which all have about d blocks.
func doublingPartners(ranks, place, d int) (to, from int) {
	if ranks&(ranks-1) == 0 {
		return place ^ d, place ^ d
	}
	return (place - d + ranks) % ranks, (place + d) % ranks
}

// missing are the blocks [lo, hi) that a place gets in that round, those of its
// partner but for what it has since the scattering. Blocks from ranks on are
// those from 0 on.
func missing(ranks, place, d int) (lo, hi int) {
	_, from := doublingPartners(ranks, place, d)
	if ranks&(ranks-1) == 0 {
		lo = from &^ (d - 1)
		hi = lo + d
	} else {
		lo = place + d
		hi = lo + min(d, ranks-d)
	}
	if lo > place {
		lo = max(lo, min(hi, scattered(ranks, place)))
	}
	return lo, hi
}

// doublingPart is the part of one rank.
type doublingPart struct {
	scattering
	rounds []doublingRound
}

// A doublingRound is what a rank does in a round: partners, and blocks from the
// first up to the second.
type doublingRound struct {
	to, from  int
	sent, got [2]int
}

// Ops implements Part.
func (x doublingPart) Ops(dst []schedule.Op, p schedule.Problem) []schedule.Op {
	if p.Bytes == 0 || x.ranks == 1 {
		return dst
	}
	dst = x.scattering.ops(dst, p)
	for _, r := range x.rounds {
		// What goes beyond the last block begins again at the first.
		for turn := range 2 {
			out, in := x.turn(p, r.sent, turn), x.turn(p, r.got, turn)
			dst = schedule.Swap(dst, r.to, out, r.from, in)
		}
	}
	return dst
}

// turn is the part of the blocks in [turn*ranks, (turn+1)*ranks).
func (x doublingPart) turn(p schedule.Problem, blocks [2]int, turn int) schedule.Span {
	lo, hi := max(blocks[0]-turn*x.ranks, 0), min(blocks[1]-turn*x.ranks, x.ranks)
	if lo >= hi {
		return schedule.Span{}
	}
	return x.blocks(p, lo, hi)
}
