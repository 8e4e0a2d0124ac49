package encode

import (
	"cmp"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"

	"github.com/topocast/topocast/topology"
)

// ReadSimGrid reads a platform file of SimGrid, version 4 or 4.1, as the wiring that it describes: what WriteSimGrid
// writes, and others whose routes say how links join. Hosts are hosts, routers switches, and a
// route of one link is a link between its ends, or between the gateways of zones. Zones may
// nest, and are called AS in older files; how they find routes does not matter. A cluster of
// hosts becomes a switch, and so does a zone whose hosts have a host_link each; a message passes its backbone once between any two of
// its hosts, so each link of a host gets half of its latency. In a zone with routing Star, a route that names one end alone is the link of
// that host to the middle of the zone.
//
// Routes of more than one link are passed over if the links say what they join in the properties from and
// to, and refused otherwise: the file does not tell what lies between. So are clusters with a
// topology, cabinets, peers, wireless links and bypass routes. Routes from a host to
// itself, speeds and traces are passed over.
func ReadSimGrid(r io.Reader) (_ *topology.Graph, err error) {
	defer naming("SimGrid", &err)
	var file struct {
		XMLName  xml.Name         `xml:"platform"`
		Version  string           `xml:"version,attr"`
		Zones    []simGridZone    `xml:"zone"`
		Older    []simGridZone    `xml:"AS"`
		Clusters []simGridCluster `xml:"cluster"`
		Others   []simGridOther   `xml:",any"`
	}
	if err := decodeXML(r, maxXML, &file); err != nil {
		return nil, err
	}
	if file.Version != "4" && file.Version != "4.1" {
		return nil, fmt.Errorf("version %q: want 4 or 4.1", shorten(file.Version))
	}
	p := simGridReader{links: map[string]*simGridLink{}}
	world := simGridZone{Zones: append(file.Zones, file.Older...), Clusters: file.Clusters, Others: file.Others}
	if err := p.declare(&world, 0); err != nil {
		return nil, err
	}
	if err := p.connect(&world); err != nil {
		return nil, err
	}
	return p.graph(nil)
}

type simGridZone struct {
	ID         string           `xml:"id,attr"`
	Zones      []simGridZone    `xml:"zone"`
	Older      []simGridZone    `xml:"AS"`
	Hosts      []simGridPoint   `xml:"host"`
	Routers    []simGridPoint   `xml:"router"`
	Links      []simGridLink    `xml:"link"`
	Clusters   []simGridCluster `xml:"cluster"`
	Routes     []simGridRoute   `xml:"route"`
	ZoneRoutes []simGridRoute   `xml:"zoneRoute"`
	OlderOnes  []simGridRoute   `xml:"ASroute"`
	HostLinks  []simGridHosted  `xml:"host_link"`
	Backbone   *simGridLink     `xml:"backbone"`
	Others     []simGridOther   `xml:",any"`
}

// A simGridHosted ties a host to the middle of its zone by a link for each direction.
type simGridHosted struct {
	ID   string `xml:"id,attr"`
	Up   string `xml:"up,attr"`
	Down string `xml:"down,attr"`
}

// A simGridOther is an element of another kind.
type simGridOther struct{ XMLName xml.Name }

type simGridPoint struct {
	ID    string        `xml:"id,attr"`
	Props []simGridProp `xml:"prop"`
}

type simGridProp struct {
	ID    string `xml:"id,attr"`
	Value string `xml:"value,attr"`
}

type simGridLink struct {
	ID        string        `xml:"id,attr"`
	Bandwidth string        `xml:"bandwidth,attr"`
	Latency   string        `xml:"latency,attr"`
	Policy    string        `xml:"sharing_policy,attr"`
	Props     []simGridProp `xml:"prop"`

	values sketchEdge
	placed bool // by its properties
}

type simGridRoute struct {
	Src         string `xml:"src,attr"`
	Dst         string `xml:"dst,attr"`
	SrcGateway  string `xml:"gw_src,attr"`
	DstGateway  string `xml:"gw_dst,attr"`
	Symmetrical string `xml:"symmetrical,attr"`
	Links       []struct {
		ID string `xml:"id,attr"`
	} `xml:"link_ctn"`
}

type simGridCluster struct {
	ID                string `xml:"id,attr"`
	Prefix            string `xml:"prefix,attr"`
	Suffix            string `xml:"suffix,attr"`
	Radical           string `xml:"radical,attr"`
	Router            string `xml:"router_id,attr"`
	Bandwidth         string `xml:"bw,attr"`
	Latency           string `xml:"lat,attr"`
	BackboneBandwidth string `xml:"bb_bw,attr"`
	BackboneLatency   string `xml:"bb_lat,attr"`
	Topology          string `xml:"topology,attr"`
}

