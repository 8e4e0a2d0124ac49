package cluster

import (
	"fmt"
	"math"
	"math/rand/v2"
)

// KMedoids splits the objects into K clusters around objects that are as close
// as possible to their members: FasterPAM (Schubert and Rousseeuw 2021, "Fast
// and eager k-medoids clustering", algorithm 3) after their LAB
// initialisation. O(n^2) per pass, a handful of passes.
type KMedoids struct {
	K    int    // clusters, in [1, n]
	Seed uint64 // of the initialisation's samples
}

var _ Clusterer = KMedoids{}

// Cluster returns the K clusters.
func (m KMedoids) Cluster(d *Distances) (Labels, error) {
	labels, _, err := m.medoids(d)
	return labels, err
}

// medoids returns the clusters and the medoid of each.
func (m KMedoids) medoids(d *Distances) (Labels, []int, error) {
	if d.n == 0 && m.K == 0 {
		return Labels{}, nil, nil
	}
	if m.K < 1 || m.K > d.n {
		return nil, nil, fmt.Errorf("cluster: k-medoids: K = %d: want in [1, %d]", m.K, d.n)
	}
	p := newPAM(d, lab(d, m.K, rand.New(rand.NewPCG(m.Seed, 0))))
	p.swapAll()
	labels := Relabel(p.nearest)
	medoids := make([]int, m.K)
	for i, x := range p.medoids {
		medoids[labels[x]] = p.medoids[i]
	}
	return labels, medoids, nil
}

// labSample is the part of a sample that does not grow with the objects, as the
// authors have it (Schubert and Rousseeuw 2021): it only gives
// the start, from which swaps go on until none is better.
const labSample = 10

// lab chooses the medoids one after another, each the best of a sample of
// 10 + sqrt(n) objects, judged on that sample.
func lab(d *Distances, k int, rng *rand.Rand) []int {
	nearest := make([]float64, d.n)
	for i := range nearest {
		nearest[i] = math.Inf(1)
	}
	size := min(d.n, labSample+int(math.Ceil(math.Sqrt(float64(d.n)))))
	taken := make([]bool, d.n)
	var medoids []int
	for range k {
		var sample []int
		for _, i := range rng.Perm(d.n) {
			if !taken[i] && len(sample) < size {
				sample = append(sample, i)
			}
		}
		best, bestCost := -1, math.Inf(1)
		for _, c := range sample {
			var cost float64
			for _, o := range sample {
				cost += min(nearest[o], d.At(c, o))
			}
			if cost < bestCost {
				best, bestCost = c, cost
			}
		}
		taken[best] = true
		medoids = append(medoids, best)
		for o, v := range d.row(best) {
			nearest[o] = min(nearest[o], v)
		}
	}
	return medoids
}

// pam is the state of FasterPAM: of every object the nearest and the second
// nearest medoid, and of every medoid what its removal would cost.
type pam struct {
	d               *Distances
	medoids         []int
	nearest, second []int     // indices into medoids
	dn, ds          []float64 // distances to them; ds is +Inf for one medoid
	removal         []float64
}

func newPAM(d *Distances, medoids []int) *pam {
	p := &pam{
		d: d, medoids: medoids,
		nearest: make([]int, d.n), second: make([]int, d.n),
		dn: make([]float64, d.n), ds: make([]float64, d.n),
		removal: make([]float64, len(medoids)),
	}
	p.assign()
	return p
}

// assign fills the caches. A medoid belongs to itself, also where another one
// is at distance 0.
func (p *pam) assign() {
	clear(p.removal)
	for o := range p.d.n {
		p.nearest[o], p.second[o], p.dn[o], p.ds[o] = -1, -1, math.Inf(1), math.Inf(1)
		for i, m := range p.medoids {
			v := p.d.At(o, m)
			if m == o {
				v = -1
			}
			switch {
			case v < p.dn[o]:
				p.second[o], p.ds[o] = p.nearest[o], p.dn[o]
				p.nearest[o], p.dn[o] = i, v
			case v < p.ds[o]:
				p.second[o], p.ds[o] = i, v
			}
		}
		p.dn[o], p.ds[o] = max(p.dn[o], 0), max(p.ds[o], 0)
		p.removal[p.nearest[o]] += p.ds[o] - p.dn[o]
	}
}

// swapAll takes every swap that helps, as soon as it is found, until a whole
// pass finds none.
func (p *pam) swapAll() {
	if len(p.medoids) == 1 {
		p.bestSingle()
		return
	}
	isMedoid := make([]bool, p.d.n)
	for _, m := range p.medoids {
		isMedoid[m] = true
	}
	change := make([]float64, len(p.medoids))
	for idle, x := 0, 0; idle < p.d.n; x = (x + 1) % p.d.n {
		idle++
		if isMedoid[x] {
			continue
		}
		copy(change, p.removal)
		var common float64
		for o, v := range p.d.row(x) {
			switch {
			case v < p.dn[o]:
				common += v - p.dn[o]
				change[p.nearest[o]] += p.dn[o] - p.ds[o]
			case v < p.ds[o]:
				change[p.nearest[o]] += v - p.ds[o]
			}
		}
		best := 0
		for i := range change {
			if change[i] < change[best] {
				best = i
			}
		}
		if change[best]+common >= 0 {
			continue
		}
		// The gain is a sum of rounded numbers. Only a swap that lowers the cost
		// itself counts, or two equal medoids would be swapped for ever.
		old, before := p.medoids[best], p.cost()
		p.medoids[best] = x
		p.assign()
		if p.cost() >= before {
			p.medoids[best] = old
			p.assign()
			continue
		}
		isMedoid[old], isMedoid[x] = false, true
		idle = 0
	}
}

// bestSingle handles K = 1, where removal costs are infinite.
func (p *pam) bestSingle() {
	best, bestSum := 0, math.Inf(1)
	for x := range p.d.n {
		var sum float64
		for _, v := range p.d.row(x) {
			sum += v
		}
		if sum < bestSum {
			best, bestSum = x, sum
		}
	}
	p.medoids[0] = best
	p.assign()
}

func (p *pam) cost() float64 {
	var sum float64
	for _, v := range p.dn {
		sum += v
	}
	return sum
}
