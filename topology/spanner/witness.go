package spanner

import (
	"fmt"
	"math"
	"slices"

	"github.com/topocast/topocast/internal/measured"
	"github.com/topocast/topocast/internal/quantity"
	"github.com/topocast/topocast/internal/stats"
	"github.com/topocast/topocast/internal/witness"
	"github.com/topocast/topocast/topology"
	"gonum.org/v1/gonum/mat"
)

// Witness finds how hosts are wired to each other directly, from real measurements. It
// asks what GreedyCycle asks, whether a path explains a measurement, in a form that does not
// depend on the order in which arcs are added: an arc is one that no third host, the witness,
// explains. It has a tolerance, takes the overhead out that a message pays at its ends, and
// mends single measurements that are missing or far too high. Matrices are directed, and so is the
// graph that it finds.
type Witness struct {
	// Tolerance is by how much a path may be longer than the measurement that it
	// explains, as a share. 0 is 3 times the noise + 0.02. The noise is
	// estimated from triangles, or else from repetitions, or else from how
	// directions differ. It is 0.01 if none says anything.
	Tolerance float64
	// KeepOverhead leaves the overhead of message ends in the measurements. By
	// default it is estimated and taken out.
	KeepOverhead bool
}

var _ topology.Reconstructor = (*Witness)(nil)

func (c *Witness) validate() error {
	return checkShare("witness", "Tolerance", c.Tolerance)
}

// Reconstruct implements topology.Reconstructor. Repetitions are combined cell by cell: the mean of the
// lower half. The warnings name simplex channels, which speak of a fault or of routing, the overhead, and
// measurements that were mended. O(n^2) on tori, O(n^3) at worst. Above 256 hosts it gives up, with a warning,
// where there are more arcs than a sparse graph has, or where finding them takes too long.
func (c *Witness) Reconstruct(repetitions ...mat.Matrix) (*topology.Result, error) {
	if err := c.validate(); err != nil {
		return nil, err
	}
	in, err := measured.DirectedOf("spanner: witness", repetitions)
	if err != nil {
		return nil, err
	}
	n, m := in.N(), slices.Clone(in.Cells())
	noise, tolerance := c.noise(in)
	test := witness.Test{Relative: tolerance, Directed: true, Bound: bound(n)}
	warnings := in.Warnings()
	var overhead float64
	if !c.KeepOverhead {
		overhead = witness.Overhead(n, m, witness.Transposed(n, m), max(0, noise))
		for i, v := range m {
			if i%(n+1) != 0 {
				m[i] = max(0, v-overhead)
			}
		}
		test.Absolute = tolerance * overhead
		if overhead > 0 {
			warnings = append(warnings, fmt.Sprintf("%s of every latency are overhead of the ends and were taken out", quantity.Seconds(overhead)))
		}
	}
	arcs, mended := witness.Mended(n, m, test)
	if test.Bound.Dense() || test.Bound.Spent() {
		var warning string
		arcs, warning = gaveUp(n, m)
		warnings, mended = append(warnings, warning), nil
	}
	links := map[witness.Pair]bool{}
	for _, a := range arcs {
		links[a] = true
	}
	for _, p := range mended {
		if links[p] {
			warnings = append(warnings, fmt.Sprintf("the measurement from host %d to %d was missing or far too high; its neighbours say %s", p.From, p.To, quantity.Seconds(m[p.From*n+p.To])))
		}
	}
	g, more, err := channelGraph(n, m, arcs, max(leastDuplex, tolerance))
	if err != nil {
		return nil, err
	}
	if one := in.Noise(); !math.IsNaN(one) {
		noise = one // of one measurement
	}
	return topology.NewResult(g, in.Cells(), overhead, noise, append(warnings, more...))
}

// A channel whose directions differ by a ratio above 1+leastDuplex, and above the tolerance, is simplex: the two directions of
// a cable are measured apart, each with its noise.
const leastDuplex = 0.1

// noise is the relative standard deviation of the combined measurements, NaN if nothing tells it, and the
// tolerance that follows from it. Triangles show it; what repetitions or directions differ by is that of
// single ones, and may be all upward.
func (c *Witness) noise(in *measured.Directed) (noise, tolerance float64) {
	n, m := in.N(), in.Cells()
	noise = witness.Noise(n, m, witness.Transposed(n, m))
	if math.IsNaN(noise) {
		noise = measurementNoise(in)
	}
	switch {
	case c.Tolerance > 0:
		return noise, c.Tolerance
	case math.IsNaN(noise):
		return noise, witness.PathTolerance(witness.NoiseGuess)
	}
	return noise, witness.PathTolerance(noise)
}

// measurementNoise is the relative standard deviation of one measurement: from repetitions, or else from how the
// two directions of a pair differ; NaN if they never do.
func measurementNoise(in *measured.Directed) float64 {
	if noise := in.Noise(); !math.IsNaN(noise) {
		return noise
	}
	n, m := in.N(), in.Cells()
	var apart stats.Differences
	for i := range n {
		for j := range i {
			apart.Add(m[i*n+j], m[j*n+i])
		}
	}
	if sigma := stats.SigmaOfOne(apart); sigma > 0 {
		return sigma
	}
	return math.NaN()
}
