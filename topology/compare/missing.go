package compare

import (
	"math"
	"slices"

	"github.com/topocast/topocast/internal/stats"
	"github.com/topocast/topocast/topology"
)

// detour is by how much a way around a link may be longer than the measured
// latency between its ends that it explains: the least that counts as a difference.
const detour = latencyFloor

// longer is by how much more than usual a link's ends are apart before a way around is
// taken for the reason. Paths around a link are twice as long at least if links are alike.
const longer = 1.3

// findMissing marks the links with a way around them that explains the measured
// latency between their ends, which the link itself would make shorter.
// It looks at links between sites, whose latency can be told without a fit: hosts, and switches on which hosts hang.
// A reference that does not have all latencies says how many links are on the way.
func (c *linkComparer) findMissing() {
	g := c.reference.graph
	number, hung := make([]int, g.Vertices()), [][]int{} // of a site, from 1 on, 0 of other vertices; and its hosts
	var sites []int
	for h := range g.Hosts() {
		v := max(h, switchOf(g, h))
		if number[v] == 0 {
			sites, hung = append(sites, v), append(hung, nil)
			number[v] = len(sites)
		}
		hung[number[v]-1] = append(hung[number[v]-1], h)
	}
	measured, specified := c.between(hung), make([][]float64, len(sites))
	finder, dist := topology.NewPaths(g, latenciesOrHops(g)), make([]float64, g.Vertices())
	for x, u := range sites {
		finder.From(u, dist)
		for _, v := range sites {
			specified[x] = append(specified[x], dist[v])
		}
	}
	type candidate struct {
		link *checked
		u, v int // sites
	}
	var all []candidate
	var ratios []float64
	for _, l := range c.links {
		a := g.Arcs()[max(l.arcs[0], l.arcs[1])]
		u, v := number[a.From]-1, number[a.To]-1
		if min(u, v) < 0 || l.state.Below != nil {
			continue
		}
		all = append(all, candidate{l, u, v})
		if x := measured[u][v] / specified[u][v]; x > 0 && !math.IsInf(x, 0) {
			ratios = append(ratios, x)
		}
	}
	if len(ratios) == 0 {
		return
	}
	usual := stats.LowerMedian(ratios)
	for _, x := range all {
		now, before := measured[x.u][x.v], specified[x.u][x.v]
		if now > longer*usual*before && around(measured, x.u, x.v) <= (1+detour)*now && around(specified, x.u, x.v) > (1+detour)*before {
			x.link.state.Verdict = LinkMissing
		}
	}
}

// addExtra finds the measured links between hosts that the reference does not have, and that are shorter than the ways
// that it has as they were fitted. It tells whether there are any that were not found before.
func (c *linkComparer) addExtra() bool {
	g, k := c.reference.graph, len(c.out.Hosts)
	between := func(a topology.Arc) bool { return a.From < k && a.To < k }
	if !slices.ContainsFunc(g.Arcs(), between) {
		return false
	}
	before := len(c.extra)
	fitted := c.fit.Graph.HostDistances()
	for _, a := range c.measured.graph.Arcs() {
		if !between(a) || g.ArcIndex(a.From, a.To) >= 0 || g.ArcIndex(a.To, a.From) >= 0 || c.wired.ArcIndex(a.From, a.To) >= 0 {
			continue
		}
		if times := fitted[a.From*k+a.To] / a.Latency; times > longer && !math.IsInf(times, 1) {
			c.extra = append(c.extra, a)
		}
	}
	return len(c.extra) > before
}

// between is the matrix of the middle measured latencies between sites, given by their hosts, whose links are left out.
func (c *linkComparer) between(hung [][]int) [][]float64 {
	g, d := c.measured.graph, make([][]float64, len(hung))
	link := make([]float64, g.Hosts())
	for h := range link {
		if switchOf(g, h) >= 0 {
			link[h] = g.Out(h)[0].Latency
		}
	}
	for u := range d {
		for v := range d {
			var values []float64
			for _, a := range hung[u] {
				for _, b := range hung[v] {
					if x := c.distances[a*g.Hosts()+b] - link[a] - link[b]; a != b && !math.IsNaN(x) {
						values = append(values, x)
					}
				}
			}
			d[u] = append(d[u], stats.Median(values))
		}
	}
	return d
}

// around is the shortest way from u to v over a third site.
func around(d [][]float64, u, v int) float64 {
	least := math.Inf(1)
	for w := range d {
		if x := d[u][w] + d[w][v]; w != u && w != v && x < least {
			least = x
		}
	}
	return least
}
