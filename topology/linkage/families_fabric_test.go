package linkage_test

// dragonfly makes groups of routers with hosts (Kim, Dally, Scott and Abts 2008): routers of a group
// are linked with each other; rich says how many global links each two groups share,
// dealt to the routers in turn.
func dragonfly(groups, routers, hosts, rich int, own, local, global float64) *fabric {
	f := &fabric{switches: groups * routers, own: own}
	port := make([]int, groups) // next router of the group to get a global link
	next := func(g int) int {
		port[g]++
		return g*routers + (port[g]-1)%routers
	}
	for g := range groups {
		first := g * routers
		f.sets = append(f.sets, span(first, first+routers))
		for r := range routers {
			f.host(first+r, hosts)
			for q := range r {
				f.link(first+r, first+q, local)
			}
		}
		for other := range g {
			for range rich {
				f.link(next(g), next(other), global)
			}
		}
	}
	return f
}

// drawDragonfly draws a shape, with a step of 5 to 30 % of routers.
func drawDragonfly(d *draw, rich int) (*layout, *measurement) {
	own := d.between(0.4e-6, 1e-6)
	local := 2 * own * d.between(0.05, 0.3)
	global := local * d.between(1.3, 4)
	if d.chance(0.5) {
		global += 2 * own * d.between(0.2, 1)
	}
	f := dragonfly(d.whole(3, 9), d.whole(2, 6), d.whole(2, 6), rich, own, local, global)
	m := noisy(pick(d, 0, 0, 0.01, 0.02), d.whole(1, 3))
	return f.layout(), m
}

// cascade makes groups of chassis of routers (Faanes and others 2012): the routers of a chassis are linked
// with each other, and those at the same place of all chassis of a group; each two
// groups share one global link.
func cascade(groups, chassis, routers, hosts int, own, row, column, global float64) *fabric {
	per := chassis * routers
	f := &fabric{switches: groups * per, own: own}
	for g := range groups {
		first := g * per
		f.sets = append(f.sets, span(first, first+per))
		for c := range chassis {
			f.sets = append(f.sets, span(first+c*routers, first+(c+1)*routers))
			for r := range routers {
				s := first + c*routers + r
				f.host(s, hosts)
				for q := range r {
					f.link(s, first+c*routers+q, row)
				}
				for b := range c {
					f.link(s, first+b*routers+r, column)
				}
			}
		}
		for other := range g {
			f.link(first+other%per, other*per+g%per, global)
		}
	}
	return f
}

// extents draws the extents of a grid, none below three.
func extents(d *draw) []int {
	if d.chance(0.5) {
		return []int{d.whole(3, 7), d.whole(3, 7)}
	}
	return []int{3, d.whole(3, 4), d.whole(3, 4)}
}

// fabrics are networks that are no trees, or trees with many ways up.
func fabrics() []family {
	// grid draws latencies of a grid of switches: a hop makes a step of 10 to 100 %.
	grid := func(d *draw, extents []int, wrapped bool) (*layout, *measurement) {
		own := d.between(0.4e-6, 1e-6)
		switches := 1
		for _, e := range extents {
			switches *= e
		}
		hosts := d.whole(2, max(2, min(8, 300/switches)))
		return lattice(extents, wrapped, hosts, own, 2*own*d.between(0.1, 1)).layout(), usual(d)
	}
	return []family{
		{"chain-of-switches", "A", true, func(d *draw) (*layout, *measurement) {
			return grid(d, []int{d.whole(3, 16)}, false)
		}},
		{"fat-tree-2", "fabric", true, func(d *draw) (*layout, *measurement) {
			t := &node{level: d.between(1.2e-6, 3e-6)}
			step := d.between(1.15, 2)
			leaves := d.whole(3, 24)
			for _, size := range split(d, max(d.size(), 3*leaves), leaves, 2) {
				t.kids = append(t.kids, &node{level: t.level / step, hosts: size})
			}
			l := t.layout()
			if leaves >= 6 && d.chance(0.5) {
				cables(d, l)
			}
			return l, usual(d)
		}},
		{"fat-tree-3", "fabric", true, func(d *draw) (*layout, *measurement) {
			top := d.between(1.5e-6, 4e-6)
			pod := top / d.between(1.15, 2)
			fan := []int{d.whole(2, 8), d.whole(2, 8), d.whole(2, 16)}
			return even(fan, []float64{top, pod, pod / d.between(1.15, 2)}).layout(), usual(d)
		}},
		{"dragonfly", "F", true, func(d *draw) (*layout, *measurement) { return drawDragonfly(d, 1) }},
		{"dragonfly-rich", "F", true, func(d *draw) (*layout, *measurement) {
			return drawDragonfly(d, d.whole(2, 4))
		}},
		{"dragonfly-cascade", "F", true, func(d *draw) (*layout, *measurement) {
			own := d.between(0.2e-6, 1e-6)
			row := 2 * own * d.between(0.1, 0.8)
			column := row + (2*own+row)*d.between(0.08, 0.5)
			global := column + (2*own+row+column)*d.between(0.1, 0.5)
			f := cascade(d.whole(2, 6), d.whole(2, 4), d.whole(2, 6), d.whole(2, 3), own, row, column, global)
			return f.layout(), noisy(pick(d, 0, 0, 0.01, 0.02), d.whole(1, 3))
		}},
		{"torus-of-switches", "F", true, func(d *draw) (*layout, *measurement) { return grid(d, extents(d), true) }},
		{"ring-of-switches", "F", true, func(d *draw) (*layout, *measurement) {
			return grid(d, []int{d.whole(4, 24)}, true)
		}},
		{"mesh-of-switches", "F", true, func(d *draw) (*layout, *measurement) { return grid(d, extents(d), false) }},
		{"torus-of-hosts", "flat", false, func(d *draw) (*layout, *measurement) { return lonely(d, true) }},
		{"mesh-of-hosts", "flat", false, func(d *draw) (*layout, *measurement) { return lonely(d, false) }},
		{"core-mesh", "flat", false, func(d *draw) (*layout, *measurement) {
			across := []int{d.whole(3, 8), d.whole(3, 10)}
			own := d.between(15e-9, 40e-9)
			steps := float64(across[0] + across[1] - 2)
			return lattice(across, false, 1, own, 2*own*d.between(0.1, 0.6)/steps).layout(), usual(d)
		}},
	}
}

// cables gives the uplinks of leaf switches lengths that differ: up to 3 % of the way
// between two leaves each.
func cables(d *draw, l *layout) {
	const most = 0.03
	home := make([]int, l.n)
	longer := []float64{0}
	for k, g := range l.groups {
		for _, h := range g {
			home[h] = k + 1
		}
		longer = append(longer, d.between(-most, most))
	}
	p := l.pairs()
	for i := range l.n {
		for j := range l.n {
			if home[i] != home[j] {
				p[i*l.n+j] += longer[home[i]] + longer[home[j]]
			}
		}
	}
}

// lonely is a grid, ring or line of hosts.
func lonely(d *draw, wrapped bool) (*layout, *measurement) {
	shape := extents(d)
	if d.chance(0.4) {
		shape = []int{d.whole(8, 64)}
	}
	own := d.between(0.1e-6, 1e-6)
	return lattice(shape, wrapped, 1, own, own*d.between(0.3, 3)).layout(), usual(d)
}
