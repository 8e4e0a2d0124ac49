package steps

import (
	"fmt"

	"github.com/topocast/topocast/bcast/schedule"
	"github.com/topocast/topocast/topology"
)

// A Step is one message of a rank, with the values [From, To) of its vector. A CombineKept is none.
type Step struct {
	Kind     Kind
	Peer     int
	From, To int // values, at least one
}

// Kind says what a rank does with the values of a Step.
type Kind uint8

// The kinds of steps.
const (
	Send        Kind = iota // sends its values, as they are then, to a peer that combines them. It never waits for the peer
	SendResult              // the same, to a peer whose values they replace
	Combine                 // waits for values of the peer, and combines them into its own
	Replace                 // waits for values of the peer, which take the place of its own
	Swap                    // waits for values that the peer sends to be combined, which take the place of its own, and keeps these
	CombineKept             // combines the values that the last Swap has kept into its own. The peer is the rank itself

	kinds
)

// IsSend tells whether a step of this kind sends.
func (k Kind) IsSend() bool { return k <= SendResult }

// IsReceive tells whether a step of this kind receives.
func (k Kind) IsReceive() bool { return k == Combine || k == Replace || k == Swap }

// IsResult tells whether the values are part of the result. Between two ranks these messages do not keep step with the others.
func (k Kind) IsResult() bool { return k == SendResult || k == Replace }

func (k Kind) String() string {
	names := [kinds]string{Send: "send", SendResult: "send result", Combine: "combine", Replace: "replace", Swap: "swap", CombineKept: "combine kept"}
	if k < kinds {
		return names[k]
	}
	return fmt.Sprintf("kind %d", uint8(k))
}

func (s Step) String() string {
	return fmt.Sprintf("%v [%d, %d) peer %d", s.Kind, s.From, s.To, s.Peer)
}

// A Problem is a reduction among some ranks.
type Problem struct {
	Ranks int                 // at least 1
	Root  int                 // the rank that wants the result, or AllRanks
	Bytes int                 // of a vector, about, for trees that are shaped by it
	Tree  *topology.Hierarchy // of the ranks; nil: nothing is known
	Costs *schedule.Costs     // of messages by level of Tree; nil: a guess
}

// AllRanks is the root of a reduction whose result all ranks want.
const AllRanks = -1

// wantsAll tells whether all ranks want the result.
func (p Problem) wantsAll() bool { return p.Root == AllRanks }

// An Algorithm says what each rank does in a reduction.
type Algorithm interface {
	// Name is short, in lower case, and unique among the algorithms.
	Name() string

	// Prepare works out what ranks do. It is a pure function of p.
	Prepare(p Problem) Parts
}

// Parts returns the part of a rank.
type Parts func(rank int) Part

// A Part appends the steps of one rank for vectors of so many values to dst. Long vectors go in segments of so many
// values, where the algorithm has segments; 0: whole. Messages between two ranks arrive in the order of their steps, those with results and the
// others apart. It allocates nothing but room in dst.
type Part func(dst []Step, values, segment int) []Step

// add appends a step, unless it has no values.
func add(dst []Step, kind Kind, peer, from, to int) []Step {
	if from == to {
		return dst
	}
	return append(dst, Step{kind, peer, from, to})
}
