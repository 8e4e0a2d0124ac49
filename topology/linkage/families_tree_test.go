package linkage_test

import "slices"

// topLevel draws the latency between hosts of different parts of the machine.
func topLevel(d *draw) float64 { return d.between(2e-6, 40e-6) }

// wild is a random tree of n hosts, one to three levels of groups deep.
func wild(d *draw, n int, inner bool) *layout {
	g := growth{depth: d.whole(1, 3), ratio: ratios(d, 1.1, 3), inner: inner}
	return g.grow(d, n, topLevel(d)).layout()
}

// steep is a random tree of which each step is 1.22 or more.
func steep(d *draw, n int) *layout {
	g := growth{depth: d.whole(1, 3), ratio: ratios(d, 1.22, 2.2)}
	return g.grow(d, n, topLevel(d)).layout()
}

// unequal gives each host a link of its own, up to 10 to 30 % slower or faster than
// half of the smallest latency.
func unequal(d *draw, l *layout) *layout {
	most := d.between(0.1, 0.3) * l.smallest() / 2
	for h := range l.offsets() {
		l.offset[h] += d.between(-most, most)
	}
	return l
}

// inner is a random tree of switches, all with hosts, where latencies are those of
// the way: hosts of inner switches are nearer to all others than those of leaves. Links
// get longer from level to level towards the root, so that each switch
// with all below it is a group, but not each one has a clear step.
func inner(d *draw, n int) *layout {
	depth := d.whole(1, 4)
	f := &fabric{own: d.between(0.4e-6, 1e-6)}
	up := make([]float64, depth+1) // length of the link above a switch at that depth
	length := f.own * d.between(0.3, 1.5)
	for k := depth; k > 0; k-- {
		up[k] = length
		length *= d.between(1.3, 2.5)
	}
	var grow func(at, n int) []int
	grow = func(at, n int) []int {
		s := f.switches
		f.switches++
		below := []int{s}
		if at == depth || n < 5 {
			f.host(s, n)
			return below
		}
		own := d.whole(1, max(1, min(6, n/4)))
		f.host(s, own)
		for _, size := range split(d, n-own, d.whole(1, min(4, (n-own)/2)), 2) {
			c := f.switches
			sub := grow(at+1, size)
			f.link(s, c, up[at+1])
			f.sets = append(f.sets, sub)
			below = append(below, sub...)
		}
		return below
	}
	grow(0, n)
	return f.layout()
}

