package clique

import "slices"

// largestClique returns the largest clique among the edges of a level between
// the vertices from first to before last, of equals the one whose list is the
// smallest; nil if there is no edge. The edges of one level mostly fall into
// many small parts, which are searched one by one.
func (m *cliqueModel) largestClique(level latencyLevel, first, last int) []int {
	m.left -= int64((last - first) * (last - first))
	next := make([][]int, last-first)
	for u := first; u < last; u++ {
		for v := first; v < last; v++ {
			if u != v && m.in(level, m.w[u][v]) {
				next[u-first] = append(next[u-first], v)
			}
		}
	}
	seen := make([]bool, last-first)
	place := make([]int, last-first)
	var best []int
	for u := first; u < last; u++ {
		if seen[u-first] || len(next[u-first]) == 0 {
			continue
		}
		part := []int{u}
		seen[u-first] = true
		for x := 0; x < len(part); x++ {
			for _, v := range next[part[x]-first] {
				if !seen[v-first] {
					seen[v-first] = true
					part = append(part, v)
				}
			}
		}
		if len(part) < len(best) {
			continue
		}
		slices.Sort(part)
		for x, v := range part {
			place[v-first] = x
		}
		g := newEdgeSets(len(part))
		for x, v := range part {
			for _, w := range next[v-first] {
				if place[w-first] < x {
					g.add(x, place[w-first])
				}
			}
		}
		found, exact, work := g.largestClique(searchLimit)
		m.left -= int64(work)
		if !exact {
			m.cut++
		}
		if len(found) > len(best) { // parts come by their lowest vertex: the first of equals stays
			best = make([]int, len(found))
			for x, v := range found {
				best[x] = part[v]
			}
		}
	}
	return best
}
