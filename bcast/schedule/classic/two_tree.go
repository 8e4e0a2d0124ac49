package classic

import "github.com/topocast/topocast/bcast/schedule"

// TwoTree sends half of the pieces down each of two binary trees. A rank that serves others in one is a leaf of the other.
// So each rank sends no more than the message once, and a pipeline is filled in the
// logarithm of the ranks. In each round a rank sends one piece and receives one.
//
// It is the algorithm of Sanders, Speck and Traeff 2009 (Two-tree algorithms for full
// bandwidth broadcast, reduction and scan). The trees are in order over the line that
// Chain follows, without the root, and the second is shifted by a place. Links are
// coloured by the parity of the rounds in which they carry.
type TwoTree struct{}

// Name returns "two-tree".
func (TwoTree) Name() string { return "two-tree" }

// Prepare implements Algorithm. O(ranks log ranks).
func (TwoTree) Prepare(p schedule.Problem) schedule.Parts {
	w := newTwoTrees(schedule.Line(p))
	return schedule.PartOf(func(rank int) schedule.Part {
		var in, out []timedLink // two links in, of other parity, and two out
		for tree := range w.trees {
			links := w.trees[tree].Links(rank)
			if links.Parent >= 0 {
				in = append(in, timedLink{links.Parent, tree, w.rounds[tree][rank]})
			}
			for _, c := range links.Children {
				out = append(out, timedLink{c, tree, w.rounds[tree][c]})
			}
		}
		return func(dst []schedule.Op, p schedule.Problem) []schedule.Op { return w.ops(dst, p, in, out) }
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

// ops appends the steps of a rank with the given links.
func (w *twoTrees) ops(dst []schedule.Op, p schedule.Problem, in, out []timedLink) []schedule.Op {
	pieces, length := p.Pieces(), p.PieceBytes()
	find := func(links []timedLink, round int) (int, schedule.Span) {
		for _, l := range links {
			if i, ok := l.piece(round, pieces); ok {
				return l.peer, schedule.Span{Lo: i * length, Hi: min((i+1)*length, p.Bytes)}
			}
		}
		return 0, schedule.Span{}
	}
	for round := range w.last + pieces {
		to, sent := find(out, round)
		from, got := find(in, round)
		dst = schedule.Swap(dst, to, sent, from, got)
	}
	return dst
}

// twoTrees are two trees over the ranks without the root, which serves the roots of both.
type twoTrees struct {
	root    int
	trees   [2]*schedule.Tree
	colours [2][]int // per rank: of the link to it, 0 or 1; -1: none yet
	rounds  [2][]int // per rank: in which the link to it carries the first piece of its tree
	last    int      // of the rounds
}

func newTwoTrees(line []int) *twoTrees {
	w := &twoTrees{root: line[0]}
	others := line[1:]
	shifted := make([]int, len(others))
	for i := range others {
		shifted[i] = others[(i+1)%len(others)]
	}
	for tree, ranks := range [...][]int{others, shifted} {
		w.trees[tree] = schedule.NewTree(len(line), inOrder(nil, ranks, w.root))
		w.rounds[tree], w.colours[tree] = make([]int, len(line)), make([]int, len(line))
		for rank := range line {
			w.colours[tree][rank] = -1
		}
	}
	for _, rank := range others {
		w.colour(0, rank, 0)
	}
	for tree := range w.trees {
		w.time(tree, w.root, -1)
	}
	return w
}

// inOrder appends the edges of the tree over the ranks, which are in order, below another rank. The ranks left
// of its root are the largest perfect tree, so every other rank is a leaf.
func inOrder(edges []schedule.Edge, ranks []int, above int) []schedule.Edge {
	if len(ranks) == 0 {
		return edges
	}
	perfect := 1
	for 2*perfect <= len(ranks) {
		perfect *= 2
	}
	root := ranks[perfect-1]
	edges = append(edges, schedule.Edge{From: above, To: root})
	edges = inOrder(edges, ranks[:perfect-1], root)
	return inOrder(edges, ranks[perfect:], root)
}

// colour gives the link to a rank a colour, and the links that must differ from it the other one, and so on. No rank has
// two links in, or two out, of the same colour. Links that must differ form paths and even circles.
func (w *twoTrees) colour(tree, rank, colour int) {
	if w.colours[tree][rank] >= 0 {
		return
	}
	w.colours[tree][rank] = colour
	w.colour(1-tree, rank, 1-colour)
	parent := w.trees[tree].Links(rank).Parent
	if parent == w.root { // it serves one rank in each tree
		w.colour(1-tree, w.trees[1-tree].Links(w.root).Children[0], 1-colour)
		return
	}
	for _, beside := range w.trees[tree].Links(parent).Children {
		if beside != rank {
			w.colour(tree, beside, 1-colour)
		}
	}
}

// time sets the rounds of the links below a rank that has its first piece after
// the given round: each the next one of its colour.
func (w *twoTrees) time(tree, rank, after int) {
	for _, c := range w.trees[tree].Links(rank).Children {
		round := after + 1
		if round%2 != w.colours[tree][c] {
			round++
		}
		w.rounds[tree][c] = round
		w.last = max(w.last, round)
		w.time(tree, c, round)
	}
}
