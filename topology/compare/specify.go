package compare

import (
	"math"

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

// knownDistances are Graph.HostDistances with NaN where no path of known latency leads.
func knownDistances(g *topology.Graph) []float64 {
	d := g.HostDistances()
	for i, v := range d {
		if math.IsInf(v, 1) {
			d[i] = math.NaN()
		}
	}
	return d
}
