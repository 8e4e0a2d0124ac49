package draw

import (
	"math"
	"math/rand/v2"
	"slices"
)

const (
	allPairs   = 1200 // vertices up to which all distances count,
	allSearch  = 5e7  // if vertices times arcs, which the search for them takes, are no more
	startCount = 50   // pivots of the start
	pivotCount = 200  // pivots of larger graphs
	passes     = 40   // over all terms
	lastStep   = 0.01 // share of a term's error that the strongest undo in the last pass
)

// A term is a distance that two vertices should have. Weights tell how strongly each end is
// moved to it.
type term struct {
	i, j   int32
	d      float32
	wi, wj float32
}

// relax lays out a part by stress: the sum over pairs of ((r - d) / d)^2 for r the distance drawn and d the
// length of the shortest path. Pairs without a channel that are less than 1 apart repel each other by
// gamma (1/r^2 - 1), as in Bannikov and Salnikov 2014, section 2.2. The paper has gamma/r^2 there, which jumps at r = 1, and
// only channels in its first sum; with all shortest paths a graph unfolds.
//
// The start is pivot MDS. Then terms are undone one after another in an order without a pattern, by steps that become
// smaller from pass to pass: stochastic gradient descent as of Zheng, Pawar and Goodman 2018
// (doi:10.1109/TVCG.2018.2859997). Graphs that are too large for all pairs have terms for channels and
// for pivots only, each of which stands for the vertices near it (Ortmann, Klimenta and
// Brandes 2017, doi:10.7155/jgaa.00440).
func (p *part) relax(gamma float64) {
	n := len(p.next)
	if n == 1 {
		p.at = make([][3]float64, 1)
		return
	}
	ends := 0
	for _, cs := range p.next {
		ends += len(cs)
	}
	all := n <= allPairs && n*ends <= allSearch
	count := pivotCount
	if all {
		count = n
	}
	of, from := p.pivots(count)
	var terms []term
	if all {
		terms = full(of, from)
	} else {
		terms = p.sparse(of, from)
	}
	rng := rand.New(rand.NewPCG(1, 2))
	// Once is enough: another order in each pass takes as long as the rest and gives the same stress.
	rng.Shuffle(len(terms), func(a, b int) { terms[a], terms[b] = terms[b], terms[a] })
	start := pivotMDS(from[:min(len(from), startCount)], n)
	p.at = start
	jitter(p.at, 0.1, rng)
	p.descend(terms, gamma, rng)
}

// descend moves the vertices to where the terms and the repulsion leave them.
func (p *part) descend(terms []term, gamma float64, rng *rand.Rand) {
	least, most := math.Inf(1), 0.0
	for _, t := range terms {
		w := float64(max(t.wi, t.wj))
		least, most = min(least, w), max(most, w)
	}
	first, last := 1/least, lastStep/most
	cells := newGrid(len(p.at))
	for pass := range passes {
		step := first * math.Pow(last/first, float64(pass)/(passes-1))
		for _, t := range terms {
			p.pull(t, step, rng)
		}
		cells.fill(p.at)
		cells.near(func(i, j int) { p.push(i, j, step*gamma, rng) })
	}
}

func distance(a, b [3]float64) float64 {
	x, y, z := a[0]-b[0], a[1]-b[1], a[2]-b[2]
	return math.Sqrt(x*x + y*y + z*z)
}

// full are the terms of all pairs; every vertex is a pivot.
func full(of []int, from [][]float64) []term {
	terms := make([]term, 0, len(of)*(len(of)-1)/2)
	for k, i := range of {
		for _, j := range of[:k] {
			d := from[k][j]
			w := float32(1 / (d * d))
			terms = append(terms, term{int32(i), int32(j), float32(d), w, w})
		}
	}
	return terms
}

// sparse are the terms of channels and pivots. A pivot that stands for s vertices at less than half
// the way from it to a vertex pulls that one s times as strongly.
func (p *part) sparse(of []int, from [][]float64) []term {
	n := len(p.next)
	var terms []term
	for i, cs := range p.next {
		for _, c := range cs {
			if i < c.to {
				w := float32(1 / (c.length * c.length))
				terms = append(terms, term{int32(i), int32(c.to), float32(c.length), w, w})
			}
		}
	}
	region := make([][]float64, len(of)) // of each pivot: distances of the vertices nearest to it
	for v := range n {
		best := 0
		for k := range of {
			if from[k][v] < from[best][v] {
				best = k
			}
		}
		region[best] = append(region[best], from[best][v])
	}
	for k, pivot := range of {
		slices.Sort(region[k])
		for v := range n {
			d := from[k][v]
			if v == pivot || p.joined(v, pivot) {
				continue
			}
			s, _ := slices.BinarySearch(region[k], math.Nextafter(d/2, math.Inf(1)))
			terms = append(terms, term{int32(v), int32(pivot), float32(d), float32(float64(max(s, 1)) / (d * d)), 0})
		}
	}
	return terms
}

// joined tells whether there is a channel between two vertices.
func (p *part) joined(u, v int) bool {
	_, ok := slices.BinarySearchFunc(p.next[u], v, func(c channel, to int) int { return c.to - to })
	return ok
}

// pull moves the ends of a term towards the distance that they should have, by step times
// the weight and never beyond it.
func (p *part) pull(t term, step float64, rng *rand.Rand) {
	a, b := &p.at[t.i], &p.at[t.j]
	x, y, z := a[0]-b[0], a[1]-b[1], a[2]-b[2]
	r := math.Sqrt(x*x + y*y + z*z)
	if r < 1e-9 {
		x, y, z = anyDirection(rng)
		r = 1
	}
	off := (float64(t.d) - r) / (2 * r)
	if m := off * min(1, step*float64(t.wi)); m != 0 {
		a[0] += m * x
		a[1] += m * y
		a[2] += m * z
	}
	if m := off * min(1, step*float64(t.wj)); m != 0 {
		b[0] -= m * x
		b[1] -= m * y
		b[2] -= m * z
	}
}

// push moves two vertices without a channel that are less than 1 apart from each other, along the gradient of
// 1/r^2 times strength, and not beyond 1.
func (p *part) push(i, j int, strength float64, rng *rand.Rand) {
	a, b := &p.at[i], &p.at[j]
	x, y, z := a[0]-b[0], a[1]-b[1], a[2]-b[2]
	r := math.Sqrt(x*x + y*y + z*z)
	if r >= 1 || p.joined(i, j) {
		return
	}
	if r < 1e-9 {
		x, y, z = anyDirection(rng)
		r = 1e-9
		x, y, z = x*r, y*r, z*r
	}
	m := min(1-r, strength/(r*r*r)) / (2 * r)
	a[0] += m * x
	a[1] += m * y
	a[2] += m * z
	b[0] -= m * x
	b[1] -= m * y
	b[2] -= m * z
}

func anyDirection(rng *rand.Rand) (x, y, z float64) {
	z = 2*rng.Float64() - 1
	sin, cos := math.Sincos(2 * math.Pi * rng.Float64())
	r := math.Sqrt(1 - z*z)
	return r * cos, r * sin, z
}
