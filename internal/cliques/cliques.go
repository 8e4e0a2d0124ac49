package cliques

import (
	"math/bits"
	"slices"
)

// A Graph is an undirected graph on the vertices 0..n-1 without loops.
type Graph struct {
	n, words int
	rows     []uint64
}

// NewGraph returns a graph of n vertices without edges.
func NewGraph(n int) *Graph {
	words := (n + 63) / 64
	return &Graph{n: n, words: words, rows: make([]uint64, n*words)}
}

// AddEdge joins u and v, which differ.
func (g *Graph) AddEdge(u, v int) {
	set(g.row(u)).add(v)
	set(g.row(v)).add(u)
}

func (g *Graph) row(v int) []uint64 { return g.rows[v*g.words : (v+1)*g.words] }

// A set is a set of vertices, one bit each.
type set []uint64

func (s set) add(v int)      { s[v>>6] |= 1 << (v & 63) }
func (s set) remove(v int)   { s[v>>6] &^= 1 << (v & 63) }
func (s set) has(v int) bool { return s[v>>6]>>(v&63)&1 != 0 }

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

// and makes s the intersection of a and b.
func (s set) and(a, b []uint64) {
	for i := range s {
		s[i] = a[i] & b[i]
	}
}

// stack holds the sets of a recursion, made once per depth.
type stack struct {
	words int
	sets  []set
}

func (k *stack) at(depth int) set {
	for depth >= len(k.sets) {
		k.sets = append(k.sets, make(set, k.words))
	}
	return k.sets[depth]
}

// Maximal calls visit with each maximal clique, its vertices ascending; the
// slice is only valid during the call. It returns false if it gave up after
// limit recursion steps, and in any case what it did, in words of bit sets
// looked at: a step costs up to n words of n/64. A vertex without edges is a
// clique.
//
// It is the algorithm of Bron and Kerbosch 1973 with the pivot of Tomita,
// Tanaka and Takahashi 2006 (the vertex with most neighbours among the
// candidates), and the outermost vertices in degeneracy order (Eppstein,
// Löffler and Strash 2010).
func Maximal(g *Graph, limit int, visit func(clique []int)) (done bool, work int) {
	s := search{g: g, limit: limit, visit: visit}
	s.p.words, s.x.words, s.t.words = g.words, g.words, g.words
	order := degeneracyOrder(g)
	later, earlier := make(set, g.words), make(set, g.words)
	for v := range g.n {
		later.add(v)
	}
	for _, v := range order {
		later.remove(v)
		p, x := s.p.at(0), s.x.at(0)
		p.and(later, g.row(v))
		x.and(earlier, g.row(v))
		s.clique = append(s.clique[:0], v)
		if !s.expand(0) {
			return false, s.work
		}
		earlier.add(v)
	}
	return true, s.work
}

type search struct {
	g       *Graph
	limit   int
	work    int // words looked at
	visit   func([]int)
	clique  []int
	out     []int
	p, x, t stack // candidates, already done, candidates to try
}

func (s *search) expand(depth int) bool {
	if s.limit--; s.limit < 0 {
		return false
	}
	p, x := s.p.at(depth), s.x.at(depth)
	if p.empty() {
		if x.empty() {
			s.out = append(s.out[:0], s.clique...)
			slices.Sort(s.out)
			s.visit(s.out)
		}
		return true
	}
	try := s.t.at(depth)
	pivot := s.g.row(s.pivot(p, x))
	for i := range try {
		try[i] = p[i] &^ pivot[i]
	}
	for v := try.next(0); v >= 0; v = try.next(v + 1) {
		row := s.g.row(v)
		s.work += 2 * len(row)
		s.p.at(depth+1).and(p, row)
		s.x.at(depth+1).and(x, row)
		s.clique = append(s.clique, v)
		if !s.expand(depth + 1) {
			return false
		}
		s.clique = s.clique[:len(s.clique)-1]
		p.remove(v)
		x.add(v)
	}
	return true
}

// pivot is the vertex of x or p with most neighbours in p, x before p and the
// lowest of equals. The search ends at one that leaves nothing else to try.
func (s *search) pivot(p, x set) int {
	best, most, all := -1, -1, p.size()
	for k, from := range []set{x, p} {
		for v := from.next(0); v >= 0; v = from.next(v + 1) {
			n := 0
			s.work += len(p)
			for i, w := range s.g.row(v) {
				n += bits.OnesCount64(w & p[i])
			}
			if n > most {
				best, most = v, n
			}
			if most >= all-k {
				return best
			}
		}
	}
	return best
}

// degeneracyOrder removes a vertex of least degree at a time, the lowest of
// equals.
func degeneracyOrder(g *Graph) []int {
	degree := make([]int, g.n)
	left := make([]set, g.n) // by degree
	for v := range g.n {
		degree[v] = set(g.row(v)).size()
		if left[degree[v]] == nil {
			left[degree[v]] = make(set, g.words)
		}
		left[degree[v]].add(v)
	}
	done := make(set, g.words)
	order := make([]int, 0, g.n)
	low := 0
	for len(order) < g.n {
		for left[low] == nil || left[low].empty() {
			low++
		}
		v := left[low].next(0)
		left[low].remove(v)
		done.add(v)
		order = append(order, v)
		row := set(g.row(v))
		for u := row.next(0); u >= 0; u = row.next(u + 1) {
			if done.has(u) {
				continue
			}
			d := degree[u]
			left[d].remove(u)
			if left[d-1] == nil {
				left[d-1] = make(set, g.words)
			}
			left[d-1].add(u)
			degree[u] = d - 1
		}
		low = max(0, low-1)
	}
	return order
}

// Largest returns the largest clique, of equals the one whose ascending list of
// vertices is the smallest; nil if the graph has no vertices. After limit
// recursion steps it returns the largest found until then, and false. work is
// what it did, in words of bit sets looked at.
//
// Candidates are tried in ascending order, so cliques are met in the order of
// their lists and the first of the largest stays. A greedy colouring of the
// candidates bounds what they can still add, as each colour adds at most one.
func Largest(g *Graph, limit int) (clique []int, exact bool, work int) {
	l := largest{g: g, limit: limit}
	l.p.words = g.words
	p := l.p.at(0)
	for v := range g.n {
		p.add(v)
	}
	exact = l.expand(0)
	return l.best, exact, l.work
}

type largest struct {
	g            *Graph
	limit        int
	work         int // words looked at
	p            stack
	clique, best []int
}

func (l *largest) expand(depth int) bool {
	if len(l.clique) > len(l.best) {
		l.best = slices.Clone(l.clique)
	}
	if l.limit--; l.limit < 0 {
		return false
	}
	p := l.p.at(depth)
	for v := p.next(0); v >= 0; v = p.next(v + 1) {
		if len(l.clique)+p.size() <= len(l.best) || len(l.clique)+l.colours(p, len(l.best)-len(l.clique)) <= len(l.best) {
			return true
		}
		p.remove(v) // what is left comes after v
		l.p.at(depth+1).and(p, l.g.row(v))
		l.clique = append(l.clique, v)
		if !l.expand(depth + 1) {
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
