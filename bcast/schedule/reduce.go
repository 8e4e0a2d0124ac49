package schedule

import (
	"fmt"
	"slices"
)

// A broadcast along a tree becomes a reduction when time runs backwards: every rank combines what its children send into its
// own values, and sends the result to its parent. So the fastest tree of a broadcast is that of a reduction.

// A Reduction is an algorithm that combines the values of all ranks.
//
// A rank performs its Ops in order. A Send never waits for the peer, and ends before the values that it sends change. Other
// ranks may therefore need some of the rank's receives to be posted before their turn comes: ReceivesAhead of them.
type Reduction interface {
	Algorithm

	// ToAll tells whether all ranks get the result, or the root alone.
	ToAll() bool
}

// ReceivesAhead is how many receives of a Reduction a rank has posted at the least, of those that are left.
const ReceivesAhead = 4

// Reductions returns the algorithms that are searched for the best way to reduce to one root: the trees of Algorithms.
func Reductions() (all []Algorithm) {
	for _, a := range trees() {
		all = append(all, Reduce{a})
	}
	return all
}

// Allreductions returns the algorithms that are searched where all ranks want the result.
func Allreductions() (all []Algorithm) {
	for _, a := range trees() {
		all = append(all, Allreduce{Along: a})
	}
	for kind := range coreKinds {
		all = append(all, Core{Kind: kind})
	}
	return all
}

// trees are those of Algorithms in which every rank has one parent.
func trees() []Algorithm {
	return slices.DeleteFunc(Algorithms(), func(a Algorithm) bool {
		_, is := a.Prepare(Problem{Ranks: 1}).(*Tree)
		return !is
	})
}

// Reduce reduces to the root along the tree of a broadcast. Its Prepare panics for a broadcast that prepares no *Tree.
type Reduce struct{ Along Algorithm }

// Allreduce is Reduce for results that all ranks want: they come back along the tree, segment by segment. Later segments are
// still on their way to the root then.
type Allreduce struct {
	Along Algorithm

	// Late is how many segments are under way on each link, from the ends to the root and back. Few would not fill links of
	// high latency. 0: 1.
	Late int

	// Spread deals the vector to the leaders of the groups of a level, each the root of a tree for its part. Then no group's link
	// carries more than another's. From 1 for the finest level; 0: one root, rank 0.
	Spread int
}

var (
	_ Reduction = Reduce{}
	_ Reduction = Allreduce{}
	_ Varied    = Reduce{}
	_ Varied    = Allreduce{}
)

// Name is that of the broadcast.
func (a Reduce) Name() string { return a.Along.Name() }

// Name is that of the broadcast.
func (a Allreduce) Name() string { return a.Along.Name() }

// String is the text of the broadcast.
func (a Reduce) String() string { return Text(a.Along) }

// String is the text of the broadcast with the settings.
func (a Allreduce) String() string {
	text := Text(a.Along)
	if a.Spread > 0 {
		text += fmt.Sprintf(" spread %d", a.Spread)
	}
	if a.Late > 1 {
		text += fmt.Sprintf(" late %d", a.Late)
	}
	return text
}

// ToAll implements Reduction.
func (Reduce) ToAll() bool { return false }

// ToAll implements Reduction.
func (Allreduce) ToAll() bool { return true }

// Settings implements Varied: those of the broadcast.
func (a Reduce) Settings(p Problem) (values []int, with func(choice []int) Algorithm) {
	values, broadcast := settingsOf(a.Along, p)
	return values, func(choice []int) Algorithm { return Reduce{broadcast(choice)} }
}

// mostRoots bounds the trees that ranks work out.
const mostRoots = 64

// Settings implements Varied: those of the broadcast, and then one for Spread with Late.
func (a Allreduce) Settings(p Problem) (values []int, with func(choice []int) Algorithm) {
	values, broadcast := settingsOf(a.Along, p)
	var list []Allreduce
	for _, level := range levels(p) {
		for _, late := range []int{1, 4} {
			if x := (Allreduce{Spread: level, Late: late}); len(x.roots(p)) <= mostRoots {
				list = append(list, x)
			}
		}
	}
	last := len(values)
	return append(slices.Clone(values), len(list)), func(choice []int) Algorithm {
		x := list[choice[last]]
		x.Along = broadcast(choice[:last])
		return x
	}
}

// settingsOf are the Settings of an algorithm, none if it is not Varied.
func settingsOf(a Algorithm, p Problem) (values []int, with func(choice []int) Algorithm) {
	if v, is := a.(Varied); is {
		return v.Settings(p)
	}
	return nil, func([]int) Algorithm { return a }
}

