package schedule

// swap appends the steps that send the bytes of out to one rank and at once
// receive those of in from another; either may be empty. Messages that are too
// long for one go in pieces.
func swap(dst []Op, to int, out span, from int, in span) []Op {
	for out.lo < out.hi || in.lo < in.hi {
		sent := Op{Kind: Send, Peer: to, Offset: out.lo, Length: min(out.hi-out.lo, MaxSegment)}
		received := Op{Kind: Recv, Peer: from, Offset: in.lo, Length: min(in.hi-in.lo, MaxSegment)}
		switch {
		case received.Length <= 0:
			dst = append(dst, sent)
		case sent.Length <= 0:
			dst = append(dst, received)
		default:
			sent.Kind, sent.RecvPeer, sent.RecvOffset, sent.RecvLength = Exchange, from, in.lo, received.Length
			dst = append(dst, sent)
		}
		out.lo += max(sent.Length, 0)
		in.lo += max(received.Length, 0)
	}
	return dst
}

func send(dst []Op, to int, out span) []Op { return swap(dst, to, out, 0, span{}) }

func receive(dst []Op, from int, in span) []Op { return swap(dst, 0, span{}, from, in) }
