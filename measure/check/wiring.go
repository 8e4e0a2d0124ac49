package check

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	"github.com/topocast/topocast/internal/hostlist"
	"github.com/topocast/topocast/internal/stats"
	"github.com/topocast/topocast/topology"
)

// A wiring is what a check knows of the machine: the routes of all pairs, or
// without a graph an order of hosts alone.
type wiring struct {
	hosts   int
	load    bool // all hosts are busy at once
	names   []string
	order   []int // hosts, neighbours near each other
	place   []int // host -> index into order
	graph   *topology.Graph
	routing topology.RouteChoice
	routes  *topology.Routes

	// Per arc, what it should be; where the graph does not say, it is that of most.
	latency, rate []float64   // s, B/s
	link          []int32     // arc -> its link
	into          []int32     // arc -> the channel of the switch that it leads to; -1: it leads to a host
	links         []place     // the lower vertex first
	arcs          [][]int32   // of each link
	cable         []int32     // host -> its only link, -1 if it has several
	capacity      []float64   // B/s per arc, and then per switch: what all of its links bring at most
	specified     [kinds]bool // the graph says what latencies and rates should be
}

// newWiring is that of so many hosts with names, which the graph has if there is one.
func newWiring(s *Settings, hosts int, names []string) (*wiring, error) {
	w := &wiring{hosts: hosts, load: s.Load, names: names, graph: s.Graph, routing: s.Routing}
	defer w.findPlaces()
	if w.graph == nil {
		w.orderByName()
		return w, nil
	}
	w.names = w.graph.Names()[:hosts]
	var err error
	if w.routes, err = topology.NewRoutes(w.graph, s.Routing); err != nil {
		return nil, fmt.Errorf("check: %w", err)
	}
	w.latency, w.specified[ofLatency] = w.values(func(a topology.Arc) float64 { return a.Latency })
	w.rate, w.specified[ofRate] = w.values(func(a topology.Arc) float64 { return cmp.Or(a.Bandwidth, math.NaN()) })
	w.numberLinks()
	w.capacity = append(slices.Clone(w.rate), slices.Repeat([]float64{math.SmallestNonzeroFloat64}, w.graph.Vertices()-hosts)...)
	for i, a := range w.graph.Arcs() {
		w.into = append(w.into, -1)
		if a.To >= hosts {
			w.into[i] = w.channel(a.To)
			w.capacity[w.into[i]] += w.rate[i]
		}
	}
	w.orderByWiring()
	return w, nil
}

// moved is the wiring of the machine if a host, which has one cable, hung on another switch. O(vertices + arcs).
func (w *wiring) moved(host, at int) *wiring {
	m := *w
	m.routes = w.routes.Replug(host, at)
	m.into = slices.Clone(w.into)
	m.into[w.graph.ArcIndex(host, w.switchOf(host))] = w.channel(at)
	m.links = slices.Clone(w.links)
	m.links[w.cable[host]] = place{host, at}
	return &m
}

// values are what the graph has of its arcs, and whether it has any. Where it does not say, an arc is like most. Where
// all are 0 they tell no more than missing ones.
func (w *wiring) values(of func(topology.Arc) float64) (values []float64, specified bool) {
	var known []float64
	for _, a := range w.graph.Arcs() {
		values = append(values, of(a))
		if x := of(a); x > 0 {
			known = append(known, x)
		}
	}
	usual := 1.0 // where nothing is known, all are equal
	if len(known) > 0 {
		usual = stats.LowerMedian(known)
	}
	for i, x := range values {
		if math.IsNaN(x) || x == 0 && len(known) == 0 {
			values[i] = usual
		}
	}
	return values, len(known) > 0
}

func (w *wiring) numberLinks() {
	g := w.graph
	w.link, w.cable = make([]int32, g.NumArcs()), make([]int32, w.hosts)
	for i, a := range g.Arcs() {
		if back := g.ArcIndex(a.To, a.From); back >= 0 && back < i {
			w.link[i] = w.link[back]
		} else {
			w.link[i] = int32(len(w.links))
			w.links, w.arcs = append(w.links, place{min(a.From, a.To), max(a.From, a.To)}), append(w.arcs, nil)
		}
		w.arcs[w.link[i]] = append(w.arcs[w.link[i]], int32(i))
	}
	for h := range w.cable {
		w.cable[h] = -1
		if out := g.Out(h); len(out) == 1 && len(g.In(h)) <= 1 {
			w.cable[h] = w.link[g.ArcIndex(h, out[0].To)]
		}
	}
}

// placeOf is the place of a link. A host and its only cable are one place: all of its messages take the cable, and no
// measurement tells them apart.
func (w *wiring) placeOf(link int32) place {
	at := w.links[link]
	for _, v := range [...]int{at.u, at.v} {
		if v < w.hosts && w.cable[v] == link {
			return place{v, -1}
		}
	}
	return at
}

// orderByWiring orders hosts as a search in depth from host 0 meets them, so that those on one
// switch follow each other.
func (w *wiring) orderByWiring() {
	visited := make([]bool, w.graph.Vertices())
	var visit func(v int)
	visit = func(v int) {
		if visited[v] {
			return
		}
		visited[v] = true
		if v < w.hosts {
			w.order = append(w.order, v)
		}
		for _, a := range w.graph.Out(v) {
			visit(a.To)
		}
	}
	for h := range w.hosts {
		visit(h)
	}
}

// orderByName orders hosts by their names, numbers in them by value: n9 before n10.
func (w *wiring) orderByName() {
	for h := range w.hosts {
		w.order = append(w.order, h)
	}
	slices.SortStableFunc(w.order, func(a, b int) int { return hostlist.Naturally(w.names[a], w.names[b]) })
}

