package encode

import (
	"bufio"
	"fmt"
	"io"
	"math"
	"slices"

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
	if g.Hosts() == 0 {
		return fmt.Errorf("no hosts")
	}
	for _, a := range g.Arcs() {
		if math.IsNaN(a.Latency) || math.IsNaN(a.Bandwidth) {
			return fmt.Errorf("link %s to %s: its latency or bandwidth is not known", g.Name(a.From), g.Name(a.To))
		}
	}
	routes, err := topology.NewRoutes(g, choice)
	if err != nil {
		return err
	}
	p := &simGridWriter{
		g: g, routes: routes, b: bufio.NewWriter(w), taken: map[string]bool{},
		zones: make([]string, g.Vertices()), children: make([][]int, g.Vertices()), links: make([]simGridHop, g.NumArcs()),
	}
	p.nameVertices()
	p.takeOffHosts()
	p.b.WriteString("<?xml version=\"1.0\"?>\n<!DOCTYPE platform SYSTEM \"https://simgrid.org/simgrid.dtd\">\n<platform version=\"4.1\">\n")
	if err := p.world(); err != nil {
		return err
	}
	p.b.WriteString("</platform>\n")
	return p.b.Flush() // the first error of all
}

// A simGridWriter writes a graph. Its texts are as they stand in XML.
type simGridWriter struct {
	g        *topology.Graph
	routes   *topology.Routes
	b        *bufio.Writer
	taken    map[string]bool // ids
	id       []string        // of vertices
	zones    []string        // ids of the zones of vertices of the core
	children [][]int         // the hosts that hang on a switch by one link
	core     []int           // all other vertices
	links    []simGridHop    // of arcs
}

// A simGridHop is how a route takes an arc: by a link, and one of its directions if it has two.
type simGridHop struct{ link, direction string }

// up and down are the ways of a link of two, and oneWay marks a route of which the way back is another one.
const (
	up     = ` direction="UP"`
	down   = ` direction="DOWN"`
	oneWay = ` symmetrical="NO"`
)

// unique is the id, or that with a mark if another thing has it.
func (p *simGridWriter) unique(id string) string {
	for p.taken[id] {
		id += xmlText("'")
	}
	p.taken[id] = true
	return id
}

// nameVertices gives each vertex an id of its own.
func (p *simGridWriter) nameVertices() {
	share := map[string]int{}
	for _, name := range p.g.Names() {
		share[name]++
	}
	for v, name := range p.g.Names() {
		id := name
		if share[name] > 1 {
			id = fmt.Sprintf("%s:%d", name, v)
		}
		p.id = append(p.id, p.unique(xmlText(id)))
	}
}

// takeOffHosts takes hosts with one link of two directions off, and hangs them on its switch. All else is the core.
func (p *simGridWriter) takeOffHosts() {
	g := p.g
	for v := range g.Vertices() {
		out := g.Out(v)
		if !g.IsSwitch(v) && len(out) == 1 && len(g.In(v)) == 1 && g.IsSwitch(out[0].To) && g.ArcIndex(out[0].To, v) >= 0 {
			p.children[out[0].To] = append(p.children[out[0].To], v)
		} else {
			p.core = append(p.core, v)
		}
	}
}

// hasHosts tells whether a vertex of the core is a host, or one hangs on it.
func (p *simGridWriter) hasHosts(v int) bool { return !p.g.IsSwitch(v) || len(p.children[v]) > 0 }

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
			return fmt.Errorf("%d switches: SimGrid looks for the fewest links between them, which are not the shortest paths from %s: want at most 256", len(p.core), p.g.Name(v))
		}
		routing = fewestLinks
	}
	fmt.Fprintf(p.b, "<zone id=\"%s\" routing=\"%s\">\n", p.unique("world"), routing)
	for _, v := range p.core {
		p.zone(v)
	}
	var between []int // arcs of the core
	for i, a := range p.g.Arcs() {
		if p.zones[a.From] == "" || p.zones[a.To] == "" {
			continue
		}
		between = append(between, i)
		if a.From < a.To || p.g.ArcIndex(a.To, a.From) < 0 {
			p.link(a.From, a.To)
		}
	}
	if routing == "Full" {
		p.coreRoutes()
	} else {
		for _, i := range between {
			p.direct("zoneRoute", p.gateways(p.g.Arcs()[i].From, p.g.Arcs()[i].To), i)
		}
	}
	p.b.WriteString("</zone>\n")
	return nil
}

