package encode

import (
	"bufio"
	"fmt"
	"io"
	"math"

	"github.com/topocast/topocast/topology"
)

const (
	// mostRoutes bounds the routes that are written one by one; each takes some 200 bytes.
	mostRoutes = 1 << 16

	// sameLatency is how far, relative, sums of the same latencies in another order may be apart.
	sameLatency = 1e-9

	// fewestLinks is the routing of SimGrid that looks for the routes of fewest links, when they are wanted.
	fewestLinks = "DijkstraCache"
)

// WriteSimGrid writes a graph as a platform file of SimGrid, version 4.1. Hosts are named as they are;
// where several share a name, or a switch has it, the number of the vertex follows after a colon. Hosts with one link
// are a zone with their switch, so that no pair of hosts needs a route. Between the zones routes are
// those of topology.Routes with the given choice, one for each pair. In trees, and where there are more than 65,536,
// SimGrid looks for the routes of fewest links itself, if these are the shortest ones.
//
// SimGrid wants the speed of hosts, which is not known: it is 1 Gflop/s. Its default model of the network multiplies
// latencies by 13.01 and takes 3 % off bandwidths, to make TCP of the sizes of links; these were measured, so
// say --cfg=network/model:CM02.
//
// It refuses links of unknown latency or bandwidth, and graphs that SimGrid could not route.
func WriteSimGrid(w io.Writer, g *topology.Graph, choice topology.RouteChoice) (err error) {
	defer naming("SimGrid", &err)
	p, err := newSimGridWriter(g, choice)
	if err != nil {
		return err
	}
	b := bufio.NewWriter(w)
	p.b = b
	b.WriteString("<?xml version=\"1.0\"?>\n<!DOCTYPE platform SYSTEM \"https://simgrid.org/simgrid.dtd\">\n<platform version=\"4.1\">\n")
	if err := p.world(); err != nil {
		return err
	}
	b.WriteString("</platform>\n")
	return b.Flush() // the first error of all
}

type simGridWriter struct {
	g        *topology.Graph
	routes   *topology.Routes
	b        *bufio.Writer
	name     []string        // of vertices, of each another one
	id       []string        // the same as it stands in XML
	taken    map[string]bool // ids
	children [][]int         // the hosts that hang on a switch by one link
	core     []int           // all other vertices
	hasHosts []bool          // the vertex of the core is a host, or one hangs on it
	links    []simGridHop    // of arcs
}

// A simGridHop is how a route takes an arc: by a link, as in XML, and one of its ways if it has two.
type simGridHop struct{ link, way string }

// up and down are the ways of a link of two, and oneWay marks a route of which the way back is another one.
const (
	up     = ` direction="UP"`
	down   = ` direction="DOWN"`
	oneWay = ` symmetrical="NO"`
)

func newSimGridWriter(g *topology.Graph, choice topology.RouteChoice) (*simGridWriter, error) {
	if g.Hosts() == 0 {
		return nil, fmt.Errorf("no hosts")
	}
	for _, a := range g.Arcs() {
		if math.IsNaN(a.Latency) || math.IsNaN(a.Bandwidth) {
			return nil, fmt.Errorf("link %s to %s: its latency or bandwidth is not known", g.Name(a.From), g.Name(a.To))
		}
	}
	routes, err := topology.NewRoutes(g, choice)
	if err != nil {
		return nil, err
	}
	p := &simGridWriter{g: g, routes: routes, taken: map[string]bool{}, links: make([]simGridHop, g.NumArcs())}
	share := map[string]int{}
	for v := range g.Vertices() {
		share[g.Name(v)]++
	}
	for v := range g.Vertices() {
		id := g.Name(v)
		if share[id] > 1 {
			id = fmt.Sprintf("%s:%d", id, v)
		}
		id = p.unique(id)
		p.name, p.id = append(p.name, id), append(p.id, xmlText(id))
	}
	p.takeOffHosts()
	return p, nil
}

