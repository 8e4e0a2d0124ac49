package encode

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"strings"
	"sync"

	"github.com/topocast/topocast/internal/quantity"
	"github.com/topocast/topocast/internal/words"
	"github.com/topocast/topocast/topology"
)

// ReadSimGrid reads a platform file of SimGrid, version 4 or 4.1, as the wiring that it describes: what WriteSimGrid
// writes, and others whose routes say how links join. Hosts are hosts, routers switches, and a
// route of one link is a link between its ends, or between the gateways of zones. Zones may
// nest, and are called AS in older files; how they find routes does not matter. A cluster or
// a cabinet of hosts becomes a switch, and so does a zone whose hosts have a host_link each; clusters may be wired as fat trees, tori
// and dragonflies instead. A message passes its backbone once between any two of
// its hosts, so each link of a host gets half of its latency. In a zone with routing Star, a route that names one end alone is the link of
// that host to the middle of the zone.
//
// Routes of more than one link are passed over if the links say what they join in the properties from and
// to, and refused otherwise: the file does not tell what lies between. Peers, wireless links and
// bypass routes are refused, too. Routes from a host to
// itself, speeds and traces are passed over.
func ReadSimGrid(r io.Reader, _ []string) (_ *topology.Graph, warnings []string, err error) {
	defer naming("SimGrid", &err)
	platform, err := readXML(r, "platform")
	if err != nil {
		return nil, nil, err
	}
	p := simGridReader{links: map[string]*simGridLink{}}
	if version := platform.attr("version"); version != "4" && version != "4.1" {
		p.fail("version %q: want 4 or 4.1", shorten(version))
	}
	for _, e := range platform.children("host", "router", "link", "route", "zoneRoute", "ASroute", "host_link", "backbone") {
		p.fail("line %d: element <%s>: want it in a zone", e.line, e.Name.Local)
	}
	p.declare(platform)
	if p.err == nil && len(p.vertices) == 0 {
		return nil, nil, errors.New("no host is in it: want the platform, not the deployment")
	}
	p.wire(platform)
	return p.graph(nil)
}

// A simGridReader makes a sketch of zones.
type simGridReader struct {
	sketch
	links map[string]*simGridLink
}

// A simGridLink is a link, with the vertices that it joins if its properties say so.
type simGridLink struct {
	sketchEdge
	from, to string
}

// isPlaced tells whether the link itself says what it joins.
func (l *simGridLink) isPlaced() bool { return l.from != "" && l.to != "" }

// property is the value of an element <prop>.
func property(e *element, id string) (value string) {
	for _, p := range e.children("prop") {
		if p.attr("id") == id {
			value = p.attr("value")
		}
	}
	return value
}

// declare reads the hosts, switches and links of a zone and of those in it, before wire joins them.
func (p *simGridReader) declare(zone *element) {
	for _, e := range zone.inside {
		if p.err != nil {
			return
		}
		id, name := e.attr("id"), e.Name.Local
		p.place = fmt.Sprintf("line %d: ", e.line)
		switch name {
		case "host":
			p.point(id, property(e, "name"), kindHost)
		case "router":
			p.point(id, property(e, "name"), kindSwitch)
		case "link":
			p.link(e)
		case "cluster":
			p.cluster(e)
		case "cabinet":
			p.addHosts(e)
		case "peer":
			p.fail("peer %q: its place is told by coordinates, not by links: want hosts and links", shorten(id))
		case "zone", "AS":
			p.declare(e)
		case "route", "zoneRoute", "ASroute", "host_link", "backbone": // for wire
		case "config", "prop", "actor", "process", "trace", "trace_connect", "random", "storage", "storage_type", "mount": // not about wiring
		default:
			p.fail("element <%s>: want zone, host, router, link, cluster, route or zoneRoute", name)
		}
	}
}

// wire reads what the links and routes of a zone and of those in it join.
func (p *simGridReader) wire(zone *element) {
	for _, inner := range zone.children("zone", "AS") {
		p.wire(inner)
	}
	for _, e := range zone.children("link") {
		if l := p.links[e.attr("id")]; l != nil && l.isPlaced() {
			p.enter(e)
			edge := l.sketchEdge
			edge.oneWay = e.attr("sharing_policy") != "SPLITDUPLEX"
			p.connect(l.from, l.to, edge)
		}
	}
	middle := sync.OnceValues(func() (hub string, half float64) { return p.middle(zone) })
	for _, e := range zone.children("cabinet") {
		hosts, link := p.hostsOf(e)
		hub, half := middle()
		p.tie(hosts, link, hub, half)
	}
	for _, e := range zone.children("host_link") {
		p.hostLink(e, middle)
	}
	for _, e := range zone.children("route", "zoneRoute", "ASroute") {
		p.route(e, middle)
	}
}

// enter puts the line of an element, what it is and its id before errors.
func (p *simGridReader) enter(e *element) {
	p.place = fmt.Sprintf("line %d: %s %q: ", e.line, e.Name.Local, shorten(e.attr("id")))
}

