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

// Noise says how readings differ from the truth. The zero value is no noise.
// Everything but Sigma and Spread only slows readings down, as on real
// machines.
type Noise struct {
	// Sigma is the standard deviation of a factor 1 + Sigma N(0,1) of every
	// reading, cut at half and one and a half.
	Sigma float64

	// Outliers is the probability that a reading is a gross one: it is
	// multiplied by a factor uniform in OutlierRange (default 1.5 to 10).
	Outliers     float64
	OutlierRange [2]float64

	// SlowRounds is the probability that a round of the schedule is slow, and
	// all its readings with it, by a factor uniform in SlowRoundRange (default
	// 1.2 to 2). Readings are taken in n-1 rounds of disjoint pairs, by the
	// circle method over hosts in random order. Bufe 2014, table 3.5, shows one.
	SlowRounds     float64
	SlowRoundRange [2]float64

	// SlowHosts is the number of hosts, picked at random, all of whose readings
	// are multiplied by SlowHostFactor (default 1.5).
	SlowHosts      int
	SlowHostFactor float64

	// Spread makes the hosts' links unequal: each host adds a latency uniform in
	// -Spread to Spread times half of the smallest latency of the matrix. It
	// is a property of the machine, so draw it once and let only the rest
	// differ between repetitions.
	Spread float64
}

func (n *Noise) validate(hosts int) error {
	share := func(name string, v float64) error {
		if !(v >= 0 && v <= 1) {
			return fmt.Errorf("gen: noise: %s %g: want 0 to 1", name, v)
		}
		return nil
	}
	for _, f := range []struct {
		name string
		v    float64
	}{{"Sigma", n.Sigma}, {"Outliers", n.Outliers}, {"SlowRounds", n.SlowRounds}, {"Spread", n.Spread}} {
		if err := share(f.name, f.v); err != nil {
			return err
		}
	}
	if n.SlowHosts < 0 || n.SlowHosts > hosts {
		return fmt.Errorf("gen: noise: SlowHosts %d: want 0 to %d", n.SlowHosts, hosts)
	}
	for _, r := range [][2]float64{n.OutlierRange, n.SlowRoundRange} {
		if !(r[0] >= 0 && r[0] <= r[1]) || math.IsInf(r[1], 1) {
			return fmt.Errorf("gen: noise: range %g to %g: want 0 <= from <= to", r[0], r[1])
		}
	}
	if !(n.SlowHostFactor >= 0) || math.IsInf(n.SlowHostFactor, 1) {
		return fmt.Errorf("gen: noise: SlowHostFactor %g: want at least 0", n.SlowHostFactor)
	}
	return nil
}

// Apply returns one repetition of noisy readings of the square matrix m of
// latencies. A pair is read once: where m is symmetric the result is. NaN
// stays NaN, and the diagonal as it is.
func (n Noise) Apply(rng *rand.Rand, m mat.Matrix) (*mat.Dense, error) {
	size, columns := m.Dims()
	if size != columns {
		return nil, fmt.Errorf("gen: noise: %d x %d matrix: want it square", size, columns)
	}
	if err := n.validate(size); err != nil {
		return nil, err
	}
	if n.OutlierRange == [2]float64{} {
		n.OutlierRange = [2]float64{1.5, 10}
	}
	if n.SlowRoundRange == [2]float64{} {
		n.SlowRoundRange = [2]float64{1.2, 2}
	}
	if n.SlowHostFactor == 0 {
		n.SlowHostFactor = 1.5
	}
	uniform := func(r [2]float64) float64 { return r[0] + (r[1]-r[0])*rng.Float64() }

	out := mat.DenseCopyOf(m)
	offset := make([]float64, size)
	if n.Spread > 0 {
		least := smallest(out)
		for i := range offset {
			offset[i] = n.Spread * least / 2 * (2*rng.Float64() - 1)
		}
	}
	slow := make([]bool, size)
	if n.SlowHosts > 0 {
		for _, h := range rng.Perm(size)[:n.SlowHosts] {
			slow[h] = true
		}
	}
	seat := rng.Perm(size)
	pace := make([]float64, max(size, 1))
	for r := range pace {
		pace[r] = 1
		if n.SlowRounds > 0 && rng.Float64() < n.SlowRounds {
			pace[r] = uniform(n.SlowRoundRange)
		}
	}
	for i := range size {
		for j := i + 1; j < size; j++ {
			factor := pace[round(seat[i], seat[j], size)]
			if n.Sigma > 0 {
				factor *= max(0.5, min(1.5, 1+n.Sigma*rng.NormFloat64()))
			}
			if n.Outliers > 0 && rng.Float64() < n.Outliers {
				factor *= uniform(n.OutlierRange)
			}
			if slow[i] || slow[j] {
				factor *= n.SlowHostFactor
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

// round is the round of the circle method in which seats a and b of n meet.
// With an even number the last seat stays; with an odd one it is empty.
func round(a, b, n int) int {
	m := n - 1
	if n%2 == 1 {
		m = n
	}
	switch {
	case a == m:
		return 2 * b % m
	case b == m:
		return 2 * a % m
	}
	return (a + b) % m
}
