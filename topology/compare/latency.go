package compare

import (
	"cmp"
	"errors"
	"math"
	"slices"

	"github.com/topocast/topocast/topology"
	"github.com/topocast/topocast/topology/latencyfit"
	"github.com/topocast/topocast/topology/linkage"
	"gonum.org/v1/gonum/mat"
)

// rewirings bounds how often hosts are moved and the links fitted again: two hosts
// in each other's place are found in the first or, where one hides the other, the second.
const rewirings = 3

// sameTree is by how much, as a logarithm, distances of a tree of bundles may be off: by rounding and little more.
const sameTree = 0.02

// fitLatencies gives each link of the reference the latency that explains the
// measured ones, without links that nothing takes and with hosts where they are.
// Where the reference has several ways that are equally short, as fat trees have,
// latencies do not show their single links: bundles of them are fitted instead.
func (c *linkComparer) fitLatencies() error {
	err := c.fitLinks()
	if err != nil && !errors.Is(err, latencyfit.ErrNothingToFit) {
		return err
	}
	if err == nil && len(c.fit.Undetermined) == 0 || c.reference.graph.IsForest() {
		return err
	}
	if bundled, failed := c.bundle(); failed != nil || !bundled {
		return cmp.Or(failed, err)
	}
	return c.fitLinks()
}

// bundle replaces the reference by the tree that its own latencies are, whose
// links are bundles of the reference's, and tells whether they are a tree: whether it is as long between all hosts.
func (c *linkComparer) bundle() (bool, error) {
	g, k := c.reference.graph, c.reference.graph.Hosts()
	d := mat.NewDense(k, k, distancesBetweenHosts(g, latenciesOrHops(g)))
	r, err := (&linkage.Robust{}).Reconstruct(d)
	if errors.Is(err, topology.ErrDisconnected) { // several parts are no tree
		return false, nil
	}
	if err != nil {
		return false, err
	}
	if r.Fit.Family != topology.FamilyTree && r.Fit.Family != topology.FamilyFlat {
		return false, nil
	}
	for at, fitted := range r.Graph.HostDistances() {
		if off := math.Abs(math.Log(fitted / d.At(at/k, at%k))); off > sameTree {
			return false, nil
		}
	}
	arcs := slices.Clone(r.Graph.Arcs())
	if slices.ContainsFunc(g.Latencies(), math.IsNaN) { // they are numbers of links
		for i := range arcs {
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
	c.links, c.out.Classes, c.places, c.extra = nil, nil, nil, nil
	c.specify()
	return true, nil
}

// payEnds adds the overhead to the measured latencies, if all hosts of the reference have a link that can hold it.
func (c *linkComparer) payEnds() {
	c.paid = slices.Clone(c.distances)
	g := c.reference.graph
	for h := range g.Hosts() {
		if switchOf(g, h) < 0 {
			return
		}
	}
	for i := range c.paid {
		if i%(g.Hosts()+1) != 0 {
			c.paid[i] += c.settings.Overhead
		}
	}
}

// fitLinks fits the links of the reference as it is.
func (c *linkComparer) fitLinks() error {
	c.findMissing()
	c.payEnds()
	for round := 0; ; round++ {
		if err := c.rewire(); err != nil {
			return err
		}
		found, err := c.findPlaces()
		if err != nil {
			return err
		}
		c.places = slices.DeleteFunc(c.places, func(s outlierHost) bool { return s.place < 0 })
		again := round < rewirings && c.addExtra()
		for _, s := range found {
			if s.place >= 0 && len(c.namesOn(s.place)) == 0 {
				s.place = -1 // nobody plugs a host in there
			}
			moves := s.place >= 0 && round < rewirings
			again = again || moves
			if at := slices.IndexFunc(c.places, func(old outlierHost) bool { return old.host == s.host }); at < 0 {
				c.places = append(c.places, s)
			} else if moves {
				c.places[at].place = s.place
			}
		}
		if !again {
			break
		}
	}
	arcs := slices.Clone(c.fit.Graph.Arcs())
	for _, arc := range c.fit.Undetermined {
		arcs[arc].Latency = math.NaN()
	}
	for _, a := range arcs {
		if d, ok := c.directions[[2]int{a.From, a.To}]; ok {
			d.link.state.Latency.Measured = a.Latency
		}
	}
	return nil
}

// rewire makes the wired graph: hosts that were moved hang on their new switches, and extra links are there.
func (c *linkComparer) rewire() (err error) {
	g := c.reference.graph
	own := map[int]int{} // switches of the hosts that were moved
	for _, s := range c.places {
		if s.place >= 0 {
			own[s.host] = s.place
		}
	}
	var arcs []topology.Arc
	c.directions = map[[2]int]direction{}
	for _, l := range c.links {
		for way, i := range l.arcs {
			if i < 0 || l.state.Verdict == LinkMissing {
				continue
			}
			a := g.Arcs()[i]
			if place, ok := own[a.From]; ok {
				a.To = place
			}
			if place, ok := own[a.To]; ok {
				a.From = place
			}
			arcs = append(arcs, a)
			c.directions[[2]int{a.From, a.To}] = direction{l, way}
		}
	}
	countsLinks := slices.ContainsFunc(g.Latencies(), math.IsNaN)
	for _, a := range c.extra {
		if countsLinks {
			a.Latency = math.NaN()
		}
		arcs = append(arcs, a)
	}
	c.wired, err = g.WithArcs(arcs)
	return err
}