// zone writes a vertex of the core with the hosts that hang on it.
func (p *simGridWriter) zone(v int) {
	p.zones[v] = p.unique("zone " + p.id[v])
	fmt.Fprintf(p.b, "<zone id=\"%s\" routing=\"%s\">\n", p.zones[v], fewestLinks)
	p.vertex(v)
	for _, host := range p.children[v] {
		p.vertex(host)
	}
	for _, host := range p.children[v] {
		p.link(host, v)
	}
	for _, host := range p.children[v] {
		for _, ends := range [][2]int{{host, v}, {v, host}} {
			p.direct("route", fmt.Sprintf(`src="%s" dst="%s"`, p.id[ends[0]], p.id[ends[1]]), p.g.ArcIndex(ends[0], ends[1]))
		}
	}
	p.b.WriteString("</zone>\n")
}

// gateways are the attributes of a route from the zone of one vertex to that of another.
func (p *simGridWriter) gateways(u, v int) string {
	return fmt.Sprintf(`src="%s" dst="%s" gw_src="%s" gw_dst="%s"`, p.zones[u], p.zones[v], p.id[u], p.id[v])
}

func (p *simGridWriter) vertex(v int) {
	name := xmlText(p.g.Name(v))
	switch {
	case p.g.IsSwitch(v):
		fmt.Fprintf(p.b, "<router id=\"%s\"/>\n", p.id[v])
	case name == p.id[v]:
		fmt.Fprintf(p.b, "<host id=\"%s\" speed=\"1Gf\"/>\n", name)
	default:
		fmt.Fprintf(p.b, "<host id=\"%s\" speed=\"1Gf\"><prop id=\"name\" value=\"%s\"/></host>\n", p.id[v], name)
	}
}

// link writes the link between two vertices, as one of two directions or as one for each.
func (p *simGridWriter) link(u, v int) {
	arcs := p.g.Arcs()
	there, back := p.g.ArcIndex(u, v), p.g.ArcIndex(v, u)
	isDuplex := there >= 0 && back >= 0 && sameValues(arcs[there], arcs[back])
	for _, i := range []int{there, back} {
		if i < 0 || isDuplex && i == back {
			continue
		}
		a, policy := arcs[i], ""
		from, to := p.id[a.From], p.id[a.To]
		p.links[i].link = p.unique(from + " to " + to)
		if isDuplex {
			policy = ` sharing_policy="SPLITDUPLEX"`
			p.links[i].direction = up
			p.links[back] = simGridHop{p.links[i].link, down}
		}
		fmt.Fprintf(p.b, "<link id=\"%s\" bandwidth=\"%sBps\" latency=\"%ss\"%s>", p.links[i].link, exact(a.Bandwidth), exact(a.Latency), policy)
		fmt.Fprintf(p.b, "<prop id=\"from\" value=\"%s\"/><prop id=\"to\" value=\"%s\"/></link>\n", from, to)
	}
}

// direct writes the route over one arc. That over a link of two directions is for both, and is written with the first.
func (p *simGridWriter) direct(element, ends string, arc int) {
	switch p.links[arc].direction {
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
		fmt.Fprintf(p.b, `<link_ctn id="%s"%s/>`, p.links[i].link, p.links[i].direction)
	}
	fmt.Fprintf(p.b, "</%s>\n", element)
}

// coreRoutes writes the routes between all zones that have hosts, as far as there are any.
func (p *simGridWriter) coreRoutes() {
	var arcs []int32
	for _, u := range p.core {
		for _, v := range p.core {
			if u == v || !p.hasHosts(u) || !p.hasHosts(v) {
				continue
			}
			var err error
			if arcs, err = p.routes.AppendRoute(arcs[:0], u, v); err == nil { // else there is none
				p.route("zoneRoute", p.gateways(u, v)+oneWay, arcs...)
			}
		}
	}
}

// detour is a vertex of the core from which a path of the fewest links is longer than another one; -1 if there is none. It
// looks at the last links of paths of the fewest links. If these are also the last ones of shortest paths, so are all before.
func (p *simGridWriter) detour() int {
	g := p.g
	shortest, fewest := topology.NewPaths(g, nil), topology.NewPaths(g, slices.Repeat([]float64{1}, g.NumArcs()))
	dist, hops := make([]float64, g.Vertices()), make([]float64, g.Vertices())
	for _, source := range p.core {
		if !p.hasHosts(source) {
			continue
		}
		shortest.From(source, dist)
		fewest.From(source, hops)
		for _, a := range g.Arcs() {
			isLast := hops[a.To] == hops[a.From]+1
			if isLast && dist[a.From]+a.Latency > dist[a.To]*(1+sameLatency) {
				return source
			}
		}
	}
	return -1
}
