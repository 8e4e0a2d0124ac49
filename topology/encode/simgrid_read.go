package encode

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"strings"

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
// to, and refused otherwise: the file does not tell what lies between. Clusters with a
// topology, cabinets, peers, wireless links and bypass routes are refused, too. Routes from a host to
// itself, speeds and traces are passed over.
func ReadSimGrid(r io.Reader) (_ *topology.Graph, err error) {
	defer naming("SimGrid", &err)
	platform, err := readXML(r, "platform")
	if err != nil {
		return nil, err
	}
	if version := platform.attr("version"); version != "4" && version != "4.1" {
		return nil, fmt.Errorf("version %q: want 4 or 4.1", shorten(version))
	}
	if outside := platform.children("host", "router", "link", "route", "zoneRoute", "ASroute", "host_link", "backbone"); len(outside) > 0 {
		return nil, fmt.Errorf("line %d: element <%s>: want it in a zone", outside[0].line, outside[0].Name.Local)
	}
	p := simGridReader{links: map[string]*simGridLink{}, cabinets: map[*element]*simGridCabinet{}}
	if err := p.declare(platform); err != nil {
		return nil, err
	}
	if len(p.vertices) == 0 {
		return nil, errors.New("no host is in it: want the platform, not the deployment")
	}
	if err := p.connect(platform); err != nil {
		return nil, err
	}
	return onlyGraph(p.graph(nil))
}

// A simGridReader makes a sketch of zones.
type simGridReader struct {
	sketch
	links    map[string]*simGridLink
	cabinets map[*element]*simGridCabinet
}

// A simGridCabinet is hosts that are tied to the middle of their zone by links like this one.
type simGridCabinet struct {
	hosts []string
	link  sketchEdge
}

// A simGridLink is a link, with the vertices that it joins if its properties say so.
type simGridLink struct {
	sketchEdge
	ends map[string]string // "from" and "to"
}

// isPlaced tells whether the link itself says what it joins.
func (l *simGridLink) isPlaced() bool { return l.ends["from"] != "" && l.ends["to"] != "" }

// properties are the values of the elements <prop>.
func properties(e *element) map[string]string {
	all := map[string]string{}
	for _, p := range e.children("prop") {
		all[p.attr("id")] = p.attr("value")
	}
	return all
}

// declare reads the hosts, switches and links of a zone and of those in it, before connect joins them.
func (p *simGridReader) declare(zone *element) (err error) {
	for _, e := range zone.inside {
		id, name := e.attr("id"), e.Name.Local
		switch name {
		case "host":
			err = p.point(id, properties(e)["name"], kindHost)
		case "router":
			err = p.point(id, properties(e)["name"], kindSwitch)
		case "link":
			if err = p.link(e); err != nil {
				err = fmt.Errorf("link %q: %w", shorten(id), err)
			}
		case "cluster":
			if err = p.cluster(e); err != nil {
				err = fmt.Errorf("cluster %q: %w", shorten(id), err)
			}
		case "cabinet":
			c := &simGridCabinet{}
			if c.hosts, c.link, err = p.clusterHosts(e); err != nil {
				err = fmt.Errorf("cabinet %q: %w", shorten(id), err)
			}
			p.cabinets[e] = c
		case "peer":
			err = fmt.Errorf("peer %q: its place is told by coordinates, not by links: want hosts and links", shorten(id))
		case "zone", "AS":
			if err := p.declare(e); err != nil {
				return err
			}
		case "route", "zoneRoute", "ASroute", "host_link", "backbone": // for connect
		case "config", "prop", "actor", "process", "trace", "trace_connect", "random", "storage", "storage_type", "mount": // not about wiring
		default:
			err = fmt.Errorf("element <%s>: want zone, host, router, link, cluster, route or zoneRoute", name)
		}
		if err != nil {
			return fmt.Errorf("line %d: %w", e.line, err)
		}
	}
	return nil
}

// connect reads what the links and routes of a zone and of those in it join.
func (p *simGridReader) connect(zone *element) error {
	for _, inner := range zone.children("zone", "AS") {
		if err := p.connect(inner); err != nil {
			return err
		}
	}
	for _, e := range zone.children("link") {
		if l := p.links[e.attr("id")]; l.isPlaced() {
			edge := l.sketchEdge
			edge.oneWay = e.attr("sharing_policy") != "SPLITDUPLEX"
			if err := p.sketch.connect(l.ends["from"], l.ends["to"], edge); err != nil {
				return fmt.Errorf("line %d: link %q: %w", e.line, shorten(e.attr("id")), err)
			}
		}
	}
	hub, half, err := p.middle(zone)
	if err != nil {
		return fmt.Errorf("line %d: zone %q: %w", zone.line, shorten(zone.attr("id")), err)
	}
	for _, e := range zone.children("cabinet") {
		if err := p.tie(p.cabinets[e].hosts, p.cabinets[e].link, hub, half); err != nil {
			return fmt.Errorf("line %d: cabinet %q: %w", e.line, shorten(e.attr("id")), err)
		}
	}
	for _, e := range zone.children("host_link") {
		if err := p.hostLink(e, hub, half); err != nil {
			return fmt.Errorf("line %d: host_link of %q: %w", e.line, shorten(e.attr("id")), err)
		}
	}
	for _, e := range zone.children("route", "zoneRoute", "ASroute") {
		if err := p.route(e, hub); err != nil {
			return fmt.Errorf("line %d: route %q to %q: %w", e.line, shorten(e.attr("src")), shorten(e.attr("dst")), err)
		}
	}
	return nil
}

