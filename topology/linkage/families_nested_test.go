package linkage_test

import "math"

// A node is a switch of a tree of which only levels count: two hosts that meet
// in it are its level apart, in s.
type node struct {
	level float64
	kids  []*node
	hosts int // of its own
}

// layout lays the tree out: every node below the root is a group.
func (t *node) layout() *layout {
	l := newLayout(t.size())
	t.lay(l, 0)
	return l
}

func (t *node) size() int {
	n := t.hosts
	for _, c := range t.kids {
		n += c.size()
	}
	return n
}

// lay numbers the hosts of the node from first on, and returns the next number.
func (t *node) lay(l *layout, first int) int {
	next := first
	apart := func(from, to int) { // of all before
		for i := from; i < to; i++ {
			for j := first; j < from; j++ {
				l.set(i, j, t.level)
			}
		}
	}
	for range t.hosts {
		apart(next, next+1)
		next++
	}
	for _, c := range t.kids {
		end := c.lay(l, next)
		apart(next, end)
		l.groups = append(l.groups, span(next, end))
		next = end
	}
	return next
}

// span is the list of the numbers from to to-1.
func span(from, to int) []int {
	s := make([]int, to-from)
	for k := range s {
		s[k] = from + k
	}
	return s
}

// A growth says how a random tree grows: at most depth levels of groups, each
// level/ratio apart.
type growth struct {
	depth int
	ratio func(depth int) float64
	inner bool // hosts on inner switches, too
}

// ratios draws a step for each level, even on a logarithmic scale; in every second instance one
// for each group.
func ratios(d *draw, lo, hi float64) func(depth int) float64 {
	one := func() float64 { return lo * math.Pow(hi/lo, d.Float64()) }
	if d.chance(0.5) {
		return func(int) float64 { return one() }
	}
	var level []float64
	return func(depth int) float64 {
		for len(level) <= depth {
			level = append(level, one())
		}
		return level[depth]
	}
}

// grow makes a random tree of n hosts, of uneven fan-out and depth.
func (g growth) grow(d *draw, n int, level float64) *node {
	t := &node{level: level}
	if g.depth == 0 || n < 4 {
		t.hosts = n
		return t
	}
	kids := d.whole(2, min(6, n/2))
	if g.inner && d.chance(0.6) {
		t.hosts = d.whole(1, min(8, n/4))
		n -= t.hosts
		kids = d.whole(1, min(5, n/2))
	}
	below := g
	below.depth--
	for _, size := range split(d, n, kids, 2) {
		child := below
		if d.chance(0.15) {
			child.depth = 0
		}
		t.kids = append(t.kids, child.grow(d, size, level/g.ratio(g.depth)))
	}
	return t
}

// split divides n in k uneven parts, each of least or more.
func split(d *draw, n, k, least int) []int {
	parts := make([]int, k)
	weights := make([]float64, k)
	sum := 0.0
	for i := range weights {
		weights[i] = math.Exp(0.7 * d.NormFloat64())
		sum += weights[i]
	}
	rest := n - k*least
	used := 0
	for i := range parts {
		share := int(float64(rest) * weights[i] / sum)
		parts[i] = least + share
		used += share
	}
	for range rest - used {
		parts[d.IntN(k)]++
	}
	return parts
}

// even is the tree of given fan-outs, coarse to fine, and as many levels.
func even(fan []int, level []float64) *node {
	t := &node{level: level[0]}
	if len(fan) == 1 {
		t.hosts = fan[0]
		return t
	}
	for range fan[0] {
		t.kids = append(t.kids, even(fan[1:], level[1:]))
	}
	return t
}
