package gen

import "github.com/topocast/topocast/topology"

// grid reads what follows ring:, line:, torus: or mesh:, of hosts if perSwitch
// is 0, else of switches with so many hosts each. Places are numbered with the
// last dimension fastest.
func (s *scanner) grid(family string, perSwitch int) (*shape, error) {
	start := s.pos
	dims, err := s.counts("size", 'x')
	if err == nil {
		err = s.end()
	}
	if err != nil {
		return nil, err
	}
	flat := family == "ring" || family == "line"
	if flat && len(dims) != 1 {
		return nil, s.errorf(start, "a %s has one size", family)
	}
	if !flat && (len(dims) < 2 || len(dims) > 3) {
		return nil, s.errorf(start, "a %s has two or three sizes", family)
	}
	places := product(dims...)
	if err := s.check(start, places, product(places, perSwitch)); err != nil {
		return nil, err
	}
	sh := &shape{hosts: places, levels: []level{{name: family, latency: defaultLatency, rate: defaultRate}}}
	offset := 0
	if perSwitch > 0 {
		sh.hosts, sh.switches, offset = places*perSwitch, places, places*perSwitch
		sh.levels = append(sh.levels, level{name: "host", latency: defaultLatency, rate: defaultRate})
	}
	wraps := family == "ring" || family == "torus"
	for p := range places {
		stride := 1
		for d := len(dims) - 1; d >= 0; d-- {
			x, n := p/stride%dims[d], dims[d]
			switch {
			case x+1 < n:
				sh.links = append(sh.links, link{offset + p, offset + p + stride, 0, 1})
			case wraps && n > 2: // two in a ring have one link
				sh.links = append(sh.links, link{offset + p, offset + p - x*stride, 0, 1})
			}
			stride *= n
		}
	}
	if perSwitch == 0 {
		if places == 2 {
			sh.rootPath = []int{0}
		}
		return sh, nil
	}
	sh.hlevels = []topology.Level{{Name: "switch", Kind: topology.KindSwitch}}
	for p := range places {
		for i := range perSwitch {
			sh.links = append(sh.links, link{offset + p, p*perSwitch + i, 1, 1})
		}
		sh.addGroup(0, p*perSwitch, perSwitch, []int{1, 1})
	}
	switch places {
	case 1:
		sh.rootPath = []int{1, 1}
	case 2:
		sh.rootPath = []int{1, 0, 1}
	}
	return sh, nil
}
