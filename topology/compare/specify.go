package compare

import (
	"math"

	"github.com/topocast/topocast/internal/parallel"
	"github.com/topocast/topocast/topology"
)

// specify lists the reference's links with their classes and names.
func (c *linkComparer) specify() {
	g := c.reference.graph
	c.heights = heightsOf(g)
	for i, a := range g.Arcs() {
		back := g.ArcIndex(a.To, a.From)
		if back >= 0 && back < i {
			continue
		}
		l := &checked{
			arcs: [2]int{i, back}, doubtful: a.Probability < topology.ConfidentFrom,
			state: unknownLink(c.reference.vertex[a.From], c.reference.vertex[a.To], c.classOf(a)),
		}
		l.state.Latency.Reference = a.Latency
		if back >= 0 {
			l.state.Latency.Reference = (a.Latency + g.Arcs()[back].Latency) / 2
		}
		for way, arc := range l.arcs {
			if arc >= 0 {
				l.state.Bandwidth[way].Reference = measuredRate(g, arc)
			}
		}
		c.links = append(c.links, l)
	}
	c.nameLinks()
}

// unknownLink is a link of which nothing is known yet.
func unknownLink(u, v, class int) LinkState {
	none := Quantity{Measured: math.NaN(), Reference: math.NaN(), Slower: math.NaN(), Verdict: LinkUnknown}
	return LinkState{U: u, V: v, Class: class, Latency: none, Bandwidth: [2]Quantity{none, none}, Verdict: LinkUnknown}
}

// distancesBetweenHosts is the matrix of the shortest paths over arcs of the given lengths, nil: latencies in s, row by row; NaN where
// no path of known lengths leads.
func distancesBetweenHosts(g *topology.Graph, lengths []float64) []float64 {
	k, finder := g.Hosts(), topology.NewPaths(g, lengths)
	d := make([]float64, k*k)
	parallel.Rows(k, func(i int) {
		dist := make([]float64, g.Vertices())
		finder.From(i, dist)
		for j, x := range dist[:k] {
			if math.IsInf(x, 1) {
				x = math.NaN()
			}
			d[i*k+j] = x
		}
	})
	return d
}
