package topotest

import (
	"cmp"
	"math/rand/v2"
	"slices"

	"github.com/topocast/topocast/internal/witness"
	"github.com/topocast/topocast/topology"
)

// A Wiring is a known machine: vertices, of which the first are hosts, and its
// links. It is what the generators below return; spanner tests compare with it.
type Wiring struct {
	Hosts    int
	Vertices int
	Links    map[witness.Pair]float64 // from < to
}

func (w *Wiring) Link(u, v int, latency float64) {
	if u != v {
		w.Links[witness.Pair{From: min(u, v), To: max(u, v)}] = latency
	}
}

// Pairs are the links, sorted.
func (w *Wiring) Pairs() []witness.Pair {
	var ps []witness.Pair
	for p := range w.Links {
		ps = append(ps, p)
	}
	slices.SortFunc(ps, func(a, b witness.Pair) int { return cmp.Or(a.From-b.From, a.To-b.To) })
	return ps
}

// Distances are the lengths of the shortest paths between the hosts, n*n.
func (w *Wiring) Distances() []float64 {
	var arcs []topology.Arc
	for _, p := range w.Pairs() {
		arcs = topology.AppendLink(arcs, int(p.From), int(p.To), w.Links[p], 1)
	}
	g, err := topology.NewGraph(w.Hosts, w.Vertices-w.Hosts, nil, arcs)
	if err != nil {
		panic(err) // a mistake of the test
	}
	return g.HostDistances()
}

// Torus is a torus of the given lengths whose vertices are hosts. With
// perSwitch > 0 they are switches that carry that many hosts, on links of latency leaf.
func Torus(dims []int, perSwitch int, leaf, hop float64) *Wiring {
	k := 1
	for _, d := range dims {
		k *= d
	}
	w := &Wiring{Hosts: k, Vertices: k, Links: map[witness.Pair]float64{}}
	base := 0
	if perSwitch > 0 {
		w.Hosts, w.Vertices, base = k*perSwitch, k*perSwitch+k, k*perSwitch
		for h := range w.Hosts {
			w.Link(h, base+h/perSwitch, leaf)
		}
	}
	for v := range k {
		stride := 1
		for _, d := range dims {
			x := v / stride % d
			w.Link(base+v, base+v+((x+1)%d-x)*stride, hop)
			stride *= d
		}
	}
	return w
}

// Dragonfly has g groups of a routers each, all hosts; routers of a group
// are fully meshed, and every two groups share one link.
func Dragonfly(g, a int, local, global float64) *Wiring {
	w := &Wiring{Hosts: g * a, Vertices: g * a, Links: map[witness.Pair]float64{}}
	for x := range g {
		for i := range a {
			for j := range i {
				w.Link(x*a+i, x*a+j, local)
			}
		}
	}
	port := make([]int, g)
	for x := range g {
		for y := range x {
			w.Link(x*a+port[x]%a, y*a+port[y]%a, global)
			port[x]++
			port[y]++
		}
	}
	return w
}

// Noisy is one repetition: every pair times 1 + sigma*N(0,1), of which the given
// share is multiplied by U(1.5, 10). Symmetric.
func Noisy(rng *rand.Rand, n int, d []float64, sigma, outliers float64) []float64 {
	m := slices.Clone(d)
	for i := range n {
		for j := range i {
			v := d[i*n+j] * (1 + sigma*rng.NormFloat64())
			if rng.Float64() < outliers {
				v *= 1.5 + 8.5*rng.Float64()
			}
			m[i*n+j], m[j*n+i] = v, v
		}
	}
	return m
}

// Smallest is the cell-wise minimum of repetitions.
func Smallest(reps ...[]float64) []float64 {
	m := slices.Clone(reps[0])
	for _, r := range reps[1:] {
		for i, v := range r {
			m[i] = min(m[i], v)
		}
	}
	return m
}

// Nested is a matrix of hosts in groups of groups: sizes from fine to coarse, and the
// latency inside each.
func Nested(sizes []int, latency []float64) (n int, d []float64) {
	n = 1
	for _, s := range sizes {
		n *= s
	}
	d = make([]float64, n*n)
	for i := range n {
		for j := range n {
			block := 1
			for l := 0; i != j && d[i*n+j] == 0; l++ {
				if block *= sizes[l]; i/block == j/block {
					d[i*n+j] = latency[l]
				}
			}
		}
	}
	return n, d
}
