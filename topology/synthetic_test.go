package topology

import (
	"cmp"
	"math/rand/v2"
	"slices"
)

// A wiring is a known machine: vertices, of which the first are hosts, and its
// links. It is what the generators below return; spanner tests compare with it.
type wiring struct {
	hosts    int
	vertices int
	links    map[pair]float64 // from < to
}

func (w *wiring) link(u, v int, latency float64) {
	if u != v {
		w.links[pair{min(u, v), max(u, v)}] = latency
	}
}

// pairs are the links, sorted.
func (w *wiring) pairs() []pair {
	var ps []pair
	for p := range w.links {
		ps = append(ps, p)
	}
	slices.SortFunc(ps, func(a, b pair) int { return cmp.Or(a.from-b.from, a.to-b.to) })
	return ps
}

// distances is Floyd and Warshall's shortest paths between the hosts, n*n.
// Breadth-first search is enough where all links are equal, and 1024 vertices need it.
func (w *wiring) distances() []float64 {
	n := w.vertices
	type half struct {
		to int
		l  float64
	}
	adj := make([][]half, n)
	for p, l := range w.links {
		adj[p.from] = append(adj[p.from], half{p.to, l})
		adj[p.to] = append(adj[p.to], half{p.from, l})
	}
	out := make([]float64, w.hosts*w.hosts)
	dist := make([]float64, n)
	for s := range w.hosts {
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
		copy(out[s*w.hosts:], dist[:w.hosts])
	}
	return out
}

// torusWiring is a torus of the given lengths whose vertices are hosts, or, with
// perSwitch > 0, switches that carry that many hosts on links of latency leaf.
func torusWiring(dims []int, perSwitch int, leaf, hop float64) *wiring {
	k := 1
	for _, d := range dims {
		k *= d
	}
	w := &wiring{hosts: k, vertices: k, links: map[pair]float64{}}
	base := 0
	if perSwitch > 0 {
		w.hosts, w.vertices, base = k*perSwitch, k*perSwitch+k, k*perSwitch
		for h := range w.hosts {
			w.link(h, base+h/perSwitch, leaf)
		}
	}
	for v := range k {
		stride := 1
		for _, d := range dims {
			x := v / stride % d
			w.link(base+v, base+v+((x+1)%d-x)*stride, hop)
			stride *= d
		}
	}
	return w
}

// anisotropicTorus is a torus of hosts with another latency per dimension.
func anisotropicTorus(dims []int, hops ...float64) *wiring {
	w := torusWiring(dims, 0, 0, 1)
	for v := range w.hosts {
		stride := 1
		for k, d := range dims {
			x := v / stride % d
			w.link(v, v+((x+1)%d-x)*stride, hops[k])
			stride *= d
		}
	}
	return w
}

// dragonflyWiring has g groups of a routers each, all hosts; routers of a group
// are fully meshed, and every two groups share one link.
func dragonflyWiring(g, a int, local, global float64) *wiring {
	w := &wiring{hosts: g * a, vertices: g * a, links: map[pair]float64{}}
	for x := range g {
		for i := range a {
			for j := range i {
				w.link(x*a+i, x*a+j, local)
			}
		}
	}
	port := make([]int, g)
	for x := range g {
		for y := range x {
			w.link(x*a+port[x]%a, y*a+port[y]%a, global)
			port[x]++
			port[y]++
		}
	}
	return w
}

// noisy is one repetition: every pair times 1 + sigma*N(0,1), of which the given
// share is multiplied by U(1.5, 10). Symmetric.
func noisy(rng *rand.Rand, n int, d []float64, sigma, outliers float64) []float64 {
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

// smallest is the cell-wise minimum of repetitions.
func smallest(reps ...[]float64) []float64 {
	m := slices.Clone(reps[0])
	for _, r := range reps[1:] {
		for i, v := range r {
			m[i] = min(m[i], v)
		}
	}
	return m
}

// relabelled permutes the rows and columns: vertex i becomes perm[i].
func relabelled(n int, d []float64, perm []int) []float64 {
	m := make([]float64, n*n)
	for i := range n {
		for j := range n {
			m[perm[i]*n+perm[j]] = d[i*n+j]
		}
	}
	return m
}
