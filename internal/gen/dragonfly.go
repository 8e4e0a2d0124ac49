package gen

import "github.com/topocast/topocast/topology"

// dragonfly reads what follows dragonfly: and lays out a dragonfly of Kim,
// Dally, Scott and Abts 2008: p hosts per router, a routers per group, all
// linked, h global links per router, and g groups, a*h+1 unless a fourth
// number says fewer. Every two groups share one global link, arranged as a
// palm tree: port j of group i, for j < g-1, leads to group i+j+1 modulo g.
func (s *scanner) dragonfly() (*shape, error) {
	start := s.pos
	ns, err := s.counts("dragonfly", ',')
	if err == nil {
		err = s.end()
	}
	if err != nil {
		return nil, err
	}
	if len(ns) != 3 && len(ns) != 4 {
		return nil, s.errorf(start, "%d numbers: want hosts per router, routers per group, global links per router, and maybe groups", len(ns))
	}
	p, a, h := ns[0], ns[1], ns[2]
	g := product(a, h) + 1
	if len(ns) == 4 {
		if ns[3] > g {
			return nil, s.errorf(start, "%d groups: the global links reach %d", ns[3], g)
		}
		g = ns[3]
	}
	if err := s.check(start, g, product(g, a), product(g, a, p)); err != nil {
		return nil, err
	}
	if product(g, pairs(a)) > maxVertices || pairs(g) > maxVertices {
		return nil, s.errorf(start, "more than %d links of one kind", maxVertices)
	}
	const global, local, host = 0, 1, 2
	sh := &shape{hosts: g * a * p, switches: g * a, rootPath: []int{host, local, global, local, host}}
	for _, name := range []string{"global", "local", "host"} {
		sh.levels = append(sh.levels, level{name: name, latency: defaultLatency, rate: defaultRate})
	}
	router := func(group, r int) int { return sh.hosts + group*a + r }
	for i := range g {
		for r := range a {
			for q := r + 1; q < a; q++ {
				sh.links = append(sh.links, link{router(i, r), router(i, q), local, 1})
			}
			for x := range p {
				sh.links = append(sh.links, link{router(i, r), (i*a+r)*p + x, host, 1})
			}
		}
		for j := range g - 1 {
			k := (i + j + 1) % g
			if k < i {
				continue
			}
			// The other end is port g-2-j of group k. Ports are dealt to the
			// routers evenly, also if there are fewer groups than ports.
			sh.links = append(sh.links, link{router(i, j*a/(g-1)), router(k, (g-2-j)*a/(g-1)), global, 1})
		}
	}
	sh.hlevels = []topology.Level{{Name: "switch", Kind: topology.KindSwitch}, {Name: "group", Kind: topology.KindSwitch}}
	for i := range g {
		if a > 1 {
			sh.addGroup(1, i*a*p, a*p, []int{host, local, host})
		}
		for r := range a {
			sh.addGroup(0, (i*a+r)*p, p, []int{host, host})
		}
	}
	if g == 1 {
		sh.rootPath = []int{host, local, host}
		if a == 1 {
			sh.rootPath = []int{host, host}
		}
	}
	return sh, nil
}

// pairs is n (n-1) / 2, as product counts.
func pairs(n int) int {
	if n%2 == 0 {
		return product(n/2, n-1)
	}
	return product(n, n/2)
}
