package draw

import (
	"cmp"
	"math"
	"math/rand/v2"
	"slices"

	"gonum.org/v1/gonum/mat"
	"gonum.org/v1/gonum/spatial/r3"
	"gonum.org/v1/gonum/stat"

	"github.com/topocast/topocast/internal/paths"
)

const (
	pivotCount = 200  // vertices the distances from which count
	passes     = 100  // over all terms
	lastStep   = 0.01 // share of a term's error that the strongest undo in the last pass
)

// A term is a distance that vertex i should have from vertex j. The weight tells how strongly i is moved to it.
type term struct {
	i, j      int32
	d, weight float32
}

// relax lays out a part by stress: the sum over pairs of ((r - d) / d)^2 for r the distance drawn and d the
// length of the shortest path. Pairs without a channel that are less than 1 apart repel each other by
// gamma (1/r^2 - 1), as in Bannikov and Salnikov 2014, section 2.2. The paper has gamma/r^2 there, which jumps at r = 1, and
// only channels in its first sum; with all shortest paths a graph unfolds.
//
// Terms are undone one after another in an order without a pattern, by steps that become smaller from pass to
// pass: stochastic gradient descent as of Zheng, Pawar and Goodman 2018 (doi:10.1109/TVCG.2018.2859997). It needs no good
// start. Graphs of more than pivotCount vertices have terms for channels and for pivots only. Each pivot stands
// for as many vertices (Ortmann, Klimenta and Brandes 2017, doi:10.7155/jgaa.00440).
func (p *part) relax(gamma float64) {
	terms := p.terms()
	rng := rand.New(rand.NewPCG(1, 2))
	// Once is enough: another order in each pass takes as long as the rest and gives the same stress.
	rng.Shuffle(len(terms), func(a, b int) { terms[a], terms[b] = terms[b], terms[a] })
	least, most, radius := math.Inf(1), 0.0, 0.0
	for _, t := range terms {
		least, most, radius = min(least, float64(t.weight)), max(most, float64(t.weight)), max(radius, float64(t.d)/2)
	}
	p.at = make([]r3.Vec, len(p.next))
	for v := range p.at {
		p.at[v] = r3.Vec{X: radius * (2*rng.Float64() - 1), Y: radius * (2*rng.Float64() - 1), Z: radius * (2*rng.Float64() - 1)}
	}
	first, last := 1/least, lastStep/most
	for pass := range passes {
		step := first * math.Pow(last/first, float64(pass)/(passes-1))
		for _, t := range terms {
			p.pull(t, step)
		}
		p.repel(step * gamma)
	}
	p.turn()
}

// turn lays the longest extent along x and the second along y: directions are left open by the distances.
func (p *part) turn() {
	at := mat.NewDense(len(p.at), 3, nil)
	for v, x := range p.at {
		at.SetRow(v, []float64{x.X, x.Y, x.Z})
	}
	var principal stat.PC
	if len(p.at) < 3 || !principal.PrincipalComponents(at, nil) {
		return
	}
	var axes mat.Dense
	principal.VectorsTo(&axes)
	at.Mul(at, &axes)
	for v := range p.at {
		p.at[v] = r3.Vec{X: at.At(v, 0), Y: at.At(v, 1), Z: at.At(v, 2)}
	}
}

// terms are those of channels and of pivots. A pivot pulls a vertex s times as strongly if s of the vertices nearest to
// it are at less than half the way to that vertex.
func (p *part) terms() []term {
	var terms []term
	for i, cs := range p.next {
		for _, c := range cs {
			terms = append(terms, term{int32(i), c.To, float32(c.Length), float32(1 / (c.Length * c.Length))})
		}
	}
	of, from := p.pivots()
	region := make([][]float64, len(of)) // of each pivot: distances of the vertices nearest to it
	for v := range p.next {
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
		for v, d := range from[k] {
			if v != pivot && !p.joined(v, pivot) {
				stands, _ := slices.BinarySearch(region[k], math.Nextafter(d/2, math.Inf(1)))
				terms = append(terms, term{int32(v), int32(pivot), float32(d), float32(float64(max(1, stands)) / (d * d))})
			}
		}
	}
	return terms
}

// pivots are pivotCount vertices at most, each as far as possible from those before, with the lengths of the
// shortest paths from each to all vertices. Ties go to the lowest vertex.
func (p *part) pivots() (of []int, from [][]float64) {
	n := len(p.next)
	nearest := slices.Repeat([]float64{math.Inf(1)}, n)
	order := make([]int, 0, n)
	for len(of) < min(pivotCount, n) {
		far, dist := 0, make([]float64, n)
		for v := range n {
			if nearest[v] > nearest[far] {
				far = v
			}
		}
		paths.From(p.next, far, dist, order[:0])
		of, from = append(of, far), append(from, dist)
		for v := range n {
			nearest[v] = min(nearest[v], dist[v])
		}
	}
	return of, from
}

// joined tells whether there is a channel between two vertices.
func (p *part) joined(u, v int) bool {
	_, ok := slices.BinarySearchFunc(p.next[u], v, func(c paths.Arc, to int) int { return int(c.To) - to })
	return ok
}

// pull moves the vertex of a term towards the distance that it should have, by step times the weight and
// never beyond it.
func (p *part) pull(t term, step float64) {
	apart := r3.Sub(p.at[t.i], p.at[t.j])
	r := math.Sqrt(r3.Norm2(apart))
	m := min(1, step*float64(t.weight)) * (float64(t.d) - r) / (2 * r)
	p.at[t.i] = r3.Add(p.at[t.i], r3.Scale(m, apart))
}

// repel moves vertices without a channel that are less than 1 apart from each other, along the gradient of
// 1/r^2 times strength, and not beyond 1. They are met in the order of x, which differs by less than 1 among them.
func (p *part) repel(strength float64) {
	order := make([]int, len(p.at))
	for v := range order {
		order[v] = v
	}
	slices.SortStableFunc(order, func(u, v int) int { return cmp.Compare(p.at[u].X, p.at[v].X) })
	for k, i := range order {
		for _, j := range order[k+1:] {
			apart := r3.Sub(p.at[i], p.at[j])
			if apart.X <= -1 {
				break
			}
			r := math.Sqrt(r3.Norm2(apart))
			if r >= 1 || p.joined(i, j) {
				continue
			}
			push := r3.Scale(min(1-r, strength/(r*r*r))/(2*r), apart)
			p.at[i], p.at[j] = r3.Add(p.at[i], push), r3.Sub(p.at[j], push)
		}
	}
}
