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
	ranks := schedule.Line(p)
	places := schedule.Places(ranks)
	w := newTwoTrees(p.Ranks - 1)
	return schedule.PartOf(func(rank int) schedule.Part {
		var in, out []timedLink // two links in, of other parity, and two out
		place := places[rank]
		for tree := range w.trees {
			links := w.trees[tree].Links(place)
			if place > 0 {
				in = append(in, timedLink{ranks[links.Parent], tree, w.rounds[tree][place]})
			}
			for _, c := range links.Children {
				out = append(out, timedLink{ranks[c], tree, w.rounds[tree][c]})
			}
		}
		return func(dst []schedule.Op, p schedule.Problem) []schedule.Op { return twoTreeOps(dst, p, in, out) }
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

// twoTreeOps appends the steps of a rank with the given links.
func twoTreeOps(dst []schedule.Op, p schedule.Problem, in, out []timedLink) []schedule.Op {
	pieces, length := p.Pieces(), p.PieceBytes()
	last := 0
	for _, links := range [][]timedLink{in, out} {
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
		to, sent := find(out, round)
		from, got := find(in, round)
		dst = schedule.Swap(dst, to, sent, from, got)
	}
	return dst
}

// twoTrees are the two trees over the places 0 to n, of which place 0 serves the roots of both.
type twoTrees struct {
	trees   [2]*schedule.Tree
	colours [2][]int // per place: of the link to it, 0 or 1; -1: none yet
	rounds  [2][]int // per place: in which the link to it carries the first piece of its tree
}

func newTwoTrees(n int) *twoTrees {
	w := &twoTrees{}
	first := inOrder(nil, 1, n, 0)
	second := make([]schedule.Edge, len(first))
	for i, e := range first {
		shifted := schedule.Edge{From: e.From, To: e.To%n + 1}
		if e.From > 0 {
			shifted.From = e.From%n + 1
		}
		second[i] = shifted
	}
	w.trees = [2]*schedule.Tree{schedule.NewTree(n+1, first), schedule.NewTree(n+1, second)}
	for tree := range w.trees {
		w.rounds[tree], w.colours[tree] = make([]int, n+1), make([]int, n+1)
		for place := range n + 1 {
			w.colours[tree][place] = -1
		}
	}
	for place := 1; place <= n; place++ {
		w.colour(0, place, 0)
	}
	for tree := range w.trees {
		w.time(tree, 0, -1)
	}
	return w
}

// inOrder appends the edges of the tree over the places lo to hi, which are in order, below another place. The places left
// of its root are the largest perfect tree, so every other place is a leaf.
func inOrder(edges []schedule.Edge, lo, hi, above int) []schedule.Edge {
	if lo > hi {
		return edges
	}
	perfect := 1
	for 2*perfect <= hi-lo+1 {
		perfect *= 2
	}
	root := lo + perfect - 1
	edges = append(edges, schedule.Edge{From: above, To: root})
	edges = inOrder(edges, lo, root-1, root)
	return inOrder(edges, root+1, hi, root)
}

// colour gives the link to a place a colour, and the links that must differ from it the other one, and so on. No place has
// two links in, or two out, of the same colour. Links that must differ form paths and even circles.
func (w *twoTrees) colour(tree, place, colour int) {
	if w.colours[tree][place] >= 0 {
		return
	}
	w.colours[tree][place] = colour
	w.colour(1-tree, place, 1-colour)
	parent := w.trees[tree].Links(place).Parent
	if parent == 0 { // it serves one place in each tree
		w.colour(1-tree, w.trees[1-tree].Links(0).Children[0], 1-colour)
		return
	}
	for _, beside := range w.trees[tree].Links(parent).Children {
		if beside != place {
			w.colour(tree, beside, 1-colour)
		}
	}
}

// time sets the rounds of the links below a place that has its first piece after
// the given round: each the next one of its colour.
func (w *twoTrees) time(tree, place, after int) {
	for _, c := range w.trees[tree].Links(place).Children {
		round := after + 1
		if round%2 != w.colours[tree][c] {
			round++
		}
		w.rounds[tree][c] = round
		w.time(tree, c, round)
	}
}
