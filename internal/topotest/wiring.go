package topotest

import (
	"cmp"
	"math/rand/v2"
	"slices"

	"github.com/topocast/topocast/internal/witness"
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

// Distances is Floyd and Warshall's shortest paths between the hosts, n*n.
// Breadth-first search is enough where all links are equal, and 1024 vertices need it.
func (w *Wiring) Distances() []float64 {
	n := w.Vertices
	type half struct {
		to int
		l  float64
	}
	adj := make([][]half, n)
	for p, l := range w.Links {
		adj[p.From] = append(adj[p.From], half{p.To, l})
		adj[p.To] = append(adj[p.To], half{p.From, l})
	}
	out := make([]float64, w.Hosts*w.Hosts)
	dist := make([]float64, n)
	for s := range w.Hosts {
		for i := range dist {
			dist[i] = -1
		}
		dist[s] = 0
		queue := []int{s}
		for len(queue) > 0 { // label correcting: small graphs, few distinct lengths
			u := queue[0]
			queue = queue[1:]
			for _, h := range adj[u] {
				if d := dist[u] + h.l; dist[h.to] < 0 || d < dist[h.to]-1e-12 {
					dist[h.to] = d
					queue = append(queue, h.to)
				}
			}
		}
		copy(out[s*w.Hosts:], dist[:w.Hosts])
	}
	return out
}

// Torus is a torus of the given lengths whose vertices are hosts, or, with
// perSwitch > 0, switches that carry that many hosts on links of latency leaf.
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

// AnisotropicTorus is a torus of hosts with another latency per dimension.
func AnisotropicTorus(dims []int, hops ...float64) *Wiring {
	w := Torus(dims, 0, 0, 1)
	for v := range w.Hosts {
		stride := 1
		for k, d := range dims {
			x := v / stride % d
			w.Link(v, v+((x+1)%d-x)*stride, hops[k])
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

// Relabelled permutes the rows and columns: vertex i becomes perm[i].
func Relabelled(n int, d []float64, perm []int) []float64 {
	m := make([]float64, n*n)
	for i := range n {
		for j := range n {
			m[perm[i]*n+perm[j]] = d[i*n+j]
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
