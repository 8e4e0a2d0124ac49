package clique

import "math"

// dropVirtualAround is Algorithm 3 for what a new switch changes: its own edges
// to switches, and edges between switches that it explains.
func (m *cliqueModel) dropVirtualAround(s int) {
	var virtual [][2]int
	for u := m.hosts; u < len(m.w); u++ {
		if m.explainedBySome(u, s, 0) {
			virtual = append(virtual, [2]int{u, s})
		}
		for v := m.hosts; v < u; v++ {
			if m.explains(s, u, v) {
				virtual = append(virtual, [2]int{u, v})
			}
		}
	}
	for _, e := range virtual {
		m.set(e[0], e[1], math.Inf(1))
	}
}

// dropVirtual is Algorithm 3 over all edges between switches, and, with all,
// over every edge that a switch next to both ends explains (section 2.2.5).
func (m *cliqueModel) dropVirtual(all bool) {
	var virtual [][2]int
	for u := range m.w {
		for v := range u {
			if m.isSwitch(v) && m.explainedBySome(u, v, 0) || all && m.explainedBySome(u, v, m.hosts) {
				virtual = append(virtual, [2]int{u, v})
			}
		}
	}
	for _, e := range virtual {
		m.set(e[0], e[1], math.Inf(1))
	}
}

func (m *cliqueModel) explainedBySome(u, v, first int) bool {
	if !m.edge(u, v) {
		return false
	}
	for x := first; x < len(m.w); x++ {
		if m.explains(x, u, v) {
			return true
		}
	}
	return false
}

// explains tells whether the path u-x-v is as short as the edge u-v. Both legs
// must be strictly shorter than the edge: within a tolerance two edges of a
// flat triangle would otherwise explain each other, and both be dropped.
func (m *cliqueModel) explains(x, u, v int) bool {
	a, b, w := m.w[u][x], m.w[x][v], m.w[u][v]
	return x != u && x != v && a < w && b < w && (a+b <= w || m.equal.equal(a+b, w))
}
