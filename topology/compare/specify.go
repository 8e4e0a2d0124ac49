package compare

import (
	"math"
	"slices"

	"github.com/topocast/topocast/internal/parallel"
	"github.com/topocast/topocast/topology"
)

// specify lists the reference's links with their classes and names. A link leads down to the hosts that hang on it. One that
// is no bridge is named by the hosts on its ends.
func (c *linkComparer) specify() {
	g := c.reference.graph
	heights := heightsOf(g)
	for i, a := range g.Arcs() {
		back := g.ArcIndex(a.To, a.From)
		if back >= 0 && back < i {
			continue
		}
		l := &checked{arcs: [2]int{i, back}, doubtful: a.Probability < topology.ConfidentFrom}
		u, v := a.From, a.To
		below, others := g.HostsBeyond(u, v), g.HostsBeyond(v, u)
		// The smaller part hangs on the link; of two that are equal the one without the lowest host.
		if len(others) < len(below) || len(others) == len(below) && slices.Compare(below, others) < 0 {
			u, v, below, l.arcs = v, u, others, [2]int{back, i}
		}
		class := c.addToClass(className(min(heights[u], heights[v]), max(heights[u], heights[v])))
		l.state = unknownLink(c.reference.vertex[u], c.reference.vertex[v], class)
		l.state.Latency.Reference = a.Latency
		if back >= 0 {
			l.state.Latency.Reference = (a.Latency + g.Arcs()[back].Latency) / 2
		}
		for way, arc := range l.arcs {
			if arc >= 0 {
				l.state.Bandwidth[way].Reference = measuredRate(g, arc)
			}
		}
		for _, h := range below {
			l.state.Below = append(l.state.Below, c.out.Hosts[h])
		}
		if below == nil {
			l.state.Ends = [2][]string{c.namesOn(u), c.namesOn(v)}
		}
		l.state.Name = c.nameOf(&l.state)
		c.links = append(c.links, l)
	}
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
