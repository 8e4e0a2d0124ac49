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

// Of fewer links than this the middle ratio may be that of a missing one. Then the ratios of all sites count.
const fewRatios = 3

// findMissing marks the links with a way around them that explains the measured
// latency between their ends, which the link itself would make shorter.
// It looks at links between sites, whose latency can be told without a fit: hosts, and switches on which hosts hang. The way
// around is as long as measured where it leads over sites, and else as long as the reference makes it. A reference that does
// not have all latencies says how many links are on the way.
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
	lengths := latenciesOrHops(g)
	measured, specified := c.between(hung), pathsBetween(sites, g, lengths)
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
	if len(ratios) < fewRatios {
		ratios = siteRatios(measured, specified)
	}
	usual := stats.LowerMedian(ratios)
	for _, x := range all {
		now, before := measured[x.u][x.v], specified[x.u][x.v]
		if now <= longer*usual*before {
			continue
		}
		if around(measured, x.u, x.v) <= (1+detour)*now && around(specified, x.u, x.v) > (1+detour)*before {
			x.link.state.Verdict = LinkMissing
			continue
		}
		// Over switches that have no hosts the reference says how long the path without the link is.
		rest := slices.Clone(lengths)
		for _, i := range x.link.arcs {
			if i >= 0 {
				rest[i] = math.Inf(1)
			}
		}
		without := pathsBetween(sites, g, rest)
		path, times := without[x.u][x.v], stats.LowerMedian(siteRatios(measured, without))
		if path > (1+detour)*before && now > longer*times*before && now >= times*path/(1+detour) {
			x.link.state.Verdict = LinkMissing
		}
	}
}

// siteRatios are the measured over the specified latencies between all sites.
func siteRatios(measured, specified [][]float64) []float64 {
	var ratios []float64
	for u := range measured {
		for v := range u {
			if x := measured[u][v] / specified[u][v]; x > 0 && !math.IsInf(x, 0) {
				ratios = append(ratios, x)
			}
		}
	}
	return ratios
}

// pathsBetween is the matrix of the shortest paths between sites, by the lengths of the arcs of a graph.
func pathsBetween(sites []int, g *topology.Graph, lengths []float64) [][]float64 {
	finder, length := topology.NewPaths(g, lengths), make([]float64, g.Vertices())
	between := make([][]float64, len(sites))
	for x, u := range sites {
		finder.From(u, length)
		for _, v := range sites {
			between[x] = append(between[x], length[v])
		}
	}
	return between
}

// addExtra finds the measured links between hosts, or between switches of hosts, that the reference does not have, and that are
// shorter than the paths that it has. Links of these paths that were measured are as long as measured: the fit shortens them to
// explain the extra ones. All others are as fitted. It tells whether there are any that were not found before.
func (c *linkComparer) addExtra() bool {
	g := c.reference.graph
	height := heightsOf(g)
	level := func(a topology.Arc) bool { return height[a.From] == height[a.To] && height[a.From] <= 1 }
	if !slices.ContainsFunc(g.Arcs(), level) {
		return false // neither hosts nor switches of hosts are wired to each other
	}
	vertex := c.vertexOfMeasured()
	var measured []topology.Arc // between vertices of the reference
	for _, a := range c.measured.graph.Arcs() {
		if a.From, a.To = vertex[a.From], vertex[a.To]; a.From >= 0 && a.To >= 0 && (a.From < g.Hosts()) == (a.To < g.Hosts()) {
			measured = append(measured, a)
		}
	}
	arcs := slices.Clone(c.fit.Graph.Arcs())
	for _, a := range measured {
		if at := c.fit.Graph.ArcIndex(a.From, a.To); at >= 0 {
			arcs[at].Latency = a.Latency
		}
	}
	known, err := c.fit.Graph.WithArcs(arcs)
	if err != nil {
		panic("compare: arcs of a graph make none: " + err.Error())
	}
	before := len(c.extra)
	finder, distance := topology.NewPaths(known, nil), make([]float64, known.Vertices())
	for _, a := range measured {
		again := slices.ContainsFunc(c.extra, func(b topology.Arc) bool { return a.From == b.From && a.To == b.To })
		if again || g.ArcIndex(a.From, a.To) >= 0 || g.ArcIndex(a.To, a.From) >= 0 {
			continue
		}
		finder.From(a.From, distance)
		if times := distance[a.To] / a.Latency; times > longer && !math.IsInf(times, 1) {
			c.extra = append(c.extra, a)
		}
	}
	return len(c.extra) > before
}

// vertexOfMeasured are the vertices of the reference that the measured ones are. A host that the reference wires to another
// host is itself. A switch is the one on which all its hosts hang in the reference. Others are -1.
func (c *linkComparer) vertexOfMeasured() []int {
	measured, reference := c.measured.graph, c.reference.graph
	of := make([]int, measured.Vertices())
	for v := range of {
		of[v] = -1
		if v < measured.Hosts() {
			if slices.ContainsFunc(reference.Out(v), func(a topology.Arc) bool { return a.To < reference.Hosts() }) {
				of[v] = v
			}
			continue
		}
		for _, a := range measured.Out(v) {
			if a.To >= measured.Hosts() {
				continue
			}
			on := switchOf(reference, a.To)
			if on < 0 || of[v] >= 0 && of[v] != on {
				of[v] = -1
				break
			}
			of[v] = on
		}
	}
	return of
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
