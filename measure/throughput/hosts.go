package throughput

import (
	"cmp"
	"slices"

	"github.com/topocast/topocast/measure/harness"
	"github.com/topocast/topocast/topology"
)

// edges are rounds of links between hosts, each loaded by its two hosts (Bufe 2014, section 2.3.1).
func (c *campaign) edges() (rounds []round) {
	var edges [][2]int
	for _, a := range c.g.Arcs() {
		if !c.g.IsSwitch(a.From) && !c.g.IsSwitch(a.To) && (a.From < a.To || c.g.ArcIndex(a.To, a.From) < 0) {
			edges = append(edges, [2]int{a.From, a.To})
		}
	}
	for _, disjoint := range packPaths(c.g.Hosts(), edges) {
		var r round
		for _, p := range disjoint {
			r = append(r, c.load([][2]int{p}, p))
		}
		rounds = append(rounds, r)
	}
	return rounds
}

// A fan is a switch with its hosts.
type fan struct {
	vertex int
	hosts  []int // ascending
}

// fans are the switches with so many hosts at least whose links lead to them both ways.
func (c *campaign) fans(least int) []fan {
	var all []fan
	for s := c.g.Hosts(); s < c.g.Vertices(); s++ {
		f := fan{vertex: s}
		for _, a := range c.g.Out(s) {
			if !c.g.IsSwitch(a.To) && c.g.ArcIndex(a.To, s) >= 0 {
				f.hosts = append(f.hosts, a.To)
			}
		}
		if len(f.hosts) >= least {
			all = append(all, f)
		}
	}
	return all
}

// hosts are rounds of links of hosts, loaded by pairs of hosts of one switch. They are measured one after the
// other unless the switch was seen to carry them all (Bufe 2014, section 2.3.2). A host that is alone on its switch is measured
// with the nearest one elsewhere.
func (c *campaign) hosts() (rounds []round) {
	told := make(map[[2]int]bool) // host and switch
	for _, f := range c.fans(2) {
		for _, disjoint := range c.pairings(f) {
			var r round
			for _, p := range disjoint {
				if c.passes(p, f.vertex) {
					r = append(r, c.load([][2]int{p}, [2]int{p[0], f.vertex}, [2]int{f.vertex, p[1]}))
					told[[2]int{p[0], f.vertex}], told[[2]int{p[1], f.vertex}] = true, true
				}
			}
			atOnce := 1
			if c.carriesAll(f.vertex) {
				atOnce = max(atOnce, len(r))
			}
			rounds = slices.AppendSeq(rounds, slices.Chunk(r, atOnce))
		}
	}
	for _, a := range c.g.Arcs() {
		link := [2]int{a.From, a.To}
		if c.g.IsSwitch(a.From) || !c.g.IsSwitch(a.To) || c.g.ArcIndex(a.To, a.From) < 0 || told[link] {
			continue
		}
		if other := c.nearest(a.From, a.To); other >= 0 {
			rounds = append(rounds, round{c.load([][2]int{{a.From, other}}, link)})
		}
	}
	return rounds
}

// passes tells whether the messages of two hosts pass a switch, there and back, and no other.
func (c *campaign) passes(p [2]int, vertex int) bool {
	route, _ := c.route(p[0], p[1])
	back, _ := c.route(p[1], p[0])
	arcs := c.g.Arcs()
	return len(route) == 2 && len(back) == 2 && arcs[route[0]].To == vertex && arcs[back[0]].To == vertex
}

// pairings are rounds of all pairs, or of those that are next in latency.
func (c *campaign) pairings(f fan) [][][2]int {
	hosts := slices.Clone(f.hosts)
	if !c.s.ByLatency {
		return harness.CircleOf(hosts)
	}
	slices.SortStableFunc(hosts, func(a, b int) int {
		arcs := c.g.Arcs()
		return cmp.Compare(arcs[c.g.ArcIndex(a, f.vertex)].Latency, arcs[c.g.ArcIndex(b, f.vertex)].Latency)
	})
	rounds := make([][][2]int, min(2, len(hosts)-1))
	for i := range len(hosts) - 1 {
		rounds[i%2] = append(rounds[i%2], [2]int{hosts[i], hosts[i+1]})
	}
	return rounds
}

// nearest is the host nearest to one, of those that it reaches over a switch; -1 if there is
// none.
func (c *campaign) nearest(host, over int) int {
	t := topology.NewPaths(c.g, nil).Tree(host)
	for _, v := range t.Order[1:] {
		if c.g.IsSwitch(v) {
			continue
		}
		if route, err := c.route(host, v); err == nil && c.g.Arcs()[route[0]].To == over {
			return v
		}
	}
	return -1
}
