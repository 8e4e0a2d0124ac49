package latencyfit

import (
	"fmt"
	"math"

	"github.com/topocast/topocast/topology"
)

// Settings are the settings of Latencies; nil is all defaults.
type Settings struct {
	// Bytes is the size of the messages whose latencies were measured. Above
	// 0, the time that the bandwidths of the arcs cost is subtracted first;
	// arcs of unknown bandwidth cost none.
	Bytes float64
	// StoreAndForward says that each vertex receives a message whole before it
	// sends it on: the cost is the sum over the path's arcs of bytes/bandwidth.
	// The default is cut-through: bytes over the least bandwidth of the path.
	StoreAndForward bool
	// Plain asks for least squares as they are, in place of Huber's loss,
	// whose measurements pull no harder than at 10 % from the fit. With 2 % of
	// measurements far too high plain least squares are worthless.
	Plain bool
}

func (s *Settings) validate() error {
	if !(s.Bytes >= 0) || math.IsInf(s.Bytes, 0) {
		return fmt.Errorf("fit: Bytes %g: want at least 0 and finite", s.Bytes)
	}
	return nil
}

// transferTimes is what a message costs on the path from the source of the tree to each vertex of g, in s: what
// Latencies takes out of a measurement.
func (s *Settings) transferTimes(g *topology.Graph, t *topology.PathTree) []float64 {
	cost := make([]float64, g.Vertices())
	if s.Bytes == 0 {
		return cost
	}
	arcs := g.Arcs()
	for _, v := range t.Order[1:] {
		a, own := arcs[t.Arc[v]], 0.0
		if !math.IsNaN(a.Bandwidth) {
			own = s.Bytes / a.Bandwidth
		}
		if s.StoreAndForward {
			cost[v] = cost[a.From] + own
		} else {
			cost[v] = max(cost[a.From], own)
		}
	}
	return cost
}