// unique is the id, or that with a mark if another thing has it.
func (p *simGridWriter) unique(id string) string {
	for p.taken[id] {
		id += "'"
	}
	p.taken[id] = true
	return id
}

// takeOffHosts takes hosts with one link of two ways off, and hangs them on its switch. All else is the core.
func (p *simGridWriter) takeOffHosts() {
	g := p.g
	p.children, p.hasHosts = make([][]int, g.Vertices()), make([]bool, g.Vertices())
	for v := range g.Vertices() {
		out := g.Out(v)
		if !g.IsSwitch(v) && len(out) == 1 && len(g.In(v)) == 1 && g.IsSwitch(out[0].To) && g.ArcIndex(out[0].To, v) >= 0 {
			p.children[out[0].To] = append(p.children[out[0].To], v)
			continue
		}
		p.core = append(p.core, v)
		p.hasHosts[v] = !g.IsSwitch(v) || len(p.children[v]) > 0
	}
}

// world writes the zone of all.
func (p *simGridWriter) world() error {
	if len(p.core) == 1 {
		p.zone(p.core[0])
		return nil
	}
	routing := "Full"
	if p.g.IsForest() {
		routing = fewestLinks // there is one way
	} else if len(p.core)*(len(p.core)-1) > mostRoutes {
		if v := p.detour(); v >= 0 {
			return fmt.Errorf("%d switches: SimGrid looks for the fewest links between them, which are not the shortest ways from %s: want at most 256", len(p.core), p.g.Name(v))
		}
		routing = fewestLinks
	}
	fmt.Fprintf(p.b, "<zone id=\"%s\" routing=\"%s\">\n", p.unique("world"), routing)
	zones := make(map[int]string, len(p.core))
	for _, v := range p.core {
		zones[v] = p.zone(v)
	}
	for _, a := range p.g.Arcs() {
		if zones[a.From] != "" && zones[a.To] != "" && (a.From < a.To || p.g.ArcIndex(a.To, a.From) < 0) {
			p.link(a.From, a.To)
		}
	}
	if routing == "Full" {
		p.coreRoutes(zones)
	} else {
		for i, a := range p.g.Arcs() {
			if zones[a.From] != "" && zones[a.To] != "" {
				p.direct("zoneRoute", p.gateways(zones, a.From, a.To), i)
			}
		}
	}
	p.b.WriteString("</zone>\n")
	return nil
}

// zone writes a vertex of the core with the hosts that hang on it, and returns the id of the zone.
func (p *simGridWriter) zone(v int) string {
	id := xmlText(p.unique("zone " + p.name[v]))
	fmt.Fprintf(p.b, "<zone id=\"%s\" routing=\"%s\">\n", id, fewestLinks)
	p.vertex(v)
	for _, host := range p.children[v] {
		p.vertex(host)
	}
	for _, host := range p.children[v] {
		p.link(host, v)
	}
	for _, host := range p.children[v] {
		for _, way := range [][2]int{{host, v}, {v, host}} {
			p.direct("route", fmt.Sprintf(`src="%s" dst="%s"`, p.id[way[0]], p.id[way[1]]), p.g.ArcIndex(way[0], way[1]))
		}
	}
	p.b.WriteString("</zone>\n")
	return id
}

// gateways are the attributes of a route from the zone of one vertex to that of another.
func (p *simGridWriter) gateways(zones map[int]string, u, v int) string {
	return fmt.Sprintf(`src="%s" dst="%s" gw_src="%s" gw_dst="%s"`, zones[u], zones[v], p.id[u], p.id[v])
}

func (p *simGridWriter) vertex(v int) {
	if p.g.IsSwitch(v) {
		fmt.Fprintf(p.b, "<router id=\"%s\"/>\n", p.id[v])
		return
	}
	fmt.Fprintf(p.b, "<host id=\"%s\" speed=\"1Gf\"", p.id[v])
	if name := xmlText(p.g.Name(v)); name != p.id[v] {
		fmt.Fprintf(p.b, "><prop id=\"name\" value=\"%s\"/></host>\n", name)
		return
	}
	p.b.WriteString("/>\n")
}

