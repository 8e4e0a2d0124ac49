package check

// A facet is what can be wrong with a host or a link.
type facet int8

const (
	slowLink    facet = iota // of a link: its latency, or under load its rate both ways
	slowRate                 // of one direction of a link
	slowSwitch               // all that a switch carries at once
	slowAnswer               // of a host: all its short messages
	slowSend                 // all long messages that it sends
	slowReceive              // all that it receives
	hostFacets  = 3          // of a host
)

// candidates numbers all that can be slow: links by latency, arcs by rate, switches, then
// hosts. A host on one cable sends and receives slowly where the arcs of the cable do.
type candidates struct {
	w                           *wiring
	links, arcs, switches, size int32
}

func newCandidates(w *wiring) *candidates {
	c := &candidates{w: w}
	if w.graph != nil {
		c.links, c.arcs, c.switches = int32(len(w.links)), int32(w.graph.NumArcs()), int32(w.graph.Vertices()-w.hosts)
	}
	c.size = c.links + c.arcs + c.switches + hostFacets*int32(w.hosts)
	return c
}

func (c *candidates) ofLink(link int32) int32 { return link }
func (c *candidates) ofArc(arc int32) int32   { return c.links + arc }

// ofHost is the candidate of a host's facet, -1 if the cable's stands for it.
func (c *candidates) ofHost(host int, f facet) int32 {
	if f != slowAnswer && c.w.switchOf(host) >= 0 {
		return -1
	}
	return c.links + c.arcs + c.switches + hostFacets*int32(host) + int32(f-slowAnswer)
}

// what is the facet of a candidate, and of which link, arc, vertex or host.
func (c *candidates) what(candidate int32) (facet, int) {
	switch {
	case candidate < c.links:
		return slowLink, int(candidate)
	case candidate < c.links+c.arcs:
		return slowRate, int(candidate - c.links)
	case candidate < c.links+c.arcs+c.switches:
		return slowSwitch, c.w.hosts + int(candidate-c.links-c.arcs)
	}
	k := candidate - c.links - c.arcs - c.switches
	return slowAnswer + facet(k%hostFacets), int(k / hostFacets)
}

// channelsOf are the arcs of a link or a direction of one, or a switch, as transfers take a share of them; see
// wiring.addSwitches.
func (c *candidates) channelsOf(candidate int32) (channels []int32) {
	switch what, i := c.what(candidate); what {
	case slowLink:
		for e, link := range c.w.link {
			if int(link) == i {
				channels = append(channels, int32(e))
			}
		}
	case slowRate, slowSwitch:
		channels = append(channels, candidate-c.links)
	}
	return channels
}

// A place is a host or a switch, or a link between two vertices.
type place struct{ u, v int } // v is -1 for a host and a switch

// placeOf is the place where a candidate is. A host and its only cable are one
// place: all of its messages take the cable, and no reading tells them apart.
func (c *candidates) placeOf(candidate int32) place {
	f, i := c.what(candidate)
	if f >= slowSwitch {
		return place{i, -1}
	}
	link := i
	if f == slowRate {
		link = int(c.w.link[i])
	}
	ends := c.w.links[link]
	for _, v := range ends {
		if v < c.w.hosts && c.w.cable[v] == int32(link) {
			return place{v, -1}
		}
	}
	return place{ends[0], ends[1]}
}
