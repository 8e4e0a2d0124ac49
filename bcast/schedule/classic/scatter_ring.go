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

// Name returns "scatter-ring".
func (ScatterRing) Name() string { return "scatter-ring" }

// Prepare implements Algorithm. O(ranks log ranks).
func (ScatterRing) Prepare(p schedule.Problem) schedule.Parts {
	line := schedule.Line(p)
	return schedule.ByPlace(line, func(place int) schedule.Part { return scattering{line, place}.ring })
}

// ring appends the steps of both halves.
func (s scattering) ring(dst []schedule.Op, p schedule.Problem) []schedule.Op {
	dst = s.ops(dst, p)
	right := scattering{s.line, s.at(1)}
	for round := range s.ranks() - 1 {
		sent, got := s.at(-round), s.at(-1-round)
		var out, in schedule.Span
		if sent < right.place || sent >= right.end() {
			out = s.blocks(p, sent, sent+1)
		}
		if got < s.place || got >= s.end() {
			in = s.blocks(p, got, got+1)
		}
		dst = schedule.Swap(dst, s.rank(1), out, s.rank(-1), in)
	}
	return dst
}
