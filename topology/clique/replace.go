package clique

import (
	"math"
	"slices"
)

// replace puts a switch in the place of a clique. Vertices that see all of it
// at one latency see the switch instead. If pairs count, virtual edges go at
// once, as the diagonals of a ring would make cliques (section 2.2.4).
func (m *cliqueModel) replace(clique []int, latency float64) {
	half := latency / 2
	s := m.grow()
	m.left -= int64(len(m.w) * (len(m.w) + len(clique)))
	for x, u := range clique {
		for _, v := range clique[:x] {
			m.set(u, v, math.Inf(1))
		}
		m.set(u, s, half)
	}
	for x := range s {
		if slices.Contains(clique, x) {
			continue
		}
		lo, hi, sum := math.Inf(1), 0.0, 0.0
		for _, u := range clique {
			lo, hi, sum = min(lo, m.w[x][u]), max(hi, m.w[x][u]), sum+m.w[x][u]
		}
		if !m.equal.equal(lo, hi) {
			continue
		}
		for _, u := range clique {
			m.set(x, u, math.Inf(1))
		}
		m.set(x, s, max(0, sum/float64(len(clique))-half))
	}
	s = m.merge(s, latency)
	if m.pairs {
		m.dropVirtualAround(s)
	}
}

func (m *cliqueModel) grow() int {
	s := len(m.w)
	row := make([]float64, s+1)
	for v := range m.w {
		m.w[v] = append(m.w[v], math.Inf(1))
		row[v] = math.Inf(1)
	}
	row[s] = math.Inf(1)
	m.w = append(m.w, row)
	m.dead = append(m.dead, false)
	return s
}

// merge joins a new switch with switches at about no latency: kinds of hosts on
// one switch give a switch each (section 2.2.5). A latency is about zero if it
// cannot be told from the error of the differences it was made of: if it is
// within tolerance of the latency between the clique's members. It returns the
// switch that is left.
func (m *cliqueModel) merge(s int, latency float64) int {
	for u := m.hosts; u < s; u++ {
		if !m.edge(u, s) || !m.equal.equal(latency, latency+m.w[u][s]) {
			continue
		}
		for x := range m.w {
			if x != u && m.w[x][s] < m.w[x][u] {
				m.set(x, u, m.w[x][s])
			}
			m.set(x, s, math.Inf(1))
		}
		m.dead[s] = true
		s = u
		break
	}
	return s
}
