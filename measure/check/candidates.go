package check

// A candidate is one way in which a host, a link or a switch may be slow.
type candidate struct {
	place
	Finding          // what is said of it, before anything was found
	channels []int32 // arcs and switches that carry less then; nil: all that a host does is slow
}

// A place is a host or a switch, or a link between two vertices.
type place struct{ u, v int } // v is -1 for a host and a switch

// isHost tells whether a place is a host.
func (w *wiring) isHost(at place) bool { return at.v < 0 && at.u < w.hosts }

// candidates are all ways in which a machine may be slow: links, by latency or under load by their rate both ways; arcs, by
// their rate; switches, by all that they carry at once; and then hosts. Transfers take shares of channels, which are arcs and
// switches, see wiring.addSwitches.
type candidates struct {
	w     *wiring
	all   []candidate
	links int32 // so many are of links
	wires int32 // of links, arcs and switches
}

const hostFacets = 3 // of a host: all its short messages, all long ones that it sends, all that it receives

// Facets of a host.
const (
	slowAnswer int32 = iota
	slowSend
	slowReceive
)

func newCandidates(w *wiring) *candidates {
	c := &candidates{w: w, links: int32(len(w.links))}
	add := func(at place, what string, from, to string, channels ...int32) {
		c.all = append(c.all, candidate{at, Finding{What: what, From: from, To: to, P: 1, Often: 1}, channels})
	}
	ofLink := linkLatency
	if w.load {
		ofLink = linkRate
	}
	for link := range w.links {
		add(w.placeOf(int32(link)), ofLink, "", "", w.arcs[link]...)
	}
	if w.graph != nil {
		for e, a := range w.graph.Arcs() {
			add(w.placeOf(w.link[e]), linkRate, w.name(a.From), w.name(a.To), int32(e))
		}
		for v := w.hosts; v < w.graph.Vertices(); v++ {
			add(place{v, -1}, switchRate, "", "", w.channel(v))
		}
	}
	c.wires = int32(len(c.all))
	for h := range w.hosts {
		add(place{h, -1}, hostAnswer, "", "")
		add(place{h, -1}, linkRate, w.name(h), "")
		add(place{h, -1}, linkRate, "", w.name(h))
	}
	return c
}

func (c *candidates) ofLink(link int32) int32       { return link }
func (c *candidates) ofChannel(channel int32) int32 { return c.links + channel }

// ofHost is the candidate of a host's facet, -1 if the cable's stands for it: a host on one cable sends and receives
// slowly where the arcs of the cable do.
func (c *candidates) ofHost(host int, facet int32) int32 {
	if facet != slowAnswer && c.w.switchOf(host) >= 0 {
		return -1
	}
	return c.wires + hostFacets*int32(host) + facet
}

// isWire tells whether a candidate is a link, an arc or a switch, which makes its own part of the time of a message only.
func (c *candidates) isWire(candidate int32) bool { return candidate < c.wires }
