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
// It looks at links between vertices whose latency can be told without a fit:
// hosts, and switches on which hosts hang. The way around is as long as measured where it leads over such vertices, and else as long as
// the reference makes it. A reference that does not have all latencies says how many links are on the way.
func (c *linkComparer) findMissing() error {
	g := c.reference.graph
	arcs := slices.Clone(g.Arcs())
	for i, latency := range latenciesOrHops(g) {
		arcs[i].Latency = latency
	}
	counted, err := g.WithArcs(arcs)
	if err != nil {
		return err
	}
	site := make([]int, g.Vertices()) // the number of a vertex that has hosts, -1 of others
	for v := range site {
		site[v] = -1
	}
	var hung [][]int // the hosts of each site
	for h := range g.Hosts() {
		v := h
		if out := g.Out(h); len(out) == 1 && g.IsSwitch(out[0].To) {
			v = out[0].To
		}
		if site[v] < 0 {
			site[v] = len(hung)
			hung = append(hung, nil)
		}
		hung[site[v]] = append(hung[site[v]], h)
	}
	measured, specified := between(hung, c.measured.graph, c.distances), between(hung, counted, knownDistances(counted))
	var ratios []float64
	type candidate struct{ link, u, v int }
	var all []candidate
	for i, l := range c.links {
		a := g.Arcs()[max(l.arcs[0], l.arcs[1])]
		if u, v := site[a.From], site[a.To]; u >= 0 && v >= 0 && l.state.Below == nil {
			all = append(all, candidate{i, u, v})
			if x := measured[u][v] / specified[u][v]; x > 0 && !math.IsInf(x, 0) {
				ratios = append(ratios, x)
			}
		}
	}
	if len(ratios) == 0 {
		return nil
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
		bypassed := around(measured, x.u, x.v) <= (1+detour)*now && around(specified, x.u, x.v) > (1+detour)*before
		if !bypassed {
			if bypassed, err = c.bypassed(counted, x.link, now, before, func(rest *topology.Graph) float64 {
				return stats.LowerMedian(siteRatios(measured, between(hung, rest, knownDistances(rest))))
			}); err != nil {
				return err
			}
		}
		if bypassed {
			c.links[x.link].state.Verdict = LinkMissing
		}
	}
	return nil
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

// bypassed tells whether a link's ends are as far apart now as the reference makes the path without the link, which may lead
// over switches that have no hosts. usual is how many times as long as in the rest of the reference paths were measured.
func (c *linkComparer) bypassed(g *topology.Graph, link int, now, before float64, usual func(rest *topology.Graph) float64) (bool, error) {
	var arcs []topology.Arc
	for i, a := range g.Arcs() {
		if c.link[i] != link {
			arcs = append(arcs, a)
		}
	}
	rest, err := g.WithArcs(arcs)
	if err != nil {
		return false, err
	}
	a, length := g.Arcs()[max(c.links[link].arcs[0], c.links[link].arcs[1])], make([]float64, rest.Vertices())
	topology.NewPaths(rest, nil).From(a.From, length)
	path, times := length[a.To], usual(rest)
	return path > (1+detour)*before && now > longer*times*before && now >= times*path/(1+detour), nil
}

// addExtra finds the measured links between hosts, or between switches of hosts, that the reference does not have, and that are
// shorter than the paths that it has. Links of these paths that were measured are as long as measured: the fit shortens them to
// explain the extra ones. All others are as fitted. It tells whether there are any that were not found before.
func (c *linkComparer) addExtra() bool {
	g := c.reference.graph
	level := func(a topology.Arc) bool { return c.heights[a.From] == c.heights[a.To] && c.heights[a.From] <= 1 }
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
			on := -1
			if out := reference.Out(a.To); len(out) == 1 && reference.IsSwitch(out[0].To) {
				on = out[0].To
			}
			if on < 0 || of[v] >= 0 && of[v] != on {
				of[v] = -1
				break
			}
			of[v] = on
		}
	}
	return of
}

// between is the matrix of the middle latencies between sites, given by their hosts, whose links are left out.
func between(hung [][]int, g *topology.Graph, distances []float64) [][]float64 {
	k := g.Hosts()
	link := make([]float64, k)
	for h := range link {
		if out := g.Out(h); len(out) == 1 && out[0].To >= k {
			link[h] = out[0].Latency
		}
	}
	d := make([][]float64, len(hung))
	var values []float64
	for u := range d {
		d[u] = make([]float64, len(hung))
		for v := range d[u] {
			values = values[:0]
			for _, a := range hung[u] {
				for _, b := range hung[v] {
					if x := distances[a*k+b] - link[a] - link[b]; a != b && !math.IsNaN(x) {
						values = append(values, x)
					}
				}
			}
			d[u][v] = stats.Median(values)
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