// point adds a host or a switch, which may have another name than its id.
func (p *simGridReader) point(id, name string, kind vertexKind) {
	if _, twice := p.number[id]; twice || id == "" {
		p.fail("%s %q: want an id of its own", kind, shorten(id))
	}
	p.add(id, map[string]string{"label": name, "kind": string(kind)})
}

// edgeOf is an edge of the given bandwidth and latency, which may be left out.
func (p *simGridReader) edgeOf(bandwidth, latency string) (e sketchEdge) {
	e = newEdge(false)
	var err error
	if e.Bandwidth, _, err = quantity.Parse(bandwidth, true); err != nil {
		p.fail("bandwidth %v", err)
	}
	if e.Latency, _, err = quantity.Parse(cmp.Or(latency, "0"), false); err != nil {
		p.fail("latency %v", err)
	}
	return e
}

func (p *simGridReader) link(e *element) {
	p.enter(e)
	id := e.attr("id")
	switch {
	case e.attr("sharing_policy") == "WIFI":
		p.fail("wireless: it joins no two ends")
	case p.links[id] != nil:
		p.fail("is there twice")
	}
	p.links[id] = &simGridLink{p.edgeOf(e.attr("bandwidth"), e.attr("latency")), property(e, "from"), property(e, "to")}
}

// route reads what a route of one link joins. A route that names one end alone joins it with the middle of its zone.
func (p *simGridReader) route(r *element, middle func() (string, float64)) {
	from, to := r.attr("src"), r.attr("dst")
	p.place = fmt.Sprintf("line %d: route %q to %q: ", r.line, shorten(from), shorten(to))
	var link *simGridLink
	placed := 0
	uses := r.children("link_ctn")
	for _, use := range uses {
		if link = p.links[use.attr("id")]; link == nil {
			p.fail("there is no link %q", shorten(use.attr("id")))
			return
		}
		if link.isPlaced() {
			placed++
		}
	}
	if source, sink := r.attr("gw_src"), r.attr("gw_dst"); source != "" || sink != "" {
		from, to = source, sink
	} else if (from == "") != (to == "") {
		hub, _ := middle()
		from, to = cmp.Or(from, hub), cmp.Or(to, hub)
	}
	switch {
	case placed == len(uses) && placed > 0, from == to:
		return
	case len(uses) != 1:
		p.fail("%s: want one, or properties from and to of each link, as the file does not tell what lies between", words.Count(len(uses), "link"))
		return
	}
	e := link.sketchEdge
	switch symmetrical := r.attr("symmetrical"); symmetrical {
	case "", "YES", "yes":
	case "NO", "no":
		e.oneWay = true
	default:
		p.fail("symmetrical %q: want YES or NO", shorten(symmetrical))
	}
	p.connect(from, to, e)
}

// backbone adds a switch for a backbone, which is linked to the router of its zone. It returns the switch and half of the latency of the
// backbone, which the link of each host gets.
func (p *simGridReader) backbone(router, bandwidth, latency string) (hub string, half float64) {
	place := p.place
	p.place += "backbone: "
	e := p.edgeOf(bandwidth, latency)
	p.place = place
	hub = router + " backbone"
	p.point(hub, "", kindSwitch)
	e.Latency /= 2
	p.connect(hub, router, e)
	return hub, e.Latency
}

// middle returns the vertex to which the hosts of a zone are tied: its router, or a switch of the zone's name where it has none; or the
// backbone, if there is one. It adds what is not there.
func (p *simGridReader) middle(zone *element) (hub string, half float64) {
	hub = zone.attr("id")
	if routers := zone.children("router"); len(routers) > 0 {
		hub = routers[0].attr("id")
	} else {
		p.point(hub, "", kindSwitch)
	}
	for _, b := range zone.children("backbone") {
		return p.backbone(hub, b.attr("bandwidth"), b.attr("latency"))
	}
	return hub, 0
}

// tie links hosts to a switch. Each link gets half of the latency of a backbone there.
func (p *simGridReader) tie(hosts []string, link sketchEdge, hub string, half float64) {
	link.Latency += half
	for _, host := range hosts {
		p.connect(host, hub, link)
	}
}

// hostLink ties a host to the middle of its zone, by a link for each direction, or by one of which they are called the directions.
func (p *simGridReader) hostLink(e *element, middle func() (string, float64)) {
	host := e.attr("id")
	p.place = fmt.Sprintf("line %d: host_link of %q: ", e.line, shorten(host))
	hub, half := middle()
	for _, tie := range [][3]string{{e.attr("up"), host, hub}, {e.attr("down"), hub, host}} {
		duplex := strings.TrimSuffix(strings.TrimSuffix(tie[0], "_UP"), "_DOWN")
		l := cmp.Or(p.links[duplex], p.links[tie[0]])
		if l == nil {
			p.fail("there is no link %q", shorten(tie[0]))
			return
		}
		edge := l.sketchEdge
		edge.oneWay = true
		p.tie([]string{tie[1]}, edge, tie[2], half)
	}
}
