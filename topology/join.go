package topology

import (
	"fmt"
	"math"
	"slices"

	"github.com/topocast/topocast/internal/quantity"
	"github.com/topocast/topocast/internal/words"
)

// A NodeModel is what was found inside one node of a cluster: the hosts of its
// Result are the node's cores.
type NodeModel struct {
	Result *Result
	// External is the host of the Result that stands for a neighbouring node: latencies from there to all cores were
	// measured, too. It is -1 if that was not done. The node's own vertex is then put at no latency on the vertex
	// from which the farthest core is nearest.
	External int
	// Core is the host of the Result that took part in the measurements
	// between nodes.
	Core int
	// Hosts are the numbers that the Result's hosts, External left out, have in the joined machine;
	// nil, in all nodes alike: they are numbered node after node.
	Hosts []int
}

// Join makes one machine of a model between nodes and one model inside each
// node; host i of inter is node i. It follows Bufe 2014, section 2.7.
//
// The hosts of the result are the cores, External ones left out. After them come the nodes' own vertices, where the
// outside begins; the switches inside nodes, node after node; the switches between nodes. The vertex of a node takes the
// place of the external one. Its links are shortened by the least latency among them: the rest belongs to the path outside.
//
// What every message pays at its ends is the least of the overheads inside nodes. Where nodes forward messages of
// others, the one between them counts, too. What messages inside a node pay beyond that is on the links of its cores. What messages between nodes
// pay beyond it is on the way out of each node. What lies between the node's vertex and the core that measured is taken off. Where that is more,
// the links between nodes are shortened by the rest. What would fall below zero becomes zero, with a warning.
//
// Nodes become groups of a level named "node", with confidence 1, since nobody had to find them. Nodes need not be alike.
// Levels of different nodes become one if they have one name. Where names are mere numbers, latencies must differ by less than a half.
func Join(inter *Result, nodes []NodeModel) (*Result, error) {
	n := inter.Graph.hosts
	if len(nodes) != n {
		return nil, fmt.Errorf("topology: join: %d node models for %d nodes", len(nodes), n)
	}
	j := joiner{inter: inter, nodes: slices.Clone(nodes)}
	if err := j.check(); err != nil {
		return nil, err
	}
	j.number()
	j.overhead = j.leastOverhead()
	for i := range nodes {
		j.inside(i)
	}
	j.outside()
	if len(j.stranded) > 0 {
		j.warnings = append(j.warnings, "the core that measured has no way outside in "+words.List(j.stranded))
	}
	graph, err := NewGraph(j.cores, len(j.names)-j.cores, j.names, j.arcs)
	if err != nil {
		return nil, err
	}
	hierarchy, err := j.hierarchy()
	if err != nil {
		return nil, err
	}
	r := &Result{Graph: graph, Hierarchy: hierarchy, Warnings: j.warnings}
	r.Fit = Fit{
		Family: inter.Fit.Family, R2: math.NaN(), Residual: math.NaN(), TreeLikeness: math.NaN(), Noise: math.NaN(), Overhead: j.overhead,
		Levels: slices.Repeat([]float64{math.NaN()}, len(hierarchy.Levels())+1),
	}
	if r.Fit.Family == FamilyFlat && len(hierarchy.Groups()) > 1 {
		r.Fit.Family = FamilyTree
	}
	return r, nil
}

type joiner struct {
	inter    *Result
	nodes    []NodeModel
	cores    int
	vertex   [][]int // per node, vertex of its model -> vertex of the whole
	own      []int   // per node, its own vertex
	between  []int   // vertex of inter -> vertex of the whole
	names    []string
	arcs     []Arc
	overhead float64   // s, what every message pays at its ends
	shorten  []float64 // per node, what the links between nodes lose
	stranded []string  // nodes whose core that measured has no way outside
	warnings []string
}

