package compare

import (
	"math"

	"github.com/topocast/topocast/internal/stats"
	"github.com/topocast/topocast/topology"
)

// insideHosts compares the latencies between the ranks of each host, where
// both sides have several.
func (c *linkComparer) insideHosts(measured, reference *topology.Graph) {
	finders := [2]*topology.Paths{topology.NewPaths(measured, nil), topology.NewPaths(reference, nil)}
	dist := [2][]float64{make([]float64, measured.Vertices()), make([]float64, reference.Vertices())}
	for i, name := range c.out.Hosts {
		ranks := [2][]int{c.measuredOf[i], c.referenceOf[i]}
		if len(ranks[0]) < 2 || len(ranks[1]) < 2 {
			continue
		}
		if c.inside < 0 {
			c.inside = c.addClass("insides of hosts")
		}
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
			middle[side] = math.NaN()
			if len(values) > 0 {
				middle[side] = stats.LowerMedian(values)
			}
		}
		c.out.Classes[c.inside].Links++
		nan := Quantity{Measured: math.NaN(), Reference: math.NaN(), Slower: math.NaN(), Verdict: LinkUnknown}
		c.links = append(c.links, checked{arcs: [2]int{-1, -1}, pairs: len(ranks[0]) * (len(ranks[0]) - 1), distance: middle[0], state: LinkState{
			U: c.referenceOf[i][0], V: c.referenceOf[i][0], Class: c.inside, Below: []string{name},
			Latency:   Quantity{Measured: middle[0], Reference: middle[1], Slower: math.NaN(), Verdict: LinkUnknown},
			Bandwidth: [2]Quantity{nan, nan}, Verdict: LinkUnknown,
		}})
	}
}
