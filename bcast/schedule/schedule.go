package schedule

import (
	"fmt"
	"math/bits"
	"slices"

	"github.com/topocast/topocast/topology"
)

// An Op is one step of a rank's part in a collective operation: send, receive or combine the bytes
// [Offset, Offset+Length) of the buffer, or broadcast these in a group.
type Op struct {
	Kind Kind

	// Exchange says that a Send and the next step, a Recv, are performed at the same time: a round in which links carry
	// both ways. The peers may be two ranks. The bytes that are sent were there before the round.
	Exchange bool

	Group  int32 // of a Native: the index in Problem.Tree.Groups(), at least 1; 0 in the other kinds
	Peer   int   // the other rank; of a Native: the one that has the bytes, which may be this one; of a CombineHeld: this one
	Offset int   // bytes
	Length int   // bytes, at least 1
}

// Kind says which way an Op moves its bytes.
type Kind uint8

// The kinds of Op.
const (
	Send Kind = iota // to Peer
	Recv             // from Peer

	// Native is the MPI library's broadcast of the bytes from Peer to all other ranks of Group, each of which has this
	// step. A Native may wait for all ranks of the group before any goes on. It needs a communicator of the group's
	// ranks: see NativeUser.
	Native

	// The other kinds are those of a Reduction.

	Combine     // from Peer, and combine them into the rank's own
	Hold        // from Peer, in the place of the rank's own, which are held back
	CombineHeld // combine what the last Hold has held back into the rank's own

	kinds
)

// Receives tells whether a step of this kind receives from one rank.
func (k Kind) Receives() bool { return k == Recv || k == Combine || k == Hold }

func (k Kind) String() string {
	names := [...]string{Send: "send", Recv: "recv", Native: "native", Combine: "combine", Hold: "hold", CombineHeld: "combine held"}
	if int(k) < len(names) {
		return names[k]
	}
	return fmt.Sprintf("kind %d", uint8(k))
}

func (o Op) String() string {
	s := fmt.Sprintf("%s [%d, %d) peer %d", o.Kind, o.Offset, o.Offset+o.Length, o.Peer)
	switch {
	case o.Kind == Native:
		return fmt.Sprintf("native [%d, %d) from %d in group %d", o.Offset, o.Offset+o.Length, o.Peer, o.Group)
	case o.Exchange:
		return s + " as the next step receives"
	}
	return s
}

// receivesFirst tells in which order a rank that can do one thing at a time performs an exchange with a send to peer. No
// ranks wait in a circle, if all of them are in the same round: in any order of the ranks a circle of sends goes down
// somewhere, and there the receive comes first. The order is that of the mirrored bits, so that neighbours alternate.
func receivesFirst(rank, peer int) bool { return bits.Reverse(uint(rank)) > bits.Reverse(uint(peer)) }

// A Problem is one broadcast or reduction to be scheduled.
type Problem struct {
	Ranks   int                 // at least 1
	Root    int                 // in [0, Ranks); of no account where all ranks get the result of a reduction
	Bytes   int                 // length of the message, at least 0; who reduces values of several bytes counts values instead
	Segment int                 // bytes sent at a time; 0: the whole message, in pieces of at most 1 GiB
	Tree    *topology.Hierarchy // of the ranks, for algorithms that follow it; nil: nothing is known
	Costs   *Costs              // of messages by level of Tree, for trees that are shaped by them; nil: a guess
}

// MaxSegment is the longest message in bytes, which keeps it below the 2^31-1 bytes that MPI can count.
const MaxSegment = 1 << 30

