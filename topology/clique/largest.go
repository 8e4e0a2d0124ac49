package clique

import (
	"math/bits"
	"slices"
)

// edgeSets are the edges of an undirected graph on the vertices 0..n-1, without loops: per vertex the set of those that
// it is joined with.
type edgeSets struct {
	n, words int
	rows     []uint64
}

// newEdgeSets makes those of a graph of n vertices without edges.
func newEdgeSets(n int) *edgeSets {
	words := (n + 63) / 64
	return &edgeSets{n: n, words: words, rows: make([]uint64, n*words)}
}

// add joins u and v, which differ.
func (g *edgeSets) add(u, v int) {
	g.row(u).add(v)
	g.row(v).add(u)
}

func (g *edgeSets) row(v int) set { return g.rows[v*g.words : (v+1)*g.words] }

// A set is a set of vertices, one bit each.
type set []uint64

func (s set) add(v int)    { s[v>>6] |= 1 << (v & 63) }
func (s set) remove(v int) { s[v>>6] &^= 1 << (v & 63) }

func (s set) empty() bool {
	for _, w := range s {
		if w != 0 {
			return false
		}
	}
	return true
}

func (s set) size() int {
	n := 0
	for _, w := range s {
		n += bits.OnesCount64(w)
	}
	return n
}

// next is the smallest member from v on, or -1.
func (s set) next(v int) int {
	i := v >> 6
	if i >= len(s) {
		return -1
	}
	if w := s[i] >> (v & 63); w != 0 {
		return v + bits.TrailingZeros64(w)
	}
	for i++; i < len(s); i++ {
		if s[i] != 0 {
			return i<<6 + bits.TrailingZeros64(s[i])
		}
	}
	return -1
}

// and is the intersection of two sets.
func (s set) and(o set) set {
	both := make(set, len(s))
	for i := range s {
		both[i] = s[i] & o[i]
	}
	return both
}

// largestClique is the largest clique, of equals the one whose ascending list of
// vertices is the smallest; nil if the graph has no vertices. After limit
// recursion steps it is the largest found until then, and exact is false. work is
// what it did, in words of bit sets looked at.
//
// The thesis lists all cliques with the algorithm of Bron and Kerbosch 1973 and takes the largest. This
// search finds the same one without the others. Candidates are tried in ascending order, so cliques are met in the order of
// their lists and the first of the largest stays. A greedy colouring of the
// candidates bounds what they can still add, as each colour adds at most one.
func (g *edgeSets) largestClique(limit int) (clique []int, exact bool, work int) {
	all := make(set, g.words)
	for v := range g.n {
		all.add(v)
	}
	l := largest{g: g, limit: limit}
	exact = l.expand(all)
	return l.best, exact, l.work
}

type largest struct {
	g            *edgeSets
	limit        int
	work         int // words looked at
	clique, best []int
}

// expand tries each of the candidates as the next vertex of the clique. It returns false when the limit is reached.
func (l *largest) expand(candidates set) bool {
	if len(l.clique) > len(l.best) {
		l.best = slices.Clone(l.clique)
	}
	if l.limit--; l.limit < 0 {
		return false
	}
	for v := candidates.next(0); v >= 0; v = candidates.next(v + 1) {
		missing := len(l.best) - len(l.clique)
		if candidates.size() <= missing || l.colours(candidates, missing) <= missing {
			return true
		}
		candidates.remove(v) // what is left comes after v
		l.clique = append(l.clique, v)
		if !l.expand(candidates.and(l.g.row(v))) {
			return false
		}
		l.clique = l.clique[:len(l.clique)-1]
	}
	return true
}

// colours is the number of colours that a greedy colouring of p takes; it stops
// counting above enough.
func (l *largest) colours(p set, enough int) int {
	left, class := slices.Clone(p), make(set, len(p))
	n := 0
	for n <= enough && !left.empty() {
		n++
		copy(class, left)
		for v := class.next(0); v >= 0; v = class.next(v + 1) {
			l.work += len(p)
			left.remove(v)
			for i, w := range l.g.row(v) {
				class[i] &^= w
			}
		}
	}
	return n
}
