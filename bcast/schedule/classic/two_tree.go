package classic

import "github.com/topocast/topocast/bcast/schedule"

// TwoTree sends half of the pieces down each of two binary trees, in which
// every rank that serves others in one is a leaf of the other: each rank then
// sends no more than the message once, and a pipeline is filled in the
// logarithm of the ranks. In each round a rank sends one piece and receives one. It is
// the algorithm of Sanders, Speck and Traeff 2009 (Two-tree algorithms for full
// bandwidth broadcast, reduction and scan): in-order trees over the line that
// Chain follows without the root, the second shifted by a place, with links
// coloured by the parity of the rounds in which they carry.
type TwoTree struct{}

// Name returns "two-tree".
func (TwoTree) Name() string { return "two-tree" }

// Prepare implements Algorithm. O(ranks log ranks).
func (TwoTree) Prepare(p schedule.Problem) schedule.Parts {
	ranks := schedule.Line(p)
	places := schedule.Places(ranks)
	w := newTwoTrees(p.Ranks - 1)
	return schedule.PartOf(func(rank int) schedule.Part {
		var x twoTreePart
		place := places[rank]
		for tree := range 2 {
			if place > 0 {
				l := w.links[tree][place]
				x.in = append(x.in, timedLink{ranks[l.parent], tree, l.round})
			}
			for _, c := range w.children(tree, place) {
				x.out = append(x.out, timedLink{ranks[c], tree, w.links[tree][c].round})
			}
		}
		return x
	})
}

// A timedLink carries piece i of its tree in round round + 2i.
type timedLink struct {
	peer  int // rank
	tree  int
	round int
}

// piece is the piece of the message that the link carries in a round, if it does.
func (l timedLink) piece(round, pieces int) (int, bool) {
	since := round - l.round
	i := since + l.tree // 2 (since/2) + tree: pieces go to the trees in turn
	return i, since >= 0 && since%2 == 0 && i < pieces
}

// twoTreePart is the part of one rank: two links in, of other parity, and two out.
type twoTreePart struct{ in, out []timedLink }

// Ops implements Part.
func (x twoTreePart) Ops(dst []schedule.Op, p schedule.Problem) []schedule.Op {
	pieces, length := p.Pieces(), p.PieceBytes()
	last := 0
	for _, links := range [][]timedLink{x.in, x.out} {
		for _, l := range links {
			last = max(last, l.round+pieces)
		}
	}
	find := func(links []timedLink, round int) (int, schedule.Span) {
		for _, l := range links {
			if i, ok := l.piece(round, pieces); ok {
				return l.peer, schedule.Span{Lo: i * length, Hi: min((i+1)*length, p.Bytes)}
			}
		}
		return 0, schedule.Span{}
	}
	for round := range last {
		to, sent := find(x.out, round)
		from, got := find(x.in, round)
		dst = schedule.Swap(dst, to, sent, from, got)
	}
	return dst
}

// twoTrees are the two trees over the places 1 to n; place 0 serves the roots of both.
type twoTrees struct {
	n     int
	links [2][]treeLink // per place: the link to it
}

type treeLink struct {
	parent int // place
	round  int // in which it carries the first piece of its tree
}

func newTwoTrees(n int) *twoTrees {
	w := &twoTrees{n: n}
	for tree := range w.links {
		w.links[tree] = make([]treeLink, n+1)
		for place := range n + 1 {
			for _, c := range w.children(tree, place) {
				w.links[tree][c].parent = place
			}
		}
	}
	colours := w.colours()
	for tree := range w.links {
		w.time(tree, 0, -1, colours)
	}
	return w
}

// children are the places that a place serves in a tree. The first tree is in
// order: the root is the largest power of two, odd places are leaves. The
// second has place i where the first has i-1, and 1 where that has n.
func (w *twoTrees) children(tree, place int) []int {
	shifted := func(place int) int { // to the numbers of the tree
		if tree == 1 {
			return (place+w.n-2)%w.n + 1
		}
		return place
	}
	var list []int
	add := func(x int) {
		if tree == 1 {
			x = x%w.n + 1
		}
		list = append(list, x)
	}
	if w.n == 0 {
		return nil
	}
	if place == 0 {
		root := 1
		for 2*root <= w.n {
			root *= 2
		}
		add(root)
		return list
	}
	x := shifted(place)
	half := x & -x / 2
	if half == 0 {
		return nil
	}
	add(x - half)
	for half > 0 && x+half > w.n {
		half /= 2
	}
	if half > 0 {
		add(x + half)
	}
	return list
}

// colours gives each link 0 or 1, so that no place has two links in, or two
// out, of the same colour. Links that must differ form paths and even circles:
// each has at most one neighbour at its start and one at its end.
func (w *twoTrees) colours() [2][]int {
	beside := [2][]int{make([]int, w.n+1), make([]int, w.n+1)} // the other link from the same place, in the same tree; 0: none
	for tree := range beside {
		for place := range w.n + 1 {
			if c := w.children(tree, place); len(c) == 2 {
				beside[tree][c[0]], beside[tree][c[1]] = c[1], c[0]
			}
		}
	}
	colours := [2][]int{make([]int, w.n+1), make([]int, w.n+1)}
	for tree := range colours {
		for place := range colours[tree] {
			colours[tree][place] = -1
		}
	}
	type link struct{ tree, place, colour int }
	for start := 1; start <= w.n; start++ {
		for stack := []link{{0, start, 0}}; len(stack) > 0; {
			l := stack[len(stack)-1]
			stack = stack[:len(stack)-1]
			if colours[l.tree][l.place] >= 0 {
				continue
			}
			colours[l.tree][l.place] = l.colour
			stack = append(stack, link{1 - l.tree, l.place, 1 - l.colour})
			switch other := beside[l.tree][l.place]; {
			case other > 0:
				stack = append(stack, link{l.tree, other, 1 - l.colour})
			case w.links[l.tree][l.place].parent == 0: // the root serves one in each tree
				stack = append(stack, link{1 - l.tree, w.children(1-l.tree, 0)[0], 1 - l.colour})
			}
		}
	}
	return colours
}

// time sets the rounds of the links below a place that has its first piece after
// the given round: each the next one of its colour.
func (w *twoTrees) time(tree, place, after int, colours [2][]int) {
	for _, c := range w.children(tree, place) {
		round := after + 1
		if round%2 != colours[tree][c] {
			round++
		}
		w.links[tree][c].round = round
		w.time(tree, c, round, colours)
	}
}
