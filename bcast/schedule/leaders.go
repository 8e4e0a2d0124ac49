package schedule

import "fmt"

// Leaders broadcasts among one rank of each group of a level by any algorithm, in
// the order in which a depth-first walk from the root meets the groups, and hands
// each piece on inside the group, along a binomial tree, as soon as it is there. So
// an algorithm for equal ranks runs once per host instead of once per rank, and
// one that goes from place to place crosses the links between coarser groups no
// more often than it has to. It is MagPIe with an algorithm of one's own between the
// clusters (Kielmann et al. 1999; Reinfjell 2023, section 6.4.2), but ordered, and
// in pieces. The root leads its group; elsewhere the first rank of the walk does.
type Leaders struct {
	Level   int       // of Problem.Tree, whose groups have leaders, finest 0; a rank in none leads itself
	Between Algorithm // among the leaders; nil: Chain
}

var (
	_ Preparer = Leaders{}
	_ Varied   = Leaders{}
)

// Name returns "leaders".
func (Leaders) Name() string { return "leaders" }

// String names the settings too.
func (a Leaders) String() string {
	return fmt.Sprintf("leaders[level %d, %v]", a.Level, named{a.between()})
}

func (a Leaders) between() Algorithm {
	if a.Between == nil {
		return Chain{}
	}
	return a.Between
}

// Ops implements Algorithm. O(ranks log ranks), and what the steps of a leader need.
func (a Leaders) Ops(dst []Op, p Problem, rank int) []Op { return a.Prepare(p)(rank).Ops(dst, p) }

// Prepare implements Preparer.
func (a Leaders) Prepare(p Problem) func(rank int) Part {
	cluster := clusterOf(p, a.Level)
	order := rotated(p.Ranks, p.Root)
	if p.Tree != nil {
		order = depthFirst(p.Tree, p.Root)
	}
	var leaders []int
	members, place := map[int][]int{}, map[int]int{} // by cluster: the leader first; its place
	for _, r := range order {
		c := cluster[r]
		if members[c] == nil {
			place[c] = len(leaders)
			leaders = append(leaders, r)
		}
		members[c] = append(members[c], r)
	}
	var edges []Edge
	for _, r := range leaders {
		edges = ShapeBinomial.join(edges, members[cluster[r]])
	}
	inside := NewTree(p.Ranks, edges)
	between := newCompany(a.between(), p, leaders, 0)
	return func(rank int) Part {
		c := cluster[rank]
		leader := members[c][0]
		return ledPart{
			between: stages{between.stage(place[c])},
			inside:  inside.Links(rank),
			leads:   rank == leader,
			rooted:  leader == p.Root,
		}
	}
}

// Variants returns, for each level that has groups, one for each algorithm that
// gains by being run among fewer ranks.
func (Leaders) Variants(p Problem) []Algorithm {
	var all []Algorithm
	for _, a := range perLevel(p, func(level int) Algorithm { return Leaders{Level: level} }) {
		for _, between := range []Algorithm{
			Chain{}, KNomial{}, Binary{}, SplitBinary{}, TwoTree{}, ScatterRing{}, ScatterDoubling{}, Circulant{},
		} {
			all = append(all, Leaders{a.(Leaders).Level, between})
		}
	}
	return all
}

// A ledPart is that of one rank.
type ledPart struct {
	between stages // of its leader
	inside  Links
	leads   bool
	rooted  bool // the leader is the root
}

// Ops implements Part.
func (x ledPart) Ops(dst []Op, p Problem) []Op {
	if x.rooted {
		if x.leads {
			dst = x.between.Ops(dst, p)
		}
		return x.inside.Ops(dst, p)
	}
	from := len(dst)
	dst = x.between.Ops(dst, p)
	to := len(dst)
	for _, op := range dst[from:to] {
		if x.leads {
			dst = append(dst, op)
		}
		switch op.Kind {
		case Send:
			continue
		case Exchange:
			op = op.Received()
		}
		if !x.leads {
			op.Peer = x.inside.Parent
			dst = append(dst, op)
		}
		op.Kind = Send
		for _, op.Peer = range x.inside.Children {
			dst = append(dst, op)
		}
	}
	return dst[:from+copy(dst[from:], dst[to:])]
}
