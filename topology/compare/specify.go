package compare

import (
	"math"

	"github.com/topocast/topocast/topology"
)

// specify lists the reference's links with their classes and names.
func (c *linkComparer) specify() {
	g := c.reference.graph
	c.heights = heightsOf(g)
	c.link = make([]int, g.NumArcs())
	nan := Quantity{Measured: math.NaN(), Reference: math.NaN(), Slower: math.NaN(), Verdict: LinkUnknown}
	for i, a := range g.Arcs() {
		back := g.ArcIndex(a.To, a.From)
		if back >= 0 && back < i {
			c.link[i] = c.link[back]
			continue
		}
		c.link[i] = len(c.links)
		c.links = append(c.links, checked{
			arcs: [2]int{i, back}, doubtful: a.Probability < topology.FirmSupport,
			state: LinkState{
				U: c.reference.vertex[a.From], V: c.reference.vertex[a.To], Class: c.classOf(a),
				Latency: nan, Bandwidth: [2]Quantity{nan, nan}, Verdict: LinkUnknown,
			},
		})
		l := &c.links[len(c.links)-1]
		l.state.Latency.Reference = c.meanLatency(l)
		for way, arc := range l.arcs {
			if arc >= 0 {
				l.state.Bandwidth[way].Reference = measuredRate(g, arc)
			}
		}
	}
	c.nameLinks()
}

// meanLatency is the reference's latency of a link, over both directions.
func (c *linkComparer) meanLatency(l *checked) float64 {
	g := c.reference.graph
	if l.arcs[1] < 0 {
		return g.Arcs()[l.arcs[0]].Latency
	}
	return (g.Arcs()[l.arcs[0]].Latency + g.Arcs()[l.arcs[1]].Latency) / 2
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
