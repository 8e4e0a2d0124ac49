package netlab

import (
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"regexp"
	"slices"

	"github.com/topocast/topocast/internal/gen"
	"github.com/topocast/topocast/topology"
	"github.com/topocast/topocast/topology/encode"
)

// wiring makes the graph that the file describes.
func (f *clusterFile) wiring(dir string, routing *topology.RouteChoice) (*topology.Graph, error) {
	given := 0
	for _, is := range []bool{f.Spec != "", f.Graph != "", len(f.Hosts) > 0} {
		if is {
			given++
		}
	}
	if given != 1 {
		return nil, errors.New("spec, graph, hosts: want exactly one of them")
	}
	var g *topology.Graph
	var err error
	field := "hosts"
	switch {
	case f.Spec != "":
		field = "spec"
		var c *gen.Cluster
		if c, err = gen.Parse(f.Spec); err == nil {
			g, *routing = c.Graph, c.Choice
			for host, node := range c.Node {
				if host != node {
					return nil, errors.New("spec: has levels inside the host: want hosts as leaves, and ranks_per_host")
				}
			}
		}
	case f.Graph != "":
		field = "graph"
		g, err = readGraph(filepath.Join(dir, f.Graph))
	default:
		names := append(append([]string{}, f.Hosts...), f.Switches...)
		g, err = topology.NewGraph(len(f.Hosts), len(f.Switches), names, nil)
	}
	if err != nil {
		return nil, fmt.Errorf("%s: %w", field, err)
	}
	return f.changeLinks(g, field == "hosts")
}

func readGraph(path string) (*topology.Graph, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return encode.ReadGraph(f)
}

// changeLinks returns the graph with the links of the file changed, or added. An entry is for both directions of a link, unless
// the file has one of its own for the other direction. Errors name the entry by its number in the file.
func (f *clusterFile) changeLinks(g *topology.Graph, add bool) (*topology.Graph, error) {
	number := map[string]int{}
	names := g.Names()
	for v := range names {
		if _, double := number[names[v]]; double {
			return nil, fmt.Errorf("hosts, switches: name %q given twice", names[v])
		}
		number[names[v]] = v
	}
	type pair struct{ u, v int }
	arcs := append([]topology.Arc{}, g.Arcs()...)
	at := map[pair]int{}
	for i, a := range arcs {
		at[pair{a.From, a.To}] = i
	}
	entry := map[pair]bool{}
	ends := make([]pair, len(f.Links))
	for i, l := range f.Links {
		u, known := number[l.From]
		if !known {
			return nil, fmt.Errorf("links[%d].from: unknown host or switch %q", i, l.From)
		}
		v, known := number[l.To]
		if !known {
			return nil, fmt.Errorf("links[%d].to: unknown host or switch %q", i, l.To)
		}
		ends[i] = pair{u, v}
		switch {
		case u == v:
			return nil, fmt.Errorf("links[%d].to: %q: want another than from", i, l.To)
		case entry[ends[i]]:
			return nil, fmt.Errorf("links[%d]: %s to %s given twice", i, l.From, l.To)
		case l.Latency != nil && !(*l.Latency >= 0 && *l.Latency <= 10):
			return nil, fmt.Errorf("links[%d].latency_s: %g: want in [0, 10]", i, *l.Latency)
		case l.Rate != nil && !(*l.Rate >= minRate && *l.Rate <= maxRate):
			return nil, fmt.Errorf("links[%d].rate_Bps: %g: want in [%g, %g]", i, *l.Rate, minRate, maxRate)
		case add && (l.Latency == nil || l.Rate == nil):
			return nil, fmt.Errorf("links[%d].latency_s, rate_Bps: want both", i)
		}
		if _, exists := at[ends[i]]; !exists && !add {
			return nil, fmt.Errorf("links[%d]: there is no link from %s to %s", i, l.From, l.To)
		}
		entry[ends[i]] = true
	}
	for i, l := range f.Links {
		for _, e := range []pair{ends[i], {ends[i].v, ends[i].u}} {
			if e != ends[i] && entry[e] {
				continue
			}
			k, exists := at[e]
			if !exists {
				k = len(arcs)
				at[e] = k
				arcs = append(arcs, topology.Arc{From: e.u, To: e.v, Probability: 1})
			}
			if l.Latency != nil {
				arcs[k].Latency = *l.Latency
			}
			if l.Rate != nil {
				arcs[k].Bandwidth = *l.Rate
			}
		}
	}
	return topology.NewGraph(g.Hosts(), g.Vertices()-g.Hosts(), names, arcs)
}

// The rates that the fabric can do anything sensible with, B/s.
const (
	minRate = 1e4
	maxRate = 1e11
)

var validName = regexp.MustCompile(`^[A-Za-z0-9]([A-Za-z0-9-]{0,30}[A-Za-z0-9])?$`)

// checkWiring tells whether a lab can be made of the graph.
func checkWiring(g *topology.Graph, cycles bool) error {
	if g.Hosts() < 2 || g.Hosts() > maxHosts {
		return fmt.Errorf("hosts: %d of them: want in [2, %d]", g.Hosts(), maxHosts)
	}
	for h := range g.Hosts() {
		if n := g.Name(h); !validName.MatchString(n) || n == control {
			return fmt.Errorf("hosts: name %q: want 1 to 32 letters, digits and inner hyphens, and not %q", n, control)
		}
	}
	for _, a := range g.Arcs() {
		name := fmt.Sprintf("links: %s to %s", g.Name(a.From), g.Name(a.To))
		switch {
		case math.IsNaN(a.Latency) || a.Latency > 10:
			return fmt.Errorf("%s: latency_s: %g: want in [0, 10]", name, a.Latency)
		case !(a.Bandwidth >= minRate && a.Bandwidth <= maxRate):
			return fmt.Errorf("%s: rate_Bps: %g: want in [%g, %g]", name, a.Bandwidth, minRate, maxRate)
		case g.ArcIndex(a.To, a.From) < 0:
			return fmt.Errorf("%s: there is no way back, and TCP needs one", name)
		}
	}
	if v := slices.IndexFunc(g.Parts(), func(part int) bool { return part > 0 }); v >= 0 {
		return fmt.Errorf("links: disconnected: no way from %s to %s", g.Name(0), g.Name(v))
	}
	if !cycles && !g.IsForest() {
		return fmt.Errorf(`links: %d of them between %d hosts and switches make a cycle: want a tree, or "cycles": true`, g.NumArcs()/2, g.Vertices())
	}
	return nil
}
