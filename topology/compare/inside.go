package compare

import (
	"math"

	"github.com/topocast/topocast/internal/stats"
	"github.com/topocast/topocast/topology"
)

// insideHosts compares the latencies between the ranks of each host, where
// both sides have several.
func (c *linkComparer) insideHosts(measured *topology.Graph) {
	finders := [2]*topology.Paths{topology.NewPaths(measured, nil), topology.NewPaths(c.whole, nil)}
	dist := [2][]float64{make([]float64, measured.Vertices()), make([]float64, c.whole.Vertices())}
	for i, name := range c.out.Hosts {
		ranks := [2][]int{c.measuredOf[i], c.referenceOf[i]}
		if len(ranks[0]) < 2 || len(ranks[1]) < 2 {
			continue
		}
		c.inside = c.addToClass("insides of hosts")
		var middle [2]float64
		for side, own := range ranks {
			var values []float64
			for _, a := range own {
				finders[side].From(a, dist[side])
				for _, b := range own {
					if x := dist[side][b]; a != b && !math.IsInf(x, 1) {
						values = append(values, x)
					}
				}
			}
			middle[side] = stats.Median(values)
		}
		l := &checked{arcs: [2]int{-1, -1}, pairs: len(ranks[0]) * (len(ranks[0]) - 1), distance: middle[0]}
		l.state = unknownLink(c.referenceOf[i][0], c.referenceOf[i][0], c.inside)
		l.state.Below = []string{name}
		l.state.Name = c.nameOf(&l.state)
		l.state.Latency.Measured, l.state.Latency.Reference = middle[0], middle[1]
		c.links = append(c.links, l)
	}
}
