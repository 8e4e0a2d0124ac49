package cluster

import (
	"fmt"
	"math"

	"gonum.org/v1/gonum/mat"
)

// maxSpectral bounds the dense eigenvalue problem, which takes O(n^3) time:
// minutes for so many objects, and hours for ten thousand.
const maxSpectral = 2048

// Spectral clusters the objects in the space of the leading eigenvectors of
// the normalised affinity matrix (Ng, Jordan and Weiss 2001), with affinities
// exp(-d_ij^2 / (s_i s_j)), s_i being the distance to the Neighbour-th
// neighbour (Zelnik-Manor and Perona 2004). O(n^3): at most 2048 objects.
type Spectral struct {
	K         int    // clusters; 0: at the widest gap between eigenvalues, at least 2
	Neighbour int    // 0: 7
	Seed      uint64 // of the k-medoids step
}

var _ Clusterer = Spectral{}

// usualNeighbour is the default of Spectral.Neighbour, the one of Zelnik-Manor and
// Perona 2004. Groups smaller than it are seen through neighbours outside.
const usualNeighbour = 7

// Cluster returns the clusters.
func (s Spectral) Cluster(d *Distances) (Labels, error) {
	if s.Neighbour == 0 {
		s.Neighbour = usualNeighbour
	}
	if s.K < 0 || s.K > d.n || s.Neighbour < 1 || d.n > maxSpectral {
		return nil, fmt.Errorf("cluster: spectral: K = %d, Neighbour = %d for %d objects: want K in [0, n], Neighbour at least 1, n at most %d", s.K, s.Neighbour, d.n, maxSpectral)
	}
	if d.n <= 2 { // no eigenvectors to speak of: two clusters if they are asked for
		labels := make(Labels, d.n)
		if s.K == 2 {
			labels[1] = 1
		}
		return labels, nil
	}
	var eigen mat.EigenSym
	if !eigen.Factorize(s.normalised(d), true) {
		return nil, fmt.Errorf("cluster: spectral: the eigenvalue problem of %d objects did not converge", d.n)
	}
	values := eigen.Values(nil) // ascending: the last are the leading ones
	if s.K == 0 {
		s.K = eigengap(values)
	}
	var vectors mat.Dense
	eigen.VectorsTo(&vectors)
	points := make([][]float64, d.n)
	for i := range points {
		points[i] = make([]float64, s.K)
		var norm float64
		for k := range s.K {
			v := vectors.At(i, d.n-1-k)
			points[i][k] = v
			norm = math.Hypot(norm, v)
		}
		if norm > 0 {
			for k := range points[i] {
				points[i][k] /= norm
			}
		}
	}
	embedded := &Distances{n: d.n, d: make([]float64, d.n*d.n)}
	for i := range d.n {
		for j := range i {
			var sum float64
			for k := range s.K {
				diff := points[i][k] - points[j][k]
				sum += diff * diff
			}
			v := math.Sqrt(sum)
			embedded.d[i*d.n+j], embedded.d[j*d.n+i] = v, v
		}
	}
	return KMedoids{K: s.K, Seed: s.Seed}.Cluster(embedded)
}

// normalised is D^(-1/2) A D^(-1/2) of the affinities A.
func (s Spectral) normalised(d *Distances) *mat.SymDense {
	scale := d.kth(s.Neighbour)
	a := mat.NewSymDense(d.n, nil)
	degree := make([]float64, d.n)
	for i := range d.n {
		for j := range i {
			v := d.At(i, j)
			affinity := 1.0 // both have Neighbour others at distance 0
			if product := scale[i] * scale[j]; product > 0 {
				affinity = math.Exp(-v * v / product)
			} else if v > 0 {
				affinity = 0
			}
			a.SetSym(i, j, affinity)
			degree[i] += affinity
			degree[j] += affinity
		}
	}
	for i := range d.n {
		for j := range i {
			if degree[i] > 0 && degree[j] > 0 {
				a.SetSym(i, j, a.At(i, j)/math.Sqrt(degree[i]*degree[j]))
			}
		}
	}
	return a
}

// eigengap is the number of leading eigenvalues before the widest gap, from 2
// to half of them. values ascend.
func eigengap(values []float64) int {
	n := len(values)
	best, k := -1.0, 2
	for c := 2; c <= n/2; c++ {
		if gap := values[n-c] - values[n-c-1]; gap > best {
			best, k = gap, c
		}
	}
	return k
}