func trees() []family {
	tree := func(name string, depth int, lo, hi float64, m func(*draw) *measurement) family {
		return family{name, "tree", true, func(d *draw) (*layout, *measurement) {
			g := growth{depth: d.whole(1, depth), ratio: ratios(d, lo, hi)}
			return g.grow(d, d.size(), topLevel(d)).layout(), m(d)
		}}
	}
	return []family{
		tree("tree-exact", 4, 1.1, 3, func(*draw) *measurement { return noisy(0, 1) }),
		tree("tree-1%", 3, 1.1, 3, func(d *draw) *measurement { return noisy(0.01, d.whole(1, 3)) }),
		tree("tree-3%", 3, 1.1, 3, func(d *draw) *measurement { return noisy(0.03, d.whole(1, 3)) }),
		tree("tree-5%-outliers", 3, 1.1, 3, func(d *draw) *measurement {
			m := noisy(0.05, pick(d, 1, 2, 3, 5))
			m.outliers = 0.02
			return m
		}),
		{"tree-deep", "tree", true, func(d *draw) (*layout, *measurement) {
			g := growth{depth: d.whole(4, 6), ratio: ratios(d, 1.15, 1.8)}
			return g.grow(d, d.size(), topLevel(d)).layout(), noisy(pick(d, 0, 0.01, 0.02), d.whole(1, 3))
		}},
		{"inner-hosts", "E", true, func(d *draw) (*layout, *measurement) {
			return wild(d, d.size(), true), usual(d)
		}},
		{"inner-links", "E", true, func(d *draw) (*layout, *measurement) {
			return inner(d, d.size()), usual(d)
		}},
		{"unequal-links", "E", true, func(d *draw) (*layout, *measurement) {
			return unequal(d, steep(d, d.size())), usual(d)
		}},
		{"unequal-inner", "E", true, func(d *draw) (*layout, *measurement) {
			if d.chance(0.5) {
				return unequal(d, inner(d, d.medium())), usual(d)
			}
			g := growth{depth: d.whole(2, 4), ratio: ratios(d, 1.22, 1.6), inner: true}
			return unequal(d, g.grow(d, d.medium(), topLevel(d)).layout()), usual(d)
		}},
		{"leaves-of-two", "M", true, func(d *draw) (*layout, *measurement) {
			m := noisy(pick(d, 0.01, 0.02, 0.03, 0.05), d.whole(1, 2))
			step := d.between(1.25, 2)
			if m.sigma > 0.03 { // all have to be right in some hundred leaves, of few measurements each
				m.repetitions, step = d.whole(2, 3), d.between(1.25, 1.6)
			}
			if m.repetitions > 1 && d.chance(0.5) {
				m.outliers = 0.02
			}
			leaves := d.whole(100, 250)
			top := topLevel(d)
			if d.chance(0.4) { // few of them among larger ones
				t := &node{level: top}
				sizes := split(d, d.whole(180, 480), d.whole(10, 24), 6)
				for range d.whole(3, 15) {
					sizes = append(sizes, 2)
				}
				for _, size := range sizes {
					t.kids = append(t.kids, &node{level: top / step, hosts: size})
				}
				return t.layout(), m
			}
			if d.chance(0.5) {
				racks := d.whole(4, 10)
				return even([]int{racks, leaves / racks, 2}, []float64{top * 1.4, top, top / step}).layout(), m
			}
			return even([]int{leaves, 2}, []float64{top, top / step}).layout(), m
		}},
		{"many-outsiders", "L", true, func(d *draw) (*layout, *measurement) {
			m := noisy(0.05, 2)
			m.outliers = 0.02
			n := d.whole(500, 1024)
			t := &node{level: 1.58e-6}
			for _, size := range split(d, n, d.whole(5, 60), 8) {
				t.kids = append(t.kids, &node{level: t.level / d.between(1.225, 1.28), hosts: size})
			}
			return t.layout(), m
		}},
		{"three-levels", "L", true, func(d *draw) (*layout, *measurement) {
			m := noisy(d.between(0.03, 0.05), 2)
			m.outliers = 0.02
			// As 1.1, 1.32, 1.58 us, with steps that are just large enough to be demanded.
			level := []float64{1.66e-6, 1.35e-6, 1.1e-6}
			fan := []int{d.whole(3, 5), d.whole(3, 7), d.whole(6, 24)}
			for fan[0]*fan[1]*fan[2] > 1024 {
				fan[2]--
			}
			return even(fan, level).layout(), m
		}},
		{"small-steps", "N", true, func(d *draw) (*layout, *measurement) {
			inner := d.between(1.05, 1.1)
			outer := d.between(1.3, 2)
			t := &node{level: topLevel(d)}
			for range d.whole(2, 4) {
				rack := &node{level: t.level / outer}
				for range d.whole(2, 4) {
					rack.kids = append(rack.kids, &node{level: rack.level / inner, hosts: d.whole(12, 40)})
				}
				t.kids = append(t.kids, rack)
			}
			return t.layout(), noisy(d.between(0.01, 0.04), d.whole(1, 3))
		}},
		{"sockets-block", "tree", true, sockets(blockwise)},
		{"sockets-cyclic", "tree", true, sockets(cyclic)},
		{"sockets-scattered", "tree", true, sockets(shuffled)},
	}
}

// sockets makes racks of hosts of two sockets of cores, ranks in the given order.
func sockets(o order) func(*draw) (*layout, *measurement) {
	return func(d *draw) (*layout, *measurement) {
		rack := d.between(1e-6, 2e-6)
		level := []float64{max(d.between(2e-6, 4e-6), 1.2*rack), rack, d.between(0.42e-6, 0.6e-6), d.between(0.2e-6, 0.34e-6)}
		fan := []int{d.whole(2, 4), d.whole(2, 8), 2, d.whole(2, 8)}
		l := even(fan, level).layout()
		l.order = o
		nodes := 2 * fan[3]
		for first := 0; first < l.n; first += nodes {
			l.deal = append(l.deal, span(first, first+nodes))
		}
		if d.chance(0.5) {
			spread(d, l, d.between(0.01, 0.05))
		}
		return l, usual(d)
	}
}

// leaves are the innermost groups.
func (l *layout) leaves() [][]int {
	var out [][]int
	for k, g := range l.groups {
		inner := len(g) > 1
		for j, other := range l.groups {
			if k != j && len(other) > 1 && len(other) < len(g) && slices.Contains(g, other[0]) {
				inner = false
			}
		}
		if inner {
			out = append(out, g)
		}
	}
	return out
}