// treeOf is the tree of a broadcast, for vectors of the length of the problem. Segments do not shape it. Plans that differ in
// segments only are then close to each other, and the best of them is found by going from one to the next.
func treeOf(broadcast Algorithm, p Problem, root int) *Tree {
	p.Root, p.Segment = root, 0
	return broadcast.Prepare(p).(*Tree)
}

// Prepare implements Algorithm. It takes as long as that of the broadcast.
func (a Reduce) Prepare(p Problem) Parts {
	tree := treeOf(a.Along, p, p.Root)
	return PartOf(func(rank int) Part {
		return func(dst []Op, p Problem) []Op { return tree.Links(rank).reduce(dst, p) }
	})
}

// roots are those among which the vector is dealt.
func (a Allreduce) roots(p Problem) []int {
	p.Root = 0
	if a.Spread == 0 {
		return []int{0}
	}
	return clustersOf(p, a.Spread-1).leaders
}

// Prepare implements Algorithm. O(ranks * roots), besides what the broadcasts take.
func (a Allreduce) Prepare(p Problem) Parts {
	roots := a.roots(p)
	trees, depth := make([]*Tree, len(roots)), make([][]int, len(roots))
	for i, root := range roots {
		trees[i] = treeOf(a.Along, p, root)
		depth[i] = trees[i].depths(root)
	}
	late := max(1, a.Late)
	return PartOf(func(rank int) Part {
		places := make([]treePlace, len(roots))
		for i := range places {
			own, most := depth[i][rank], slices.Max(depth[i])
			places[i] = treePlace{links: trees[i].Links(rank), upFrom: late * (most - own), downFrom: late * (most + own)}
		}
		return func(dst []Op, p Problem) []Op { return thereAndBack(dst, places, p) }
	})
}

// A treePlace is that of a rank in one of several trees.
type treePlace struct {
	links            Links
	upFrom, downFrom int // turns in which the first segment goes up, and comes down

	// Of the vector at hand.
	part  Span
	count int // of segments
}

// thereAndBack appends the steps of a rank. Each tree has a part of the values. In each turn one segment of each part goes up, and one
// comes down. Ranks that are one link apart are as many turns apart in all parts. So they agree in the order of their messages.
func thereAndBack(dst []Op, places []treePlace, p Problem) []Op {
	turns := 0
	for i := range places {
		x := &places[i]
		x.part = dealt(p.Bytes, len(places), i)
		x.count = p.piecesOf(x.part)
		turns = max(turns, x.count+x.downFrom)
	}
	for turn := range turns {
		for i := range places {
			if x := &places[i]; turn >= x.upFrom && turn < x.upFrom+x.count {
				dst = x.links.combine(dst, p.piece(x.part, turn-x.upFrom))
			}
		}
		for i := range places {
			if x := &places[i]; turn >= x.downFrom && turn < x.downFrom+x.count {
				dst = x.links.piece(dst, p.piece(x.part, turn-x.downFrom))
			}
		}
	}
	return dst
}

// reduce appends the steps of a rank on the way to the root.
func (l Links) reduce(dst []Op, p Problem) []Op {
	for k := range p.Pieces() {
		dst = l.combine(dst, p.piece(p.whole(), k))
	}
	return dst
}

// combine appends the steps for one segment on its way to the root. The child that is served last by a broadcast has the
// fewest ranks below it, and is the first to have its sum.
func (l Links) combine(dst []Op, piece Span) []Op {
	for _, child := range slices.Backward(l.Children) {
		dst = combine(dst, Combine, child, piece)
	}
	if l.Parent >= 0 {
		dst = send(dst, l.Parent, piece)
	}
	return dst
}

// combine appends a step that combines, unless it has no values.
func combine(dst []Op, kind Kind, peer int, in Span) []Op {
	if in.Lo == in.Hi {
		return dst
	}
	return append(dst, Op{Kind: kind, Peer: peer, Offset: in.Lo, Length: in.Hi - in.Lo})
}

// depths are how far the ranks are from the root of the tree.
func (t *Tree) depths(root int) []int {
	depth := make([]int, len(t.links))
	order := []int{root} // parents before their children
	for i := 0; i < len(order); i++ {
		for _, child := range t.links[order[i]].Children {
			depth[child] = depth[order[i]] + 1
			order = append(order, child)
		}
	}
	return depth
}

// dealt is one of n parts of a vector, as equal as can be; the first ones have a value more.
func dealt(values, n, i int) Span {
	least, more := values/n, values%n
	return Span{i*least + min(i, more), (i+1)*least + min(i+1, more)}
}
