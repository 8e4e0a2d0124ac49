package schedule

import "fmt"

// NativeGroups broadcasts among one rank of each group of a level by any algorithm, as
// Leaders does, and inside each group by the library's own broadcast, piece by piece: within a
// host that knows shared memory as no schedule of sends and receives can. It is MagPIe
// (Kielmann et al. 1999), which is made of the library's broadcasts, too.
//
// A leader hands a piece on to other leaders before it does to its group: they are
// farther away.
type NativeGroups struct {
	Level   int       // of Problem.Tree, whose groups broadcast natively, finest 0; a rank in none leads itself
	Between Algorithm // among the leaders; nil: Chain
}

var (
	_ Preparer   = NativeGroups{}
	_ Varied     = NativeGroups{}
	_ NativeUser = NativeGroups{}
)

// Name returns "native-groups".
func (NativeGroups) Name() string { return "native-groups" }

// String names the settings too.
func (a NativeGroups) String() string {
	return fmt.Sprintf("native-groups[level %d, %v]", a.Level, named{a.leaders().between()})
}

// UsesNative implements NativeUser.
func (NativeGroups) UsesNative() {}

func (a NativeGroups) leaders() Leaders { return Leaders(a) }

// Ops implements Algorithm. O(ranks log ranks), and what the steps of a leader need.
func (a NativeGroups) Ops(dst []Op, p Problem, rank int) []Op { return a.Prepare(p)(rank).Ops(dst, p) }

// Prepare implements Preparer.
func (a NativeGroups) Prepare(p Problem) func(rank int) Part {
	led := a.leaders().led(p)
	group := make([]int32, p.Ranks) // of each rank, 0 for none
	if p.Tree != nil {
		for g, x := range p.Tree.Groups() {
			if g > 0 && x.Level == a.Level {
				for _, r := range x.Hosts {
					group[r] = int32(g)
				}
			}
		}
	}
	return func(rank int) Part {
		c := led.cluster[rank]
		leader := led.members[c][0]
		return nativePart{
			between: stages{led.between.stage(led.place[c])},
			group:   group[rank],
			leader:  leader,
			leads:   rank == leader,
			rooted:  leader == p.Root,
		}
	}
}

// Variants returns, for each level that has groups, one for each algorithm that
// suits the few leaders.
func (NativeGroups) Variants(p Problem) []Algorithm {
	var all []Algorithm
	for _, a := range PerLevel(p, func(level int) Algorithm { return NativeGroups{Level: level} }) {
		for _, between := range []Algorithm{Chain{}, Flat{}, KNomial{}, Binary{}, Circulant{}} {
			all = append(all, NativeGroups{a.(NativeGroups).Level, between})
		}
	}
	return all
}

// A nativePart is that of one rank.
type nativePart struct {
	between stages // of its leader
	group   int32  // 0: the leader is all there is
	leader  int
	leads   bool
	rooted  bool // the leader is the root
}

// Ops implements Part.
func (x nativePart) Ops(dst []Op, p Problem) []Op {
	if x.rooted {
		if x.leads {
			dst = x.between.Ops(dst, p)
		}
		for at := 0; at < p.Bytes; at += MaxSegment {
			dst = x.hand(dst, at, min(MaxSegment, p.Bytes-at))
		}
		return dst
	}
	from := len(dst)
	dst = x.between.Ops(dst, p)
	to := len(dst)
	piece := Op{} // that the leader has received, and not handed to its group yet
	for _, op := range dst[from:to] {
		if op.Kind == Recv { // meanwhile
			dst = x.hand(dst, piece.Offset, piece.Length)
			piece = op
		}
		if x.leads {
			dst = append(dst, op)
		}
		if op.Kind == Exchange { // which has sent on what was received before
			dst = x.hand(dst, piece.Offset, piece.Length)
			piece = op.Received()
		}
	}
	dst = x.hand(dst, piece.Offset, piece.Length)
	return dst[:from+copy(dst[from:], dst[to:])]
}

// hand appends the group's broadcast of some bytes, if there are any, and anybody else.
func (x nativePart) hand(dst []Op, offset, length int) []Op {
	if x.group == 0 || length == 0 {
		return dst
	}
	return append(dst, Op{Kind: Native, Group: x.group, Peer: x.leader, Offset: offset, Length: length})
}
