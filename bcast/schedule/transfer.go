package schedule

// A Span is the bytes [Lo, Hi) of a message.
type Span struct{ Lo, Hi int }

// Swap appends the steps that send the bytes of out to one rank and at once
// receive those of in from another; either may be empty. Messages that are too
// long for one go in pieces.
func Swap(dst []Op, to int, out Span, from int, in Span) []Op {
	for out.Lo < out.Hi || in.Lo < in.Hi {
		sent := Op{Kind: Send, Peer: to, Offset: out.Lo, Length: min(out.Hi-out.Lo, MaxSegment)}
		received := Op{Kind: Recv, Peer: from, Offset: in.Lo, Length: min(in.Hi-in.Lo, MaxSegment)}
		sent.Exchange = sent.Length > 0 && received.Length > 0
		if sent.Length > 0 {
			dst = append(dst, sent)
		}
		if received.Length > 0 {
			dst = append(dst, received)
		}
		out.Lo += max(sent.Length, 0)
		in.Lo += max(received.Length, 0)
	}
	return dst
}

func send(dst []Op, to int, out Span) []Op { return Swap(dst, to, out, 0, Span{}) }

func receive(dst []Op, from int, in Span) []Op { return Swap(dst, 0, Span{}, from, in) }
