package schedule

import (
	"cmp"
	"fmt"
)

// Leaders broadcasts among one rank of each group of a level by any algorithm. The groups stand in the order in which a
// depth-first walk from the root meets them. The root leads its group; elsewhere the first rank of the walk does. A
// leader hands each piece on inside its group as soon as it is there, along a binomial tree.
//
// So an algorithm for equal ranks runs once per host instead of once per rank. One that goes from place to place
// crosses the links between coarser groups no more often than it has to. It is MagPIe with an algorithm of one's own
// between the clusters (Kielmann et al. 1999; Reinfjell 2023, section 6.4.2), but ordered, and in pieces.
//
// A leader hands a piece on to other leaders before it does to its group: they are farther away.
type Leaders struct {
	Level   int       // of Problem.Tree, whose groups have leaders, finest 0; a rank in none leads itself
	Between Algorithm // among the leaders; nil: Chain
}

// NativeGroups is Leaders with the library's own broadcast inside each group, piece by piece: within a
// host that knows shared memory as no schedule of sends and receives can. MagPIe is made of the library's broadcasts, too.
type NativeGroups Leaders

var (
	_ Varied     = Leaders{}
	_ Varied     = NativeGroups{}
	_ NativeUser = NativeGroups{}
)

// Name returns "leaders".
func (Leaders) Name() string { return "leaders" }

// Name returns "native-groups".
func (NativeGroups) Name() string { return "native-groups" }

// String names the settings too.
func (a Leaders) String() string { return a.text(a) }

// String names the settings too.
func (a NativeGroups) String() string { return Leaders(a).text(a) }

func (a Leaders) text(as Algorithm) string {
	return fmt.Sprintf("%s[level %d, %s]", as.Name(), a.Level, Text(a.between()))
}

// UsesNative implements NativeUser.
func (NativeGroups) UsesNative() {}

func (a Leaders) between() Algorithm { return cmp.Or[Algorithm](a.Between, Chain{}) }

// Prepare implements Algorithm. O(ranks log ranks), and what the algorithm among the leaders needs.
func (a Leaders) Prepare(p Problem) Parts {
	c := clustersOf(p, a.Level)
	var edges []Edge
	for _, ranks := range c.members {
		edges = ShapeBinomial.join(edges, ranks)
	}
	inside := NewTree(p.Ranks, edges)
	return a.prepare(p, c, func(rank int) handOn { return inside.Links(rank).piece }, false)
}

// Prepare implements Algorithm. O(ranks log ranks), and what the algorithm among the leaders needs.
func (a NativeGroups) Prepare(p Problem) Parts {
	c := clustersOf(p, a.Level)
	return Leaders(a).prepare(p, c, func(rank int) handOn {
		op := Op{Kind: Native, Group: int32(groupAt(p.Tree, a.Level, rank)), Peer: c.leaders[c.of[rank]]}
		return func(dst []Op, piece Span) []Op {
			if op.Group == 0 {
				return dst
			}
			op.Offset, op.Length = piece.Lo, piece.Hi-piece.Lo
			return append(dst, op)
		}
	}, true)
}

// A handOn appends what a rank does when its leader hands a piece on inside the group.
type handOn func(dst []Op, piece Span) []Op

// prepare does it for a way to hand on inside. whole says that the group of the root gets the message in one piece.
func (a Leaders) prepare(p Problem, c *clusters, inside func(rank int) handOn, whole bool) Parts {
	between := among(a.between(), p, c.leaders)
	return PartOf(func(rank int) Part {
		return ledPart{between(c.of[rank]), inside(rank), c.place[rank] == 0, c.of[rank] == 0, whole}.ops
	})
}

// Settings implements Varied: the levels that have groups, and algorithms that gain by being run among fewer ranks.
func (Leaders) Settings(p Problem) (values []int, with func(choice []int) Algorithm) {
	levels, between := GroupedLevels(p), []Algorithm{Chain{}, KNomial{}, Binary{}, SplitBinary{}, Circulant{}}
	return []int{len(levels), len(between)}, func(choice []int) Algorithm {
		return Leaders{levels[choice[0]], between[choice[1]]}
	}
}

// Settings implements Varied: the levels that have groups, and algorithms that suit the few leaders.
func (NativeGroups) Settings(p Problem) (values []int, with func(choice []int) Algorithm) {
	levels, between := GroupedLevels(p), []Algorithm{Chain{}, Flat{}, KNomial{}, Binary{}, Circulant{}}
	return []int{len(levels), len(between)}, func(choice []int) Algorithm {
		return NativeGroups{levels[choice[0]], between[choice[1]]}
	}
}

// A ledPart is the part of one rank.
type ledPart struct {
	between Part // of its leader
	inside  handOn
	leads   bool
	rooted  bool // the leader is the root
	whole   bool // the root hands on the message in one piece
}

// ops appends the steps. The root hands all on at the end. Other leaders hand a piece on when they wait for the next.
func (x ledPart) ops(dst []Op, p Problem) []Op {
	from := len(dst)
	dst = x.between(dst, p)
	to := len(dst)
	var piece Span // that the leader has received, and not handed on yet
	hand := func() {
		if piece.Lo < piece.Hi {
			dst = x.inside(dst, piece)
		}
	}
	exchanged := false
	for _, op := range dst[from:to] {
		if op.Kind == Recv && !exchanged { // meanwhile
			hand()
		}
		if x.leads {
			dst = append(dst, op)
		}
		if op.Kind == Recv {
			if exchanged { // the send has passed on the piece before
				hand()
			}
			piece = Span{op.Offset, op.Offset + op.Length}
		}
		exchanged = op.Exchange
	}
	hand()
	if x.whole {
		p.Segment = 0
	}
	for k := 0; x.rooted && k < p.Pieces(); k++ {
		piece = p.piece(p.whole(), k)
		hand()
	}
	return dst[:from+copy(dst[from:], dst[to:])]
}
