package cluster

import (
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/mat"
)

// KMedoids splits the objects into K clusters around objects that are as close
// as possible to their members: FasterPAM (Schubert and Rousseeuw 2021, "Fast
// and eager k-medoids clustering", algorithm 3). The start is the object nearest to all others, and then each time the one
// that is farthest from those before (Gonzalez 1985). Ties go to the lowest object. O(n^2) per pass, a handful of passes.
type KMedoids struct {
	K int // clusters, in [1, n]
}

var _ Clusterer = KMedoids{}

// Cluster returns the K clusters.
func (m KMedoids) Cluster(s mat.Symmetric) (Labels, error) {
	labels, _, err := m.medoids(rowsOf(s))
	return labels, err
}

// medoids returns the clusters and the medoid of each.
func (m KMedoids) medoids(d *distances) (Labels, []int, error) {
	if d.n == 0 && m.K == 0 {
		return Labels{}, nil, nil
	}
	if m.K < 1 || m.K > d.n {
		return nil, nil, fmt.Errorf("cluster: k-medoids: K = %d: want in [1, %d]", m.K, d.n)
	}
	p := &pam{
		d: d, medoids: farApart(d, m.K),
		nearest: make([]int, d.n), first: make([]float64, d.n), second: make([]float64, d.n),
		change: make([]float64, m.K),
	}
	p.assign()
	// Swaps that help are taken as soon as they are found, until a whole pass finds none.
	for idle, x := 0, 0; idle < d.n; x = (x + 1) % d.n {
		idle++
		if !slices.Contains(p.medoids, x) && p.swap(x) {
			idle = 0
		}
	}
	labels := Relabel(p.nearest)
	medoids := make([]int, m.K)
	for i, x := range p.medoids {
		medoids[labels[x]] = p.medoids[i]
	}
	return labels, medoids, nil
}

// farApart are k objects: the one nearest to all others, and then each time the one farthest from those before.
func farApart(d *distances, k int) []int {
	next, least := 0, math.Inf(1)
	for x := range d.n {
		sum := 0.0
		for _, v := range d.row(x) {
			sum += v
		}
		if sum < least {
			next, least = x, sum
		}
	}
	nearest := make([]float64, d.n) // distance to those chosen; below 0 of themselves
	for x := range nearest {
		nearest[x] = math.Inf(1)
	}
	var chosen []int
	for range k {
		chosen = append(chosen, next)
		nearest[next] = -1
		farthest := 0
		for x, v := range d.row(next) {
			nearest[x] = min(nearest[x], v)
			if nearest[x] > nearest[farthest] {
				farthest = x
			}
		}
		next = farthest
	}
	return chosen
}

// pam is the state of FasterPAM: of every object the nearest medoid, as index into medoids, and the distances to it and to
// the second nearest.
type pam struct {
	d             *distances
	medoids       []int
	nearest       []int
	first, second []float64 // second is +Inf for one medoid
	cost          float64   // sum of first
	change        []float64 // scratch of swap
}

// assign fills the caches. A medoid belongs to itself, also where another one
// is at distance 0.
func (p *pam) assign() {
	p.cost = 0
	for o := range p.d.n {
		p.nearest[o], p.first[o], p.second[o] = -1, math.Inf(1), math.Inf(1)
		for i, m := range p.medoids {
			v := p.d.At(o, m)
			if m == o {
				v = -1
			}
			if v < p.first[o] {
				p.nearest[o], p.first[o], p.second[o] = i, v, p.first[o]
			} else {
				p.second[o] = min(p.second[o], v)
			}
		}
		p.first[o], p.second[o] = max(p.first[o], 0), max(p.second[o], 0)
		p.cost += p.first[o]
	}
}

// swap puts object x in the place of the medoid whose loss costs least, if that lowers the cost.
func (p *pam) swap(x int) bool {
	clear(p.change) // of the cost, by the medoid that goes, on top of what x gains in any case
	gain := 0.0
	for o, v := range p.d.row(x) {
		closer := min(0, v-p.first[o])
		gain += closer
		p.change[p.nearest[o]] += min(v, p.second[o]) - p.first[o] - closer
	}
	best := 0
	for i := range p.change {
		if p.change[i] < p.change[best] {
			best = i
		}
	}
	if p.change[best]+gain >= 0 {
		return false
	}
	// The change is a sum of rounded numbers. Only a swap that lowers the cost
	// itself counts, or two equal medoids would be swapped for ever.
	old, before := p.medoids[best], p.cost
	p.medoids[best] = x
	if p.assign(); p.cost < before {
		return true
	}
	p.medoids[best] = old
	p.assign()
	return false
}