// check refuses models that cannot be joined, and gives the hosts of the nodes their numbers where nobody has. Together they
// must be 0, 1, 2 and so on.
func (j *joiner) check() error {
	var all []int
	for i := range j.nodes {
		m := &j.nodes[i]
		if m.Result == nil || m.Result.Graph == nil || m.Result.Hierarchy == nil {
			return fmt.Errorf("topology: join: node %d: no model", i)
		}
		hosts := m.Result.Graph.hosts
		switch {
		case m.External < -1 || m.External >= hosts:
			return fmt.Errorf("topology: join: node %d: External %d: want a host of %d, or -1", i, m.External, hosts)
		case m.Core < 0 || m.Core >= hosts || m.Core == m.External:
			return fmt.Errorf("topology: join: node %d: Core %d: want a host of %d, not the external one", i, m.Core, hosts)
		}
		if m.External >= 0 {
			hosts--
		}
		if m.Hosts == nil {
			for h := range hosts {
				m.Hosts = append(m.Hosts, len(all)+h)
			}
		}
		if len(m.Hosts) != hosts {
			return fmt.Errorf("topology: join: node %d: %d numbers in Hosts: want %d", i, len(m.Hosts), hosts)
		}
		all = append(all, m.Hosts...)
	}
	slices.Sort(all)
	for want, h := range all {
		if h != want {
			return fmt.Errorf("topology: join: there is %d in Hosts in place of %d: want each number from 0 to %d once", h, want, len(all)-1)
		}
	}
	j.cores = len(all)
	return nil
}

// number gives the vertices of all models their numbers and names in the whole.
func (j *joiner) number() {
	inter := j.inter.Graph
	j.vertex, j.names = make([][]int, len(j.nodes)), make([]string, j.cores)
	add := func(name string) int {
		j.names = append(j.names, name)
		return len(j.names) - 1
	}
	for i, m := range j.nodes {
		g, hosts := m.Result.Graph, m.Hosts
		j.vertex[i] = make([]int, g.vertices)
		j.own = append(j.own, add(inter.Name(i)))
		for h := range g.hosts {
			if h == m.External {
				j.vertex[i][h] = j.own[i]
				continue
			}
			j.vertex[i][h] = hosts[0]
			j.names[hosts[0]] = inter.Name(i) + "." + g.Name(h)
			hosts = hosts[1:]
		}
	}
	for i, m := range j.nodes {
		g := m.Result.Graph
		for s := g.hosts; s < g.vertices; s++ {
			j.vertex[i][s] = add(inter.Name(i) + "." + g.Name(s))
		}
	}
	j.between = slices.Clone(j.own)
	for s := inter.hosts; s < inter.vertices; s++ {
		j.between = append(j.between, add(inter.Name(s)))
	}
}

// leastOverhead is what every message pays at its ends at least. Links of nodes that forward no messages may make up for less between them.
func (j *joiner) leastOverhead() float64 {
	least := math.Inf(1)
	for _, m := range j.nodes {
		if len(m.Hosts) > 1 {
			least = min(least, m.Result.Fit.Overhead)
		}
	}
	forwards := false
	for i := range j.nodes {
		forwards = forwards || len(j.inter.Graph.Out(i)) > 1
	}
	if forwards || math.IsInf(least, 1) {
		least = min(least, j.inter.Fit.Overhead)
	}
	return least
}

// inside adds the arcs of node i.
func (j *joiner) inside(i int) {
	m := j.nodes[i]
	g := m.Result.Graph
	least := math.Inf(1)
	for _, a := range g.arcs {
		if (a.From == m.External || a.To == m.External) && a.Latency < least {
			least = a.Latency
		}
	}
	own := j.ownOverhead(i)
	lengths := g.Latencies()
	for k, a := range g.arcs {
		switch {
		case a.From == m.External || a.To == m.External:
			lengths[k] -= least
		case a.From < g.hosts || a.To < g.hosts:
			lengths[k] += own
		}
	}
	door := m.External
	finder, dist := NewPaths(g, lengths), make([]float64, g.vertices)
	if door < 0 {
		reach := math.Inf(1)
		for v := range g.vertices {
			if v < g.hosts && g.vertices > g.hosts {
				continue // a switch, if there is one
			}
			finder.From(v, dist)
			if far := slices.Max(dist[:g.hosts]); far < reach || door < 0 {
				door, reach = v, far
			}
		}
	}
	finder.From(m.Core, dist)
	if math.IsInf(dist[door], 1) || math.IsNaN(dist[door]) {
		dist[door] = 0
		j.stranded = append(j.stranded, j.inter.Graph.Name(i))
	}
	end := (j.inter.Fit.Overhead - j.overhead) / 2
	j.shorten = append(j.shorten, max(0, dist[door]-end))
	out := max(0, end-dist[door])
	for k, a := range g.arcs {
		if a.Latency = lengths[k]; a.From == m.External || a.To == m.External {
			a.Latency += out
		}
		a.From, a.To = j.vertex[i][a.From], j.vertex[i][a.To]
		j.arcs = append(j.arcs, a)
	}
	if m.External < 0 {
		j.arcs = AppendLink(j.arcs, j.vertex[i][door], j.own[i], out, math.NaN())
	}
}

