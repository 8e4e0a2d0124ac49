package latencyfit

import "github.com/topocast/topocast/topology"

// An edgeFit is a least squares problem whose unknowns are links, both
// directions of a pair of vertices, and whose rows are measurements.
type edgeFit struct {
	g            *topology.Graph
	settings     *Settings
	measured     []float64 // n*n
	measurements []float64 // n*n, corrected for the transfer time; NaN: not a row
	link         []int32   // arc -> link
	links        int
	x            []float64 // latencies of links
	known        bool      // x are latencies, not hops
	scaled       bool      // x are about as large as the measurements want them
	paths        [][]int32 // per host the arcs of its tree of shortest paths, each after those before it on a path
	used         int
	multiple     int // measurements with several paths
	early        int // measurements below the transfer time of the message
}

func (f *edgeFit) lengths() []float64 {
	l := make([]float64, len(f.link))
	for i, e := range f.link {
		l[i] = f.x[e]
	}
	return l
}