// An Algorithm says what each rank does in a broadcast or a Reduction, and touches no
// communicator: the executor, Check and Predict all read the same schedule.
//
// In a broadcast a rank performs its Ops in order: a Recv ends when the bytes have come, a
// Send when they are taken. No Send is taken to be buffered. An executor may perform the two steps of an exchange one
// after the other, in the order that Lower gives them OneByOne. As every
// byte is received once and after that only read, an executor may start
// receives earlier, and end sends later, than the order says; it must keep the
// order of the messages between two ranks.
type Algorithm interface {
	// Name is a short lower-case name, unique among the algorithms.
	Name() string

	// Prepare works out what ranks do in a problem that is valid. It is a pure function of p. An algorithm in which
	// every rank has one parent returns a *Tree.
	Prepare(p Problem) Parts
}

// Parts are the parts of all ranks. They belong to one goroutine.
type Parts interface {
	// Of returns the part of a rank. It holds on to little of the parts of others.
	Of(rank int) Part
}

// A Part is what one rank does with messages of any length, with the same root, ranks, tree and costs. It appends the steps to dst and
// returns it. p differs at most in Bytes and Segment from the problem that was prepared. There are no steps for 0 bytes, or
// for a rank alone. It allocates nothing but room in dst.
type Part func(dst []Op, p Problem) []Op

// Ops calls the part.
func (f Part) Ops(dst []Op, p Problem) []Op { return f(dst, p) }

// PartOf is a function that serves as Parts.
type PartOf func(rank int) Part

// Of implements Parts.
func (f PartOf) Of(rank int) Part { return f(rank) }

// Steps is a function that serves as Parts, of an algorithm that works nothing out beforehand.
type Steps func(dst []Op, p Problem, rank int) []Op

// Of implements Parts.
func (s Steps) Of(rank int) Part {
	return func(dst []Op, p Problem) []Op { return s(dst, p, rank) }
}

// AllOps returns the steps of every rank in a problem that is valid, in the
// storage of dst as far as it reaches.
func AllOps(dst [][]Op, a Algorithm, p Problem) [][]Op {
	dst = slices.Grow(dst[:0], p.Ranks)[:p.Ranks]
	parts := a.Prepare(p)
	for rank := range dst {
		dst[rank] = parts.Of(rank).Ops(dst[rank][:0], p)
	}
	return dst
}

// Validate returns an error that names what is impossible in the problem.
func (p Problem) Validate() error {
	switch {
	case p.Ranks < 1:
		return fmt.Errorf("schedule: problem: ranks %d: want at least 1", p.Ranks)
	case p.Root < 0 || p.Root >= p.Ranks:
		return fmt.Errorf("schedule: problem: root %d: want in [0, %d)", p.Root, p.Ranks)
	case p.Bytes < 0:
		return fmt.Errorf("schedule: problem: bytes %d: want at least 0", p.Bytes)
	case p.Segment < 0:
		return fmt.Errorf("schedule: problem: segment %d bytes: want at least 0", p.Segment)
	case p.Tree != nil && p.Tree.Hosts() != p.Ranks:
		return fmt.Errorf("schedule: problem: tree of %d hosts: want one per rank, %d", p.Tree.Hosts(), p.Ranks)
	}
	if p.Costs != nil {
		return p.Costs.validate(p.levels())
	}
	return nil
}

// PieceBytes is the length of all pieces but the last, at least 1.
func (p Problem) PieceBytes() int {
	if p.Segment < 1 || p.Segment > MaxSegment {
		return MaxSegment
	}
	return p.Segment
}

// Pieces is the number of pieces.
func (p Problem) Pieces() int { return p.piecesOf(p.whole()) }

// whole is the message.
func (p Problem) whole() Span { return Span{0, p.Bytes} }

// piecesOf is the number of pieces of a part of the message.
func (p Problem) piecesOf(part Span) int {
	s, bytes := p.PieceBytes(), part.Hi-part.Lo
	return bytes/s + min(1, bytes%s)
}

// piece is a piece of a part of the message, by its number. Beyond the last one it is empty.
func (p Problem) piece(part Span, k int) Span {
	lo := part.Lo + k*p.PieceBytes()
	return Span{lo, lo + min(p.PieceBytes(), part.Hi-lo)}
}
