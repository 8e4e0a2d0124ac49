package gen

import (
	"fmt"

	"github.com/topocast/topocast/topology"
)

// fatTree reads what follows fattree: and lays out an extended generalised fat
// tree XGFT(h; m_1..m_h; w_1..w_h) (Öhring, Ibel, Das, Kumar 1995). A vertex of level l has m_l children and
// w_(l+1) parents. Between levels l-1 and l there are p_l parallel cables,
// which count as one link of p_l times the rate.
//
// One number alone is the k-ary fat tree of Al-Fares, Loukissas and Vahdat
// 2008: XGFT(3; k/2, k/2, k; 1, k/2, k/2). Without w each switch has as many
// links up as down.
func (s *scanner) fatTree() (*shape, error) {
	start := s.pos
	m, err := s.counts("children", ',')
	if err != nil {
		return nil, err
	}
	w := make([]int, len(m))
	p := make([]int, len(m))
	for i := range m {
		w[i], p[i] = 1, 1
		if i > 0 {
			w[i] = m[i-1]
		}
	}
	if len(m) == 1 && s.atEnd() {
		k := m[0]
		if k%2 != 0 {
			return nil, s.errorf(start, "a %d-ary fat tree: want an even number, or a list of children", k)
		}
		m, w, p = []int{k / 2, k / 2, k}, []int{1, k / 2, k / 2}, []int{1, 1, 1}
	}
	for _, list := range []struct {
		what string
		of   []int
	}{{"parents", w}, {"cables", p}} {
		if !s.accept(';') {
			break
		}
		at := s.pos
		ns, err := s.counts(list.what, ',')
		if err != nil {
			return nil, err
		}
		if len(ns) != len(m) {
			return nil, s.errorf(at, "%s: %d numbers: want %d, one per level", list.what, len(ns), len(m))
		}
		copy(list.of, ns)
	}
	if err := s.end(); err != nil {
		return nil, err
	}

	// A vertex of level l is (subtree, position): which of the
	// m_(l+1)..m_h subtrees of height l, and which of its w_1..w_l tops.
	h := len(m)
	subtrees, tops := make([]int, h+1), make([]int, h+1)
	sizes, cables := make([]int, h+1), int64(0)
	for l := 0; l <= h; l++ {
		subtrees[l], tops[l] = product(m[l:]...), product(w[:l]...)
		sizes[l] = product(subtrees[l], tops[l])
		if l > 0 {
			cables += int64(sizes[l-1]) * int64(w[l-1])
		}
	}
	if err := s.check(start, sizes...); err != nil {
		return nil, err
	}
	if cables > 4*maxVertices {
		return nil, s.errorf(start, "more than %d links", 4*maxVertices)
	}
	sh := &shape{hosts: subtrees[0] * tops[0]}
	first := make([]int, h+1) // first vertex of each level
	for l, at := 0, 0; l <= h; l++ {
		first[l] = at
		at += sizes[l]
		sh.switches = at - sh.hosts
	}
	for l := h; l >= 1; l-- {
		name := fmt.Sprintf("level%d", l)
		if l == 1 {
			name = "host"
		}
		sh.levels = append(sh.levels, level{name: name, latency: defaultLatency, rate: defaultRate})
		// A subtree has tops (t, d), t of the lower one's tops and d < w_l.
		// Top (t, d) stands above top t of each of the m_l subtrees below.
		for sub := range subtrees[l] {
			for top := range tops[l] {
				for child := range m[l-1] {
					lower := first[l-1] + (sub*m[l-1]+child)*tops[l-1] + top%tops[l-1]
					sh.links = append(sh.links, link{first[l] + sub*tops[l] + top, lower, h - l, p[l-1]})
				}
			}
		}
	}
	if tops[0] != 1 || w[0] != 1 {
		return sh, nil // hosts with several cables: no switch holds them as a group
	}
	for l := 1; l < h; l++ {
		name := []string{"switch", "pod", "row"}[min(l-1, 2)]
		if l > 3 {
			name = fmt.Sprintf("tier%d", l)
		}
		sh.hlevels = append(sh.hlevels, topology.Level{Name: name, Kind: topology.KindSwitch})
	}
	for l := h - 1; l >= 1; l-- {
		if m[l-1] == 1 {
			continue // holds what its one child holds
		}
		n := product(m[:l]...)
		for sub := range subtrees[l] {
			sh.addGroup(l-1, sub*n, n, upAndDown(h, l))
		}
	}
	top := h
	for top > 1 && m[top-1] == 1 {
		top--
	}
	sh.rootPath = upAndDown(h, top)
	return sh, nil
}

// upAndDown lists the link levels of a route from a host up l levels of h, and
// down again.
func upAndDown(h, l int) []int {
	var path []int
	for i := range l {
		path = append(path, h-1-i)
	}
	for i := l - 1; i >= 0; i-- {
		path = append(path, h-1-i)
	}
	return path
}
