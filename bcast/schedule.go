package bcast

import (
	"fmt"

	"github.com/topocast/topocast/mpi"
	"github.com/topocast/topocast/topology"
)

// An Op is one step of a rank's part in a broadcast: send or receive the bytes
// [Offset, Offset+Length) of the buffer.
type Op struct {
	Kind   Kind
	Peer   int // the other rank
	Offset int // bytes
	Length int // bytes, at least 1
}

// Kind says which way an Op moves its bytes.
type Kind uint8

// The kinds of Op.
const (
	Send Kind = iota // to Peer
	Recv             // from Peer
)

func (k Kind) String() string {
	if k == Send {
		return "send"
	}
	return "recv"
}

func (o Op) String() string {
	return fmt.Sprintf("%s [%d, %d) peer %d", o.Kind, o.Offset, o.Offset+o.Length, o.Peer)
}

// A Problem is one broadcast to be scheduled.
type Problem struct {
	Ranks   int                 // at least 1
	Root    int                 // in [0, Ranks)
	Bytes   int                 // length of the message, at least 0
	Segment int                 // bytes sent at a time; 0: the whole message, in pieces of at most 1 GiB
	Tree    *topology.Hierarchy // of the ranks, for algorithms that follow it; nil: nothing is known
}

// maxSegment keeps a message below the 2^31-1 bytes that MPI can count.
const maxSegment = 1 << 30

// An Algorithm says what each rank does in a broadcast, and touches no
// communicator: the executor, Check and Predict all read the same schedule.
//
// A rank performs its Ops in order: a Recv ends when the bytes have come, a
// Send when they are taken. Nothing may rest on a Send being buffered. As every
// byte is received once and after that only read, an executor may start
// receives earlier, and end sends later, than the order says; it must keep the
// order of the messages between two ranks.
type Algorithm interface {
	// Name is a short lower-case name, unique among the algorithms.
	Name() string

	// Ops appends the steps of the given rank to dst and returns it. It is a
	// pure function of its arguments, and p is valid. There are no steps in a
	// broadcast of 0 bytes, or to nobody.
	Ops(dst []Op, p Problem, rank int) []Op
}

func (p Problem) validate() error {
	switch {
	case p.Ranks < 1:
		return fmt.Errorf("bcast: problem: ranks %d: want at least 1", p.Ranks)
	case p.Root < 0 || p.Root >= p.Ranks:
		return fmt.Errorf("bcast: problem: root %d: %w: want in [0, %d)", p.Root, mpi.ErrRank, p.Ranks)
	case p.Bytes < 0:
		return fmt.Errorf("bcast: problem: bytes %d: want at least 0", p.Bytes)
	case p.Segment < 0:
		return fmt.Errorf("bcast: problem: segment %d bytes: want at least 0", p.Segment)
	case p.Tree != nil && p.Tree.Hosts() != p.Ranks:
		return fmt.Errorf("bcast: problem: tree of %d hosts: want one per rank, %d", p.Tree.Hosts(), p.Ranks)
	}
	return nil
}

// segment is the length of all pieces but the last, at least 1.
func (p Problem) segment() int {
	if p.Segment < 1 || p.Segment > maxSegment {
		return maxSegment
	}
	return p.Segment
}

// segments is the number of pieces.
func (p Problem) segments() int {
	s := p.segment()
	return p.Bytes/s + min(1, p.Bytes%s)
}
