package throughput

import "slices"

// packPaths puts edges between the vertices 0..vertices-1 in rounds of disjoint
// ones as Bufe 2014, section 2.3.1, does (Algorithms 4 and 5): vertices are strung
// on paths, those of high degree first, and every second edge of a path is measured.
// A line takes 2 rounds, a star of n vertices n-1, as few as can be.
//
// In Algorithm 4 a path ends at a vertex whose neighbours are all on the path. It
// goes on to one that is not put aside either. We ask for both in both places. Of
// starts and neighbours of equal degree, which the thesis leaves open, we take the one
// with the fewest neighbours left, and then the lowest: a line then takes 2 rounds
// wherever its vertices stand in the numbering. O(rounds * (vertices^2 + edges)).
func packPaths(vertices int, edges [][2]int) [][][2]int {
	p := &pathPacking{neighbours: make([][]int, vertices), done: make([]bool, vertices)}
	for _, e := range edges {
		p.neighbours[e[0]] = append(p.neighbours[e[0]], e[1])
		p.neighbours[e[1]] = append(p.neighbours[e[1]], e[0])
	}
	all := make([]int, vertices)
	for v := range all {
		all[v] = v
		slices.Sort(p.neighbours[v])
	}
	var rounds [][][2]int
	for left := len(edges); left > 0; {
		p.path = p.path[:0]
		clear(p.done)
		for start := p.best(all); start >= 0; start = p.best(all) {
			p.walk(start)
		}
		var round [][2]int
		for i := 0; i+1 < len(p.path); i += 2 {
			a, b := p.path[i], p.path[i+1]
			round = append(round, [2]int{min(a, b), max(a, b)})
			p.remove(a, b)
			p.remove(b, a)
		}
		left -= len(round)
		rounds = append(rounds, round)
	}
	return rounds
}

// A pathPacking is the state of Algorithm 5: the edges that are left, and one round.
type pathPacking struct {
	neighbours [][]int
	path       []int  // every two in a row, from the first on, are an edge to measure
	done       []bool // on the path, or put aside ("not" in the thesis)
}

// walk is Algorithm 4: it strings vertices on the path from v on until none is left next to the
// last. A vertex without a partner is put aside.
func (p *pathPacking) walk(v int) {
	for {
		p.done[v] = true
		next := p.best(p.neighbours[v])
		if next < 0 && len(p.path)%2 == 0 {
			return
		}
		p.path = append(p.path, v)
		if next < 0 {
			return
		}
		v = next
	}
}

// best is the vertex of highest degree among those given that are not done, -1
// if there is none.
func (p *pathPacking) best(among []int) int {
	best, degree, free := -1, 0, 0
	for _, v := range among {
		if p.done[v] {
			continue
		}
		d, f := len(p.neighbours[v]), 0
		for _, w := range p.neighbours[v] {
			if !p.done[w] {
				f++
			}
		}
		if best < 0 || d > degree || d == degree && f < free {
			best, degree, free = v, d, f
		}
	}
	return best
}

func (p *pathPacking) remove(v, neighbour int) {
	p.neighbours[v] = slices.DeleteFunc(p.neighbours[v], func(w int) bool { return w == neighbour })
}
