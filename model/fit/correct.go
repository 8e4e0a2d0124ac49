package fit

import (
	"math"
	"slices"

	"gonum.org/v1/gonum/floats"

	"github.com/topocast/topocast/topology"
)

// correctLatencies returns the graph with latencies that hold the links alone. Those of g were made of times of
// messages of the given bytes, which the bandwidths of g delay too.
//
// Switches cut through, so a path delays a message by its slowest link. What a path has too much is shared out
// among its links by the least-squares solution of least norm over the paths between hosts (Bufe 2014, section
// 2.4, eq. 2.5 and 2.8, for the corrections instead of the latencies). Links of unknown bandwidth are left as they
// are; latencies stay at least 0. O(paths * length * steps) for at most some 4,000 paths.
func correctLatencies(g *topology.Graph, bytes int64) (*topology.Graph, error) {
	arcs := slices.Clone(g.Arcs())
	delay := make([]float64, len(arcs))
	paths, excess, err := pathExcess(g, bytes)
	if err != nil {
		return nil, err
	}
	leastNorm(delay, paths, excess)
	for i := range arcs {
		arcs[i].Latency = math.Max(0, arcs[i].Latency-delay[i]) // NaN stays
	}
	return g.WithArcs(arcs)
}

// correctedPaths bounds the paths looked at. They are taken by whole distances in number, so that all
// hosts have a part; four thousand cross every link of a machine of a thousand hosts several times.
const correctedPaths = 4000

// corrected is the square of the gradient at which the correction ends, as a share of
// the first: twelve digits, that a correction of nothing is nothing.
const corrected = 1e-24

// pathExcess returns paths between hosts and what a message takes on the
// slowest link of each, in s: from each host to others at growing distances in number.
func pathExcess(g *topology.Graph, bytes int64) (paths [][]int32, excess []float64, err error) {
	routes, err := topology.NewRoutes(g, topology.ChooseLowest)
	if err != nil {
		return nil, nil, err
	}
	hosts := g.Hosts()
	for d := 1; d < hosts && len(paths) < correctedPaths; d++ {
		for src := range hosts {
			path, err := routes.AppendRoute(nil, src, (src+d)%hosts)
			if err != nil {
				continue // not connected
			}
			slowest := math.Inf(1)
			for _, c := range path {
				slowest = math.Min(slowest, g.Arcs()[c].Bandwidth)
			}
			if !math.IsNaN(slowest) {
				paths, excess = append(paths, path), append(excess, float64(bytes)/slowest)
			}
		}
	}
	return paths, excess, nil
}

// leastNorm fills x, zero before, with the least-squares solution of least
// norm of sum(x[path]) = b, by conjugate gradients on the normal equations
// (CGLS: Bjorck 1996, section 7.4), which stay in the space of the paths.
func leastNorm(x []float64, paths [][]int32, b []float64) {
	residual := slices.Clone(b)
	along := make([]float64, len(paths)) // A p
	gradient := make([]float64, len(x))  // A^T r
	collect := func() {
		clear(gradient)
		for i, path := range paths {
			for _, c := range path {
				gradient[c] += residual[i]
			}
		}
	}
	collect()
	direction := slices.Clone(gradient)
	size := floats.Dot(gradient, gradient)
	for first, steps := size, 0; steps < 2*len(x) && size > corrected*first; steps++ {
		norm := 0.0
		for i, path := range paths {
			along[i] = 0
			for _, c := range path {
				along[i] += direction[c]
			}
			norm += along[i] * along[i]
		}
		if norm == 0 {
			return
		}
		step := size / norm
		floats.AddScaled(x, step, direction)
		floats.AddScaled(residual, -step, along)
		collect()
		before := size
		size = floats.Dot(gradient, gradient)
		floats.Scale(size/before, direction)
		floats.Add(direction, gradient)
	}
}