// isHalf tells whether a route joins one end with the middle of its zone.
func (r simGridRoute) isHalf() bool { return (r.Src == "") != (r.Dst == "") }

// A simGridReader makes a sketch of zones.
type simGridReader struct {
	sketch
	links map[string]*simGridLink
}

// passed tells whether an element says nothing of the wiring.
func (o simGridOther) passed() bool {
	switch o.XMLName.Local {
	case "config", "prop", "trace", "trace_connect", "random", "storage", "storage_type", "mount":
		return true
	}
	return false
}

// declare reads all of a zone and of those in it but what they join.
func (p *simGridReader) declare(z *simGridZone, depth int) error {
	if depth > deepestNested {
		return fmt.Errorf("zones nest more than %d deep", deepestNested)
	}
	for _, o := range z.Others {
		if !o.passed() {
			return fmt.Errorf("element <%s>: want zone, host, router, link, cluster, route or zoneRoute", o.XMLName.Local)
		}
	}
	for i := range z.Hosts {
		if err := p.point(&z.Hosts[i], kindHost); err != nil {
			return err
		}
	}
	for i := range z.Routers {
		if err := p.point(&z.Routers[i], kindSwitch); err != nil {
			return err
		}
	}
	for i := range z.Clusters {
		if err := p.cluster(&z.Clusters[i]); err != nil {
			return fmt.Errorf("cluster %q: %w", shorten(z.Clusters[i].ID), err)
		}
	}
	for i := range z.Links {
		l := &z.Links[i]
		if err := l.parse(); err != nil {
			return fmt.Errorf("link %q: %w", shorten(l.ID), err)
		}
		if p.links[l.ID] != nil {
			return fmt.Errorf("link %q: is there twice", shorten(l.ID))
		}
		p.links[l.ID] = l
	}
	z.Zones = append(z.Zones, z.Older...)
	for i := range z.Zones {
		if err := p.declare(&z.Zones[i], depth+1); err != nil {
			return err
		}
	}
	return nil
}

// connect reads what the links and routes of a zone and of those in it join.
func (p *simGridReader) connect(z *simGridZone) error {
	for i := range z.Zones {
		if err := p.connect(&z.Zones[i]); err != nil {
			return err
		}
	}
	for i := range z.Links {
		if err := p.place(&z.Links[i]); err != nil {
			return fmt.Errorf("link %q: %w", shorten(z.Links[i].ID), err)
		}
	}
	if err := p.star(z); err != nil {
		return err
	}
	for _, routes := range [][]simGridRoute{z.Routes, z.ZoneRoutes, z.OlderOnes} {
		for i := range routes {
			r := &routes[i]
			if err := p.route(r); err != nil {
				return fmt.Errorf("route %q to %q: %w", shorten(r.Src), shorten(r.Dst), err)
			}
		}
	}
	return nil
}

// point reads a host or a router.
func (p *simGridReader) point(x *simGridPoint, kind vertexKind) error {
	v, err := p.add(x.ID)
	if err != nil || x.ID == "" {
		return fmt.Errorf("%s %q: want an id of its own", kind, shorten(x.ID))
	}
	v.kind = kind
	for _, prop := range x.Props {
		if prop.ID == "name" && prop.Value != "" {
			v.name = prop.Value
		}
	}
	return nil
}

func (l *simGridLink) parse() error {
	var err error
	l.values = unknownEdge()
	switch {
	case l.Policy == "WIFI":
		return errors.New("wireless: it joins no two ends")
	case l.Bandwidth == "":
		return fmt.Errorf("bandwidth \"\": %s", wantQuantity)
	}
	if l.values.bandwidth, _, err = parseQuantity(l.Bandwidth, true); err != nil {
		return fmt.Errorf("bandwidth %w", err)
	}
	if l.values.latency, _, err = parseQuantity(cmp.Or(l.Latency, "0"), false); err != nil {
		return fmt.Errorf("latency %w", err)
	}
	return nil
}

// place adds a link that says itself what it joins.
func (p *simGridReader) place(l *simGridLink) error {
	var from, to string
	for _, prop := range l.Props {
		switch prop.ID {
		case "from":
			from = prop.Value
		case "to":
			to = prop.Value
		}
	}
	if from == "" || to == "" {
		return nil
	}
	e := l.values
	e.oneWay = l.Policy != "SPLITDUPLEX"
	l.placed = true
	return p.sketch.connect(from, to, e)
}

