package compare

import (
	"math"
	"slices"

	"github.com/topocast/topocast/internal/stats"
	"github.com/topocast/topocast/topology"
)

// detour is by how much a way around a link may be longer than the measured
// latency between its ends that it explains: the least that counts as a difference
// (latencyFloor). 0.033 to 0.3 change no verdict of the tests.
const detour = 0.1

// longer is by how much more than usual a link's ends are apart before a way around is
// taken for the reason. Ways around a link are twice as long at least if links are alike.
const longer = 1.3

// findMissing marks the links with a way around them that explains the measured
// latency between their ends, which the link itself would make shorter.
// It looks at links between vertices whose latency can be told without a fit:
// hosts, and switches on which hosts hang. A reference that does not have all latencies says how many links are on the way.
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
	hung := make([][]int, g.Vertices()) // hosts by the vertex that stands for their place
	for h := range g.Hosts() {
		hung[h] = append(hung[h], h)
		if out := g.Out(h); len(out) == 1 && out[0].To >= g.Hosts() {
			hung[out[0].To] = append(hung[out[0].To], h)
		}
	}
	var sites []int
	site := make([]int, g.Vertices())
	for v, hosts := range hung {
		site[v] = -1
		if len(hosts) > 0 && (v >= g.Hosts() || len(g.Out(v)) > 1) {
			site[v] = len(sites)
			sites = append(sites, v)
		}
	}
	measured, specified := c.between(sites, hung, c.measured.graph, c.distances), c.between(sites, hung, counted, knownDistances(counted))
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
	usual := stats.LowerMedian(ratios)
	for _, x := range all {
		now, before := measured[x.u][x.v], specified[x.u][x.v]
		if now > longer*usual*before && around(measured, x.u, x.v) <= (1+detour)*now && around(specified, x.u, x.v) > (1+detour)*before {
			c.links[x.link].state.Verdict = LinkMissing
		}
	}
	return nil
}

// between is the matrix of the middle latencies between sites, the links of
// their hosts left out.
func (c *linkComparer) between(sites []int, hung [][]int, g *topology.Graph, distances []float64) [][]float64 {
	k := g.Hosts()
	link := make([]float64, k)
	for h := range link {
		if out := g.Out(h); len(out) == 1 && out[0].To >= k {
			link[h] = out[0].Latency
		}
	}
	d := make([][]float64, len(sites))
	var values []float64
	for u := range d {
		d[u] = make([]float64, len(sites))
		for v := range d[u] {
			values = values[:0]
			for _, a := range hung[sites[u]] {
				for _, b := range hung[sites[v]] {
					if x := distances[a*k+b] - link[a] - link[b]; a != b && !math.IsNaN(x) {
						values = append(values, x)
					}
				}
			}
			d[u][v] = math.NaN()
			if len(values) > 0 {
				d[u][v] = stats.LowerMedian(values)
			}
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
