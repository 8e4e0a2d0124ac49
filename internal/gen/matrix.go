package gen

import (
	"fmt"
	"math"
	"math/rand/v2"

	"gonum.org/v1/gonum/mat"

	"github.com/topocast/topocast/topology"
)

// Latencies is the matrix of the latencies in s of the routes between the
// cluster's hosts, 0 on the diagonal. O(hosts^2 times the length of a route).
func (c *Cluster) Latencies() (*mat.Dense, error) {
	routes, err := topology.NewRoutes(c.Graph, c.Choice)
	if err != nil {
		return nil, fmt.Errorf("gen: latencies: %w", err)
	}
	n, arcs := c.Graph.Hosts(), c.Graph.Arcs()
	out := make([]float64, n*n)
	var route []int32
	for i := range n {
		for j := range n {
			if i == j {
				continue
			}
			if route, err = routes.AppendRoute(route[:0], i, j); err != nil {
				return nil, fmt.Errorf("gen: latencies: %w", err)
			}
			sum := 0.0
			for _, a := range route {
				sum += arcs[a].Latency
			}
			out[i*n+j] = sum
			// The way back adds the same numbers in another order: where they
			// differ by rounding alone the smaller sum counts for both.
			if back := &out[j*n+i]; j < i && math.Abs(sum-*back) <= 1e-12**back {
				*back = min(sum, *back)
				out[i*n+j] = *back
			}
		}
	}
	return mat.NewDense(n, n, out), nil
}

// Noise says how measurements differ from the truth. The zero value is no noise.
type Noise struct {
	// Sigma is the standard deviation of a factor 1 + Sigma N(0,1) of every
	// measurement, cut at half and one and a half.
	Sigma float64

	// Outliers is the probability that a measurement is a gross one: it is
	// multiplied by a factor uniform in 1.5 to 10.
	Outliers float64

	// Spread makes the hosts' links unequal: each host adds a latency uniform in
	// -Spread to Spread times half of the smallest latency of the matrix. It
	// is a property of the machine, so draw it once and let only the rest
	// differ between repetitions.
	Spread float64
}

func (n *Noise) validate() error {
	for _, f := range []struct {
		name string
		v    float64
	}{{"Sigma", n.Sigma}, {"Outliers", n.Outliers}, {"Spread", n.Spread}} {
		if !(f.v >= 0 && f.v <= 1) {
			return fmt.Errorf("gen: noise: %s %g: want 0 to 1", f.name, f.v)
		}
	}
	return nil
}

// Apply returns one repetition of noisy measurements of the square matrix m of
// latencies. A pair is measured once: where m is symmetric the result is. NaN
// stays NaN, and the diagonal as it is.
func (n Noise) Apply(rng *rand.Rand, m mat.Matrix) (*mat.Dense, error) {
	size, columns := m.Dims()
	if size != columns {
		return nil, fmt.Errorf("gen: noise: %d x %d matrix: want it square", size, columns)
	}
	if err := n.validate(); err != nil {
		return nil, err
	}
	out := mat.DenseCopyOf(m)
	offset := make([]float64, size)
	if n.Spread > 0 {
		least := smallest(out)
		for i := range offset {
			offset[i] = n.Spread * least / 2 * (2*rng.Float64() - 1)
		}
	}
	rng.Perm(size) // tests name machines by seeds, whose stream has it
	for i := range size {
		for j := i + 1; j < size; j++ {
			factor := 1.0
			if n.Sigma > 0 {
				factor *= max(0.5, min(1.5, 1+n.Sigma*rng.NormFloat64()))
			}
			if n.Outliers > 0 && rng.Float64() < n.Outliers {
				factor *= 1.5 + (10-1.5)*rng.Float64()
			}
			out.Set(i, j, (out.At(i, j)+offset[i]+offset[j])*factor)
			out.Set(j, i, (out.At(j, i)+offset[i]+offset[j])*factor)
		}
	}
	return out, nil
}

// smallest is the smallest latency off the diagonal, 0 if there is none.
func smallest(m *mat.Dense) float64 {
	least := math.Inf(1)
	n, _ := m.Dims()
	for i := range n {
		for j := range n {
			if v := m.At(i, j); i != j && v < least {
				least = v
			}
		}
	}
	if math.IsInf(least, 1) {
		return 0
	}
	return least
}