// point adds a host or a switch, which may have another name than its id.
func (p *simGridReader) point(id, name string, kind vertexKind) error {
	if _, twice := p.number[id]; twice || id == "" {
		return fmt.Errorf("%s %q: want an id of its own", kind, shorten(id))
	}
	return p.add(id, map[string]string{"label": name, "kind": string(kind)})
}

// simGridEdge is an edge of the given bandwidth and latency, which may be left out.
func simGridEdge(bandwidth, latency string) (e sketchEdge, err error) {
	e = unknownEdge()
	if e.bandwidth, _, err = quantity.Parse(bandwidth, true); err != nil {
		return e, fmt.Errorf("bandwidth %w", err)
	}
	if e.latency, _, err = quantity.Parse(cmp.Or(latency, "0"), false); err != nil {
		return e, fmt.Errorf("latency %w", err)
	}
	return e, nil
}

func (p *simGridReader) link(e *element) error {
	id := e.attr("id")
	switch {
	case e.attr("sharing_policy") == "WIFI":
		return errors.New("wireless: it joins no two ends")
	case p.links[id] != nil:
		return errors.New("is there twice")
	}
	edge, err := simGridEdge(e.attr("bandwidth"), e.attr("latency"))
	p.links[id] = &simGridLink{edge, properties(e)}
	return err
}

// route reads what a route of one link joins. A route that names one end alone joins it with the middle of its zone.
func (p *simGridReader) route(r *element, hub string) error {
	placed := 0
	uses := r.children("link_ctn")
	for _, use := range uses {
		l, ok := p.links[use.attr("id")]
		if !ok {
			return fmt.Errorf("there is no link %q", shorten(use.attr("id")))
		}
		if l.isPlaced() {
			placed++
		}
	}
	from, to := r.attr("src"), r.attr("dst")
	if from != "" || to != "" {
		from, to = cmp.Or(from, hub), cmp.Or(to, hub)
	}
	if source, sink := r.attr("gw_src"), r.attr("gw_dst"); source != "" || sink != "" {
		from, to = source, sink
	}
	switch {
	case placed == len(uses) && placed > 0, from == to:
		return nil
	case len(uses) != 1:
		return fmt.Errorf("%s: want one, or properties from and to of each link, as the file does not tell what lies between", words.Count(len(uses), "link"))
	}
	e := p.links[uses[0].attr("id")].sketchEdge
	switch symmetrical := r.attr("symmetrical"); symmetrical {
	case "", "YES", "yes":
	case "NO", "no":
		e.oneWay = true
	default:
		return fmt.Errorf("symmetrical %q: want YES or NO", shorten(symmetrical))
	}
	return p.sketch.connect(from, to, e)
}

// backbone adds a switch for a backbone, which is linked to the router of its zone. It returns the switch and half of the latency of the
// backbone, which the link of each host gets.
func (p *simGridReader) backbone(router, bandwidth, latency string) (hub string, half float64, err error) {
	e, err := simGridEdge(bandwidth, latency)
	if err != nil {
		return "", 0, fmt.Errorf("backbone: %w", err)
	}
	hub = router + " backbone"
	if err := p.point(hub, "", kindSwitch); err != nil {
		return "", 0, err
	}
	e.latency /= 2
	return hub, e.latency, p.sketch.connect(hub, router, e)
}

// middle returns the vertex to which the hosts of a zone are tied: its router, or a switch of the zone's name where it has none; or the
// backbone, if there is one. It is "" for zones in which no host_link, no cabinet and no route that names one end ties hosts.
func (p *simGridReader) middle(zone *element) (hub string, half float64, err error) {
	isTied := len(zone.children("host_link", "cabinet")) > 0
	for _, r := range zone.children("route") {
		isTied = isTied || (r.attr("src") == "") != (r.attr("dst") == "")
	}
	if !isTied {
		return "", 0, nil
	}
	if routers := zone.children("router"); len(routers) > 0 {
		hub = routers[0].attr("id")
	} else {
		hub = zone.attr("id")
		err = p.point(hub, "", kindSwitch)
	}
	if bones := zone.children("backbone"); len(bones) > 0 && err == nil {
		return p.backbone(hub, bones[0].attr("bandwidth"), bones[0].attr("latency"))
	}
	return hub, 0, err
}

// hostLink ties a host to the middle of its zone, by a link for each direction.
func (p *simGridReader) hostLink(e *element, hub string, half float64) error {
	host := e.attr("id")
	for _, way := range [][3]string{{e.attr("up"), host, hub}, {e.attr("down"), hub, host}} {
		l := p.links[strings.TrimSuffix(strings.TrimSuffix(way[0], "_UP"), "_DOWN")] // of a link of both directions
		if l == nil {
			l = p.links[way[0]]
		}
		if l == nil {
			return fmt.Errorf("there is no link %q", shorten(way[0]))
		}
		edge := l.sketchEdge
		edge.oneWay = true
		edge.latency += half
		if err := p.sketch.connect(way[1], way[2], edge); err != nil {
			return err
		}
	}
	return nil
}
