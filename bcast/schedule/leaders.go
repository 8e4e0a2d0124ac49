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
	led := a.led(p)
	var edges []Edge
	for _, r := range led.between.ranks {
		edges = ShapeBinomial.join(edges, led.members[led.cluster[r]])
	}
	inside := NewTree(p.Ranks, edges)
	return func(rank int) Part {
		c := led.cluster[rank]
		leader := led.members[c][0]
		return ledPart{
			between: stages{led.between.stage(led.place[c])},
			inside:  inside.Links(rank),
			leads:   rank == leader,
			rooted:  leader == p.Root,
		}
	}
}

// led are the ranks in their clusters, and what their leaders do.
type led struct {
	cluster []int         // of each rank
	members map[int][]int // by cluster: the leader first
	place   map[int]int   // by cluster: of its leader in between
	between company       // the leaders
}

// led finds the leaders.
func (a Leaders) led(p Problem) led {
	l := led{cluster: clusterOf(p, a.Level), members: map[int][]int{}, place: map[int]int{}}
	order := rotated(p.Ranks, p.Root)
	if p.Tree != nil {
		order = depthFirst(p.Tree, p.Root)
	}
	var leaders []int
	for _, r := range order {
		c := l.cluster[r]
		if l.members[c] == nil {
			l.place[c] = len(leaders)
			leaders = append(leaders, r)
		}
		l.members[c] = append(l.members[c], r)
	}
	l.between = newCompany(a.between(), p, leaders, 0)
	return l
}

// Variants returns, for each level that has groups, one for each algorithm that
// gains by being run among fewer ranks.
func (Leaders) Variants(p Problem) []Algorithm {
	var all []Algorithm
	for _, a := range PerLevel(p, func(level int) Algorithm { return Leaders{Level: level} }) {
		for _, between := range []Algorithm{
			Chain{}, KNomial{}, Binary{}, SplitBinary{}, Circulant{},
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
