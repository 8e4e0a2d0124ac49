package schedule

// among lets an algorithm broadcast among some of the ranks, from the first of them, in their order. It returns the part
// of each by its place among them.
func among(a Algorithm, p Problem, ranks []int) func(place int) Part {
	sub := Problem{Ranks: len(ranks), Bytes: p.Bytes, Segment: p.Segment}
	parts := a.Prepare(sub)
	return func(place int) Part {
		part := parts.Of(place)
		return func(dst []Op, p Problem) []Op {
			from := len(dst)
			sub := sub
			sub.Bytes, sub.Segment = p.Bytes, p.Segment
			dst = part(dst, sub)
			for i := from; i < len(dst); i++ {
				dst[i].Peer = ranks[dst[i].Peer]
			}
			return dst
		}
	}
}