func (w *wiring) findPlaces() {
	w.place = make([]int, w.hosts)
	for i, h := range w.order {
		w.place[h] = i
	}
}

// name is that of a host or switch.
func (w *wiring) name(v int) string {
	if v < w.hosts {
		return w.names[v]
	}
	return w.graph.Name(v)
}

// switchOf is the other end of a host's only cable, -1 if it has several or the wiring is not known.
func (w *wiring) switchOf(h int) int {
	if w.graph == nil || w.cable[h] < 0 {
		return -1
	}
	ends := w.links[w.cable[h]]
	return ends.u + ends.v - h
}

// switches are those that hosts hang on with their only cables, in order.
func (w *wiring) switches() (all []int) {
	for h := range w.hosts {
		if at := w.switchOf(h); at >= 0 {
			all = append(all, at)
		}
	}
	slices.Sort(all)
	return slices.Compact(all)
}

// neighbours tells whether two samples were taken at the same time and are to take as long, between the same two switches.
func (w *wiring) neighbours(a, b *sample) bool {
	return w.graph != nil && a.group == b.group && w.switchOf(a.from) == w.switchOf(b.from) && w.switchOf(a.to) == w.switchOf(b.to) &&
		math.Abs(a.nominal-b.nominal) <= gapAlike*a.nominal
}

// channel is the number of a switch behind the arcs: transfers take a share of both.
func (w *wiring) channel(vertex int) int32 { return int32(w.graph.NumArcs() + vertex - w.hosts) }

// addSwitches adds to a route the switches that it leads to.
func (w *wiring) addSwitches(route []int32) []int32 {
	for _, e := range route {
		if c := w.into[e]; c >= 0 {
			route = append(route, c)
		}
	}
	return route
}

// sortBySwitches puts pairs between the same two switches beside each other.
func (w *wiring) sortBySwitches(pairs [][2]int) {
	slices.SortStableFunc(pairs, func(a, b [2]int) int {
		return cmp.Or(cmp.Compare(w.switchOf(a[0]), w.switchOf(b[0])), cmp.Compare(w.switchOf(a[1]), w.switchOf(b[1])))
	})
}

// touches tells whether a message between two hosts, over some arcs, has to do with a place: with a host, or by its route with
// a link or a switch.
func (w *wiring) touches(at place, from, to int, arcs ...int32) bool {
	if w.isHost(at) {
		return from == at.u || to == at.u
	}
	return slices.ContainsFunc(arcs, func(e int32) bool {
		if at.v < 0 {
			return w.graph.Arcs()[e].To == at.u
		}
		return w.links[w.link[e]] == at
	})
}

// A path is the route of a pair's messages: the arcs there, and then those back; none without a graph.
type path struct {
	arcs []int32
	turn int // so many arcs lead there
}

// routesOf are the arcs there and those back. Under load messages go there only.
func (w *wiring) routesOf(p *path) [][]int32 {
	if w.load {
		return [][]int32{p.arcs[:p.turn]}
	}
	return [][]int32{p.arcs[:p.turn], p.arcs[p.turn:]}
}

// find fills in the path between two hosts and tells whether there is one.
func (w *wiring) find(p *path, a, b int) bool {
	p.arcs, p.turn = p.arcs[:0], 0
	if w.graph == nil {
		return true
	}
	var err error
	if p.arcs, err = w.routes.AppendRoute(p.arcs, a, b); err != nil {
		return false
	}
	p.turn = len(p.arcs)
	p.arcs, err = w.routes.AppendRoute(p.arcs, b, a)
	return err == nil
}

// oneWay is half the latency of a round trip in s, as it should be. Without a graph all pairs are alike.
func (w *wiring) oneWay(p *path) float64 {
	if w.graph == nil {
		return 1
	}
	sum := 0.0
	for _, a := range p.arcs {
		sum += w.latency[a]
	}
	return sum / 2
}

// eachLink visits the links that a round trip over a path crosses, there and then back. The share is what the latency of the
// link makes of the trip; 0 where all take no time.
func (w *wiring) eachLink(p *path, visit func(link int32, share float64)) {
	trip := 2 * w.oneWay(p)
	for _, e := range p.arcs {
		share := 0.0
		if trip > 0 {
			share = w.latency[e] / trip
		}
		visit(w.link[e], share)
	}
}

// isInner tells whether an arc leads from a switch to another one.
func (w *wiring) isInner(arc int32) bool {
	a := w.graph.Arcs()[arc]
	return a.From >= w.hosts && a.To >= w.hosts
}

// slowest is the least rate of a route in B/s.
func (w *wiring) slowest(arcs []int32) float64 {
	least := math.Inf(1)
	for _, a := range arcs {
		least = min(least, w.rate[a])
	}
	return least
}

// leastBytes is the size of long messages that outlast the moment in which ranks leave a barrier, where all transfer at once.
func (w *wiring) leastBytes() int {
	if !w.load || !w.specified[ofLatency] || !w.specified[ofRate] {
		return 1
	}
	longest, fastest := 0.0, 0.0 // s, B/s
	var x path
	for h := range w.hosts {
		for _, apart := range [...]int{1, w.hosts / 2} {
			if w.find(&x, h, w.order[(w.place[h]+apart)%w.hosts]) {
				longest, fastest = max(longest, w.oneWay(&x)), max(fastest, w.slowest(x.arcs[:x.turn]))
			}
		}
	}
	return int(min(math.MaxInt32, math.Ceil(fewLatencies*longest*fastest)))
}
