package classic

import "github.com/topocast/topocast/bcast/schedule"

// ScatterRing divides the message into a block for each rank, which travel
// round the ring of all ranks: each rank sends and receives little more than
// the message once, whatever their number, at the price of as many steps. The
// ring is the line that Chain follows, so that with a hierarchy it crosses the
// link of each group once in each direction. It is van de Geijn's broadcast
// (Barnett et al. 1994), which MPI libraries use for the longest messages, but no
// rank gets what it has (as MPICH's "tuned" ring). Segments play no part.
type ScatterRing struct{}

var _ schedule.Varied = ScatterRing{}

// Name returns "scatter-ring".
func (ScatterRing) Name() string { return "scatter-ring" }

// ringed is the number of ranks up to which the ring is worth a thought: its
// steps are their square, and a chain of segments uses the same links.
const ringed = 128

// Variants implements Varied: itself, for up to 128 ranks.
func (a ScatterRing) Variants(p schedule.Problem) []schedule.Algorithm {
	if p.Ranks > ringed {
		return nil
	}
	return []schedule.Algorithm{a}
}

// Prepare implements Algorithm. O(ranks log ranks).
func (ScatterRing) Prepare(p schedule.Problem) schedule.Parts {
	ranks := schedule.Line(p)
	places := schedule.Places(ranks)
	return schedule.PartOf(func(rank int) schedule.Part {
		place := places[rank]
		right := (place + 1) % p.Ranks
		return ringPart{
			scattering: newScattering(ranks, place),
			left:       ranks[(place+p.Ranks-1)%p.Ranks], right: ranks[right],
			known: scattered(p.Ranks, right),
		}
	})
}

// ringPart is the part of one rank.
type ringPart struct {
	scattering
	left, right int
	known       int // the end of the blocks that the right one has after the scattering, from its place on
}

// Ops implements Part.
func (x ringPart) Ops(dst []schedule.Op, p schedule.Problem) []schedule.Op {
	if p.Bytes == 0 || x.ranks == 1 {
		return dst
	}
	dst = x.scattering.ops(dst, p)
	right := (x.place + 1) % x.ranks
	for round := range x.ranks - 1 {
		sent, got := (x.place+x.ranks-round)%x.ranks, (x.place+2*x.ranks-1-round)%x.ranks
		var out, in schedule.Span
		if sent < right || sent >= x.known {
			out = x.blocks(p, sent, sent+1)
		}
		if got < x.place || got >= scattered(x.ranks, x.place) {
			in = x.blocks(p, got, got+1)
		}
		dst = schedule.Swap(dst, x.right, out, x.left, in)
	}
	return dst
}
