package compare

import (
	"maps"
	"math"
	"slices"

	"github.com/topocast/topocast/topology"
)

// A nodeView is a graph cut down to some nodes: one host per node, and of the
// rest what lies between them. Both graphs of a comparison are brought to the
// same nodes this way, whatever ranks there were, and in whatever order.
type nodeView struct {
	graph  *topology.Graph
	vertex []int // vertex of the view -> vertex of the whole graph
}

// nodesOf lists the hosts of each name, and the names in the order of their first host.
func nodesOf(g *topology.Graph) (names []string, hosts map[string][]int) {
	hosts = make(map[string][]int, g.Hosts())
	for h := range g.Hosts() {
		name := g.Name(h)
		if len(hosts[name]) == 0 {
			names = append(names, name)
		}
		hosts[name] = append(hosts[name], h)
	}
	return names, hosts
}

// switchOf is the switch on which a host hangs by its only link, -1 if there is none.
func switchOf(g *topology.Graph, host int) int {
	if out := g.Out(host); len(out) == 1 && g.IsSwitch(out[0].To) {
		return out[0].To
	}
	return -1
}

// viewOf keeps the host nearest to all others of each node (ties: the first),
// drops what leads nowhere, and joins the links of switches, and of hosts left
// out, that have two links only: latencies do not show those.
func viewOf(g *topology.Graph, nodes [][]int) (*nodeView, error) {
	c := &contraction{kept: make([]bool, g.Vertices()), near: make([]map[int]bool, g.Vertices()), arcs: make(map[[2]int]topology.Arc, g.NumArcs())}
	n := &nodeView{}
	for _, hosts := range nodes {
		h := centralOf(g, hosts)
		n.vertex, c.kept[h] = append(n.vertex, h), true
	}
	for v := range c.near {
		c.near[v] = map[int]bool{}
	}
	for _, a := range g.Arcs() {
		c.add(a)
	}
	for v := range c.near {
		c.prune(v)
	}
	c.straighten(g)
	for v, near := range c.near {
		if len(near) > 0 && !c.kept[v] { // those that went have no neighbours
			n.vertex = append(n.vertex, v)
		}
	}
	number, names := make([]int, g.Vertices()), make([]string, len(n.vertex))
	for i, v := range n.vertex {
		number[v], names[i] = i, g.Name(v)
	}
	var arcs []topology.Arc
	for _, a := range c.arcs { // NewGraph sorts them
		a.From, a.To = number[a.From], number[a.To]
		arcs = append(arcs, a)
	}
	var err error
	n.graph, err = topology.NewGraph(len(nodes), len(n.vertex)-len(nodes), names, arcs)
	return n, err
}

// centralOf is the host with the least sum of latencies to all others.
func centralOf(g *topology.Graph, hosts []int) int {
	if len(hosts) == 1 {
		return hosts[0]
	}
	best, least := hosts[0], math.Inf(1)
	finder, dist := topology.NewPaths(g, nil), make([]float64, g.Vertices())
	for _, h := range hosts {
		finder.From(h, dist)
		sum := 0.0
		for _, d := range dist[:g.Hosts()] {
			sum += d
		}
		if sum < least {
			best, least = h, sum
		}
	}
	return best
}

// A contraction is a graph under change.
type contraction struct {
	kept []bool                  // by vertex; the others may go
	near []map[int]bool          // the other ends of the arcs of each vertex
	arcs map[[2]int]topology.Arc // by their ends
}

func (c *contraction) add(a topology.Arc) {
	c.arcs[[2]int{a.From, a.To}] = a
	c.near[a.From][a.To], c.near[a.To][a.From] = true, true
}

func (c *contraction) remove(v int) {
	for u := range c.near[v] {
		delete(c.near[u], v)
		delete(c.arcs, [2]int{u, v})
		delete(c.arcs, [2]int{v, u})
	}
	clear(c.near[v])
}

func (c *contraction) neighbours(v int) []int { return slices.Sorted(maps.Keys(c.near[v])) }

// prune removes a vertex that has one neighbour or none, and then those neighbours that are left with one or none.
func (c *contraction) prune(v int) {
	if near := c.neighbours(v); !c.kept[v] && len(near) < 2 {
		c.remove(v)
		for _, u := range near {
			c.prune(u)
		}
	}
}

// straighten replaces each vertex between two others by a link of its links'
// latencies and the lesser bandwidth, unless these two are linked already. A link through the switch of an uncertain
// group is as certain as its surer part: without the group it leads past the switch. Through a host it needs both parts.
func (c *contraction) straighten(g *topology.Graph) {
	for v := range c.kept {
		near := c.neighbours(v)
		if c.kept[v] || len(near) != 2 || c.near[near[0]][near[1]] {
			continue
		}
		for _, way := range [2][2]int{{near[0], near[1]}, {near[1], near[0]}} {
			first, ok := c.arcs[[2]int{way[0], v}]
			second, ok2 := c.arcs[[2]int{v, way[1]}]
			if ok && ok2 {
				c.add(inSeries(first, second, g.IsSwitch(v)))
			}
		}
		c.remove(v)
	}
}

// inSeries is one arc for two that meet at a switch or a host. Of their bandwidths the lesser counts, and if one is not known the other
// is an estimate. An uplink of an uncertain group has no rate of its own: without the group it is not there.
func inSeries(first, second topology.Arc, atSwitch bool) topology.Arc {
	a := topology.Arc{
		From: first.From, To: second.To, Latency: first.Latency + second.Latency,
		Bandwidth: first.Bandwidth, Estimated: first.Estimated, Probability: min(first.Probability, second.Probability),
	}
	if second.Bandwidth < first.Bandwidth || math.IsNaN(first.Bandwidth) {
		a.Bandwidth, a.Estimated = second.Bandwidth, second.Estimated
	}
	unknown := func(x topology.Arc) bool {
		return math.IsNaN(x.Bandwidth) && !(atSwitch && x.Probability < topology.ConfidentFrom)
	}
	if unknown(first) != unknown(second) { // both: nothing is known
		a.Estimated = true
	}
	if atSwitch {
		a.Probability = max(first.Probability, second.Probability)
	}
	return a
}