// ownOverhead is what the link of each core of node i gets of the overhead inside the node, half at either end of a message. Cores that
// are wired to each other have no link of their own, and a warning says that the rest is left out.
func (j *joiner) ownOverhead(i int) float64 {
	m := j.nodes[i]
	g, rest := m.Result.Graph, m.Result.Fit.Overhead-j.overhead
	if !(rest > 0) || len(m.Hosts) < 2 {
		return 0
	}
	for h := range g.hosts {
		if out := g.Out(h); h != m.External && (len(out) != 1 || !g.IsSwitch(out[0].To)) {
			j.warnings = append(j.warnings, fmt.Sprintf("messages inside %s pay %s more at their ends than those between nodes, which is left out: its cores are wired to each other",
				j.inter.Graph.Name(i), quantity.Seconds(rest)))
			return 0
		}
	}
	return rest / 2
}

// outside adds the arcs between nodes.
func (j *joiner) outside() {
	negative := 0
	for _, a := range j.inter.Graph.arcs {
		for _, end := range [2]int{a.From, a.To} {
			if end < len(j.shorten) {
				a.Latency -= j.shorten[end]
			}
		}
		if a.Latency < 0 {
			a.Latency = 0
			negative++
		}
		a.From, a.To = j.between[a.From], j.between[a.To]
		j.arcs = append(j.arcs, a)
	}
	if negative > 0 {
		j.warnings = append(j.warnings, fmt.Sprintf("%d arcs between nodes are shorter than the way inside the nodes, and became 0", negative))
	}
}

// hierarchy nests the groups inside nodes in nodes, and nodes in groups of nodes.
func (j *joiner) hierarchy() (*Hierarchy, error) {
	inside := make([][]Level, len(j.nodes))
	for i, m := range j.nodes {
		inside[i] = m.Result.Hierarchy.levels
	}
	joined, of := alignLevels(inside)
	number := map[*joinedLevel]int{}
	var levels []Level
	for l, k := range joined {
		number[k] = l
		levels = append(levels, Level{Name: k.name, Kind: k.kind})
	}
	node := len(levels)
	levels = append(levels, Level{Name: "node", Kind: KindHost})
	levels = append(levels, j.inter.Hierarchy.levels...)

	var groups []Group
	members := make([][]int, len(j.nodes))
	for i, m := range j.nodes {
		for k, g := range m.Result.Hierarchy.groups {
			var hosts []int
			for _, h := range g.Hosts {
				if h != m.External {
					hosts = append(hosts, j.vertex[i][h])
				}
			}
			if k == 0 {
				members[i] = hosts
				groups = append(groups, Group{Hosts: hosts, Level: node, Latency: m.apart(), Confidence: 1})
			} else if len(hosts) < len(members[i]) { // a group of all cores is the node
				groups = append(groups, Group{Hosts: hosts, Level: number[of[i][g.Level]], Latency: g.Latency, Confidence: g.Confidence})
			}
		}
	}
	for _, g := range j.inter.Hierarchy.groups[1:] {
		var hosts []int
		for _, i := range g.Hosts {
			hosts = append(hosts, members[i]...)
		}
		groups = append(groups, Group{Hosts: hosts, Level: node + 1 + g.Level, Latency: g.Latency, Confidence: g.Confidence})
	}
	groups = slices.DeleteFunc(groups, func(g Group) bool { return len(g.Hosts) < 2 || len(g.Hosts) >= j.cores })

	apart := j.inter.Hierarchy.groups[0].Latency
	if len(j.nodes) == 1 {
		apart = j.nodes[0].apart()
	}
	levels = keepLevels(levels, groups, nil)
	for l, found := range NewLevels(groups) {
		levels[l].Latency, levels[l].Confidence = found.Latency, found.Confidence
		if isNeutral(levels[l].Name) { // counted anew: inside and outside both begin with 1
			levels[l].Name = found.Name
		}
	}
	return NewHierarchy(j.cores, levels, groups, apart)
}

// apart is the latency in s that is typical between the cores of the node which
// its smaller groups do not join. Where the node and what is outside were not told
// apart, latencies to the outside are as those inside.
func (m *NodeModel) apart() float64 {
	h, g := m.Result.Hierarchy, m.Result.Graph
	if m.External < 0 {
		return h.groups[0].Latency
	}
	for k := range h.groups {
		if own := &h.groups[k]; len(own.Hosts) == g.hosts-1 && !slices.Contains(own.Hosts, m.External) {
			return own.Latency
		}
	}
	return h.groups[0].Latency
}