// link writes the link between two vertices, as one of two ways or as one for each.
func (p *simGridWriter) link(u, v int) {
	for _, way := range [][2]int{{u, v}, {v, u}} {
		arc := p.g.ArcIndex(way[0], way[1])
		if arc < 0 {
			continue
		}
		a, policy := p.g.Arcs()[arc], ""
		id := xmlText(p.unique(p.name[way[0]] + " to " + p.name[way[1]]))
		p.links[arc] = simGridHop{link: id}
		if back := p.g.ArcIndex(way[1], way[0]); back >= 0 && sameValues(a, p.g.Arcs()[back]) {
			policy = ` sharing_policy="SPLITDUPLEX"`
			p.links[arc].way = up
			p.links[back] = simGridHop{id, down}
		}
		fmt.Fprintf(p.b, "<link id=\"%s\" bandwidth=\"%sBps\" latency=\"%ss\"%s>", id, exact(a.Bandwidth), exact(a.Latency), policy)
		fmt.Fprintf(p.b, "<prop id=\"from\" value=\"%s\"/><prop id=\"to\" value=\"%s\"/></link>\n", p.id[way[0]], p.id[way[1]])
		if policy != "" {
			return
		}
	}
}

// direct writes the route over one arc. That over a link of two ways is for both, and is written with the first.
func (p *simGridWriter) direct(element, ends string, arc int) {
	switch p.links[arc].way {
	case "":
		p.route(element, ends+oneWay, int32(arc))
	case up:
		p.route(element, ends, int32(arc))
	}
}

// route writes a route between two ends.
func (p *simGridWriter) route(element, ends string, arcs ...int32) {
	fmt.Fprintf(p.b, "<%s %s>", element, ends)
	for _, i := range arcs {
		fmt.Fprintf(p.b, `<link_ctn id="%s"%s/>`, p.links[i].link, p.links[i].way)
	}
	fmt.Fprintf(p.b, "</%s>\n", element)
}

// coreRoutes writes the routes between all zones that have hosts, as far as there are any.
func (p *simGridWriter) coreRoutes(zones map[int]string) {
	var arcs []int32
	for _, u := range p.core {
		for _, v := range p.core {
			if u == v || !p.hasHosts[u] || !p.hasHosts[v] {
				continue
			}
			var err error
			if arcs, err = p.routes.AppendRoute(arcs[:0], u, v); err != nil {
				continue // there is none
			}
			p.route("zoneRoute", p.gateways(zones, u, v)+oneWay, arcs...)
		}
	}
}

// detour is a vertex of the core from which a way of the fewest links is longer than another one; -1 if
// there is none.
func (p *simGridWriter) detour() int {
	g := p.g
	shortest := topology.NewPaths(g, nil)
	dist, longest := make([]float64, g.Vertices()), make([]float64, g.Vertices())
	hops := make([]int, g.Vertices())
	for _, source := range p.core {
		if !p.hasHosts[source] {
			continue
		}
		shortest.From(source, dist)
		for v := range hops {
			hops[v] = -1
		}
		hops[source], longest[source] = 0, 0
		for queue := []int{source}; len(queue) > 0; queue = queue[1:] {
			u := queue[0] // all ways of fewest links to it were seen
			if longest[u] > dist[u]*(1+sameLatency) {
				return source
			}
			for _, a := range g.Out(u) {
				switch {
				case hops[a.To] < 0:
					hops[a.To], longest[a.To] = hops[u]+1, longest[u]+a.Latency
					queue = append(queue, a.To)
				case hops[a.To] == hops[u]+1:
					longest[a.To] = max(longest[a.To], longest[u]+a.Latency)
				}
			}
		}
	}
	return -1
}