// route reads what a route of one link joins.
func (p *simGridReader) route(r *simGridRoute) error {
	placed := 0
	for _, use := range r.Links {
		l, ok := p.links[use.ID]
		if !ok {
			return fmt.Errorf("there is no link %q", shorten(use.ID))
		}
		if l.placed {
			placed++
		}
	}
	from, to := r.Src, r.Dst
	if r.SrcGateway != "" || r.DstGateway != "" {
		from, to = r.SrcGateway, r.DstGateway
	}
	switch {
	case placed == len(r.Links) && placed > 0, from == to:
		return nil
	case len(r.Links) != 1:
		return fmt.Errorf("%d links: want one, or properties from and to of each link, as the file does not tell what lies between", len(r.Links))
	}
	e := p.links[r.Links[0].ID].values
	switch r.Symmetrical {
	case "", "YES", "yes":
	case "NO", "no":
		e.oneWay = true
	default:
		return fmt.Errorf("symmetrical %q: want YES or NO", shorten(r.Symmetrical))
	}
	return p.sketch.connect(from, to, e)
}

// cluster reads a cluster of hosts around a switch.
func (p *simGridReader) cluster(c *simGridCluster) error {
	if c.Topology != "" && c.Topology != "FLAT" {
		return fmt.Errorf("topology %s: want none", shorten(c.Topology))
	}
	z := simGridZone{Routers: []simGridPoint{{ID: cmp.Or(c.Router, c.Prefix+c.ID+"_router"+c.Suffix)}}}
	if c.BackboneBandwidth != "" {
		z.Backbone = &simGridLink{Bandwidth: c.BackboneBandwidth, Latency: c.BackboneLatency}
	}
	numbers, err := expandRanges(strings.ReplaceAll(c.Radical, " ", ""), maxHosts)
	if err != nil {
		return fmt.Errorf("radical %q: want ascending numbers, at most %d", shorten(c.Radical), maxHosts)
	}
	link := &simGridLink{Bandwidth: c.Bandwidth, Latency: c.Latency}
	if err := link.parse(); err != nil {
		return err
	}
	if err := p.point(&z.Routers[0], kindSwitch); err != nil {
		return err
	}
	hub, half, err := p.hub(&z)
	if err != nil {
		return err
	}
	link.values.latency += half
	for _, digits := range numbers {
		number, _ := strconv.Atoi(digits) // without zeros before it
		id := c.Prefix + strconv.Itoa(number) + c.Suffix
		if err := p.point(&simGridPoint{ID: id}, kindHost); err != nil {
			return err
		}
		if err := p.sketch.connect(id, hub, link.values); err != nil {
			return err
		}
	}
	return nil
}

// hub returns the vertex in the middle of a zone: its router, or a switch of the zone's name where it has none; if it has a backbone,
// a switch for that, and half of its latency, which the link of each host gets.
func (p *simGridReader) hub(z *simGridZone) (hub string, half float64, err error) {
	if len(z.Routers) == 0 {
		z.Routers = []simGridPoint{{ID: z.ID}}
		if err := p.point(&z.Routers[0], kindSwitch); err != nil {
			return "", 0, err
		}
	}
	router := z.Routers[0].ID
	if z.Backbone == nil {
		return router, 0, nil
	}
	if err := z.Backbone.parse(); err != nil {
		return "", 0, fmt.Errorf("backbone: %w", err)
	}
	hub = router + " backbone"
	if err := p.point(&simGridPoint{ID: hub}, kindSwitch); err != nil {
		return "", 0, err
	}
	e := z.Backbone.values
	e.latency /= 2
	return hub, e.latency, p.sketch.connect(hub, router, e)
}

// star ties the hosts of a zone to its hub: by their host_link, or by routes that name one end alone, as in zones with routing Star.
func (p *simGridReader) star(z *simGridZone) error {
	isStar := slices.ContainsFunc(z.Routes, simGridRoute.isHalf)
	if len(z.HostLinks) == 0 && !isStar {
		return nil
	}
	hub, half, err := p.hub(z)
	if err != nil {
		return err
	}
	for i := range z.Routes {
		if r := &z.Routes[i]; r.isHalf() {
			r.Src, r.Dst = cmp.Or(r.Src, hub), cmp.Or(r.Dst, hub)
		}
	}
	for _, h := range z.HostLinks {
		for _, way := range [][3]string{{h.Up, h.ID, hub}, {h.Down, hub, h.ID}} {
			l := p.links[strings.TrimSuffix(strings.TrimSuffix(way[0], "_UP"), "_DOWN")] // of a link of both directions
			if l == nil {
				l = p.links[way[0]]
			}
			if l == nil {
				return fmt.Errorf("host_link of %q: there is no link %q", shorten(h.ID), shorten(way[0]))
			}
			e := l.values
			e.oneWay = true
			e.latency += half
			if err := p.sketch.connect(way[1], way[2], e); err != nil {
				return fmt.Errorf("host_link: %w", err)
			}
		}
	}
	return nil
}
