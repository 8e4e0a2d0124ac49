package latencyfit

import (
	"math"
	"math/rand/v2"

	"github.com/topocast/topocast/internal/conjugate"
	"github.com/topocast/topocast/internal/parallel"
)

// What decides in the conjugate gradients.
const (
	// partialSums are added in one order, whatever the number of processors. It
	// decides the rounding only, and how many processors can help.
	partialSums = 16

	// linkSolved is the square of the residual at which the conjugate gradients end,
	// as a share of the first: ten digits of a latency, of which nobody reads four. On
	// rings, tori and rings of switches it is reached after 4 to 65 % of the steps that
	// exact arithmetic needs at most, one per link.
	linkSolved = 1e-20

	// undeterminedShare is what is left of a component of a random normal vector of a
	// link that measurements do not determine: about 1, and by linkSolved 1e-10 of those that they do.
	undeterminedShare = 1e-4
)

// normal sets y to A^T times row(i, j, (A x)_ij). Rows run in a few chunks, whose
// sums are added in order, so the result does not depend on the processors.
func (f *edgeFit) normal(x, y []float64, row func(i, j int, sum float64) float64) {
	n := f.g.Hosts()
	partial := make([][]float64, partialSums)
	parallel.Rows(partialSums, func(c int) {
		own := make([]float64, f.links)
		sum, into := make([]float64, f.g.Vertices()), make([]float64, f.g.Vertices())
		for i := c * n / partialSums; i < (c+1)*n/partialSums; i++ {
			sum[i] = 0
			for _, k := range f.paths[i] {
				a := &f.g.Arcs()[k]
				sum[a.To] = sum[a.From] + x[f.link[k]]
			}
			clear(into)
			for j := range n {
				if !math.IsNaN(f.measurements[i*n+j]) {
					into[j] = row(i, j, sum[j])
				}
			}
			for at := len(f.paths[i]) - 1; at >= 0; at-- {
				k := f.paths[i][at]
				a := &f.g.Arcs()[k]
				own[f.link[k]] += into[a.To]
				into[a.From] += into[a.To]
			}
		}
		partial[c] = own
	})
	clear(y)
	for _, p := range partial {
		for e, v := range p {
			y[e] += v
		}
	}
}

func sumItself(_, _ int, sum float64) float64 { return sum }

// solve returns the solution of the normal equations for b, which it overwrites, zero where fixed.
// Of many solutions it is one without a part that nothing determines.
func (f *edgeFit) solve(b []float64, fixed []bool) []float64 {
	ones, inverse := make([]float64, f.links), make([]float64, f.links)
	for e := range ones {
		ones[e] = 1
	}
	f.normal(ones, inverse, func(_, _ int, _ float64) float64 { return 1 }) // rows over each link
	for e, rows := range inverse {
		inverse[e] = 0
		if rows > 0 && !fixed[e] {
			inverse[e] = 1 / rows
		}
	}
	// Exact arithmetic needs a step per link at most.
	return conjugate.Solve(b, inverse, func(image, x []float64) { f.normal(x, image, sumItself) }, linkSolved, 2*f.links)
}

// undetermined finds the links of which measurements give only sums with others. A
// random vector less its part that the measurements see is random in the
// directions that they do not see, and zero on links that are determined.
func (f *edgeFit) undetermined() []bool {
	rng := rand.New(rand.NewPCG(uint64(f.links), 4))
	z, b := make([]float64, f.links), make([]float64, f.links)
	for e := range z {
		z[e] = rng.NormFloat64()
	}
	f.normal(z, b, sumItself)
	seen := f.solve(b, make([]bool, f.links))
	open := make([]bool, f.links)
	for e := range open {
		open[e] = math.Abs(z[e]-seen[e]) > undeterminedShare
	}
	return open
}
