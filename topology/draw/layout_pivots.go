package draw

import (
	"math"
	"math/rand/v2"

	"gonum.org/v1/gonum/mat"

	"github.com/topocast/topocast/internal/paths"
)

// pivots are so many vertices at most, each as far as possible from those before, with the
// lengths of the shortest ways from each to all vertices. Ties go to the lowest vertex.
func (p *part) pivots(most int) (of []int, from [][]float64) {
	n := len(p.next)
	out := make([][]paths.Arc, n)
	for v, cs := range p.next {
		for _, c := range cs {
			out[v] = append(out[v], paths.Arc{To: int32(c.to), Length: c.length})
		}
	}
	order := make([]int, 0, n)
	search := func(v int) []float64 {
		dist := make([]float64, n)
		paths.From(out, v, dist, order[:0])
		return dist
	}
	nearest := search(0)
	for len(of) < min(most, n) {
		far := 0
		for v := range n {
			if nearest[v] > nearest[far] {
				far = v
			}
		}
		dist := search(far)
		of, from = append(of, far), append(from, dist)
		for v := range n {
			nearest[v] = min(nearest[v], dist[v])
		}
	}
	return of, from
}

// pivotMDS projects the vertices, of which only the distances from pivots are known, into space: classical
// scaling of the n x k matrix of squared distances, rows and columns centred (Brandes and
// Pich 2007, doi:10.1007/978-3-540-70904-6_6). O(n k^2).
func pivotMDS(from [][]float64, n int) [][3]float64 {
	k := len(from)
	c := mat.NewDense(n, k, nil)
	var all float64
	rows, columns := make([]float64, n), make([]float64, k)
	for j, dist := range from {
		for i, d := range dist {
			c.Set(i, j, d*d)
			rows[i] += d * d / float64(k)
			columns[j] += d * d / float64(n)
			all += d * d / float64(n*k)
		}
	}
	for i := range n {
		for j := range k {
			c.Set(i, j, -(c.At(i, j)-rows[i]-columns[j]+all)/2)
		}
	}
	var square mat.SymDense
	square.SymOuterK(1, c.T())
	at := make([][3]float64, n)
	var eigen mat.EigenSym
	if !eigen.Factorize(&square, true) {
		return at // the stress has to do it alone
	}
	var vectors mat.Dense
	eigen.VectorsTo(&vectors)
	values := eigen.Values(nil)
	for axis := range min(3, k) {
		j := k - 1 - axis
		if !(values[j] > 1e-12*values[k-1]) {
			break
		}
		// C = U S V^T approximates X Y^T, of vertices X and pivots Y, and Y is S^(1/2) of the pivots'
		// share of the vertices: that share sets the scale.
		scale := math.Sqrt(math.Sqrt(float64(n)/float64(k))) / math.Sqrt(math.Sqrt(values[j]))
		for i := range n {
			x := 0.0
			for l := range k {
				x += c.At(i, l) * vectors.At(l, j)
			}
			at[i][axis] = x * scale
		}
	}
	return at
}

// jitter moves positions by up to the given distance per axis, so that what lies in a line or in one
// point can leave it.
func jitter(at [][3]float64, by float64, rng *rand.Rand) {
	for i := range at {
		for axis := range 3 {
			at[i][axis] += by * (2*rng.Float64() - 1)
		}
	}
}
