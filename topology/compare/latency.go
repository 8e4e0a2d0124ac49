package compare

import (
	"cmp"
	"errors"
	"math"
	"slices"

	"github.com/topocast/topocast/internal/stats"
	"github.com/topocast/topocast/topology"
	"github.com/topocast/topocast/topology/fit"
	"github.com/topocast/topocast/topology/linkage"
	"gonum.org/v1/gonum/mat"
)

// detour is by how much a way around a link may be longer than the measured
// latency between its ends that it explains: the least that counts as a difference
// (latencyFloor). 0.033 to 0.3 change no verdict of the tests.
const detour = 0.1

// longer is by how much more than usual a link's ends are apart before a way around is
// taken for the reason. Ways around a link are twice as long at least if links are alike.
const longer = 1.3

// rewirings bounds how often hosts are moved and the links fitted again: two hosts
// in each other's place are found in the first or, where one hides the other, the second.
const rewirings = 3

// fitLatencies gives each link of the reference the latency that explains the
// measured ones, without links that nothing takes and with hosts where they are.
// Where the reference has several ways that are equally short, as fat trees have,
// latencies do not show their single links: bundles of them are fitted instead.
func (c *linkComparer) fitLatencies() error {
	c.distances = knownDistances(c.measured.graph)
	err := c.fitLinks()
	if err != nil && !errors.Is(err, fit.ErrNothingToFit) {
		return err
	}
	if err == nil && len(c.fit.Undetermined) == 0 || c.reference.graph.IsForest() {
		return err
	}
	bundled, other := c.bundle()
	if other != nil || !bundled {
		if other != nil {
			return other
		}
		return err
	}
	return c.fitLinks()
}

// bundle replaces the reference by the tree that its own latencies are, whose
// links are bundles of the reference's, and tells whether they are a tree.
func (c *linkComparer) bundle() (bool, error) {
	g, k := c.reference.graph, c.reference.graph.Hosts()
	hops := topology.NewPaths(g, latenciesOrHops(g))
	d, dist := mat.NewDense(k, k, nil), make([]float64, g.Vertices())
	for i := range k {
		hops.From(i, dist)
		for j, x := range dist[:k] {
			if math.IsInf(x, 1) {
				x = math.NaN()
			}
			d.Set(i, j, x)
		}
	}
	r, err := (&linkage.Robust{}).Reconstruct(d)
	if err != nil {
		return false, err
	}
	if r.Fit.Family != topology.FamilyTree && r.Fit.Family != topology.FamilyFlat {
		return false, nil
	}
	known := !slices.ContainsFunc(g.Latencies(), math.IsNaN)
	arcs := slices.Clone(r.Graph.Arcs())
	for i := range arcs {
		if !known {
			arcs[i].Latency = math.NaN()
		}
	}
	v := &nodeView{vertex: slices.Clone(c.reference.vertex[:k])}
	for range r.Graph.Vertices() - k {
		v.vertex = append(v.vertex, -1)
	}
	if v.graph, err = topology.NewGraph(k, r.Graph.Vertices()-k, nil, arcs); err != nil {
		return false, err
	}
	c.routed, c.reference = c.reference, v
	c.links, c.out.Classes, c.places = nil, nil, nil
	clear(c.class)
	c.specify()
	return true, nil
}

// fitLinks fits the links of the reference as it is.
func (c *linkComparer) fitLinks() error {
	c.findMissing()
	own := map[int]int{}
	var err error
	for round := 0; ; round++ {
		if err = c.rewire(own); err != nil {
			return err
		}
		fitter := &comparer{measured: c.measured.graph, reference: c.wired, mean: c.distances}
		var all []standout
		if c.fit, all, err = fitter.standouts(); err != nil {
			return err
		}
		c.places = slices.DeleteFunc(c.places, func(s standout) bool { return s.place < 0 })
		moved := false
		for _, s := range all {
			if s.place >= 0 && !c.hasHosts(s.place) {
				s.place = -1 // nobody plugs a host in there
			}
			at := slices.IndexFunc(c.places, func(old standout) bool { return old.host == s.host })
			if at < 0 {
				c.places = append(c.places, s)
			}
			if s.place >= 0 && round < rewirings {
				own[s.host], moved = s.place, true
				if at >= 0 {
					c.places[at].place = s.place
				}
			}
		}
		if !moved {
			break
		}
	}
	c.misfit()
	for arc, a := range c.fit.Graph.Arcs() {
		c.links[c.link[c.origin[arc]]].state.Latency.Measured = a.Latency
	}
	for _, arc := range c.fit.Undetermined {
		c.links[c.link[c.origin[arc]]].state.Latency.Measured = math.NaN()
	}
	return nil
}

// hasHosts tells whether the reference has hosts on a switch.
func (c *linkComparer) hasHosts(v int) bool {
	g := c.reference.graph
	return slices.ContainsFunc(g.Out(v), func(a topology.Arc) bool { return a.To < g.Hosts() })
}

// rewire makes the wired graph: hosts with an entry in own hang on that switch.
func (c *linkComparer) rewire(own map[int]int) error {
	g := c.reference.graph
	arcs := slices.Clone(g.Arcs())
	order := make([]int, 0, len(arcs))
	for i := range arcs {
		a := &arcs[i]
		if place, ok := own[a.From]; ok {
			a.To = place
		}
		if place, ok := own[a.To]; ok {
			a.From = place
		}
		if !c.links[c.link[i]].missing {
			order = append(order, i)
		}
	}
	slices.SortFunc(order, func(i, j int) int { // as NewGraph has them
		return cmp.Or(arcs[i].From-arcs[j].From, arcs[i].To-arcs[j].To)
	})
	kept := make([]topology.Arc, len(order))
	for i, at := range order {
		kept[i] = arcs[at]
	}
	c.origin = order
	var err error
	c.wired, err = g.WithArcs(kept)
	return err
}

// findMissing marks the links with a way around them that explains the measured
// latency between their ends, which the link itself would make shorter.
// It looks at links between vertices whose latency can be told without a fit:
// hosts, and switches on which hosts hang.
func (c *linkComparer) findMissing() {
	g := c.reference.graph
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
	measured, specified := c.between(sites, hung, c.measured.graph, c.distances), c.between(sites, hung, g, c.specified)
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
		return
	}
	usual := stats.LowerMedian(ratios)
	for _, x := range all {
		now, before := measured[x.u][x.v], specified[x.u][x.v]
		if now > longer*usual*before && around(measured, x.u, x.v) <= (1+detour)*now && around(specified, x.u, x.v) > (1+detour)*before {
			c.links[x.link].missing = true
		}
	}
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

// misfit is how badly the fitted links explain the measured latencies.
func (c *linkComparer) misfit() {
	fitted := c.fit.Graph.HostDistances()
	var rest []float64
	for i, d := range c.distances {
		if f := fitted[i]; d > 0 && f > 0 && !math.IsInf(f, 1) {
			rest = append(rest, math.Abs(math.Log(d/f)))
		}
	}
	if len(rest) > 0 {
		c.out.Misfit = stats.LowerMedian(rest)
	}
}

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
