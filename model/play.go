package model

import (
	"fmt"
	"math"
	"slices"

	"github.com/topocast/topocast/internal/hostlist"
	"github.com/topocast/topocast/model/contention"
)

// A Pattern is transfers that are under way together, with their routes. The Predictor that made it may play it again and
// again, while bandwidths and the law change.
type Pattern struct {
	Transfers []Transfer
	// Flows are the transfers in their order: Data and Reverse are numbers of arcs of the graph, and bytes begin to flow
	// at Start.
	Flows []contention.Flow

	route       []int32   // arena of all routes
	rtt         []float64 // s, of each path
	connection  []int     // of each transfer; nil: not yet numbered
	connections int       // how many there are
}

// Pattern finds the routes of transfers, and when each begins to flow. Streamed ones are parts of streams of messages,
// which wait for no rendezvous. The error names the transfer.
func (p *Predictor) Pattern(transfers []Transfer, streamed bool) (*Pattern, error) {
	x := &Pattern{}
	if err := p.fill(x, transfers, streamed); err != nil {
		return nil, err
	}
	return x, nil
}

// fill makes a pattern of transfers, in memory that x has.
func (p *Predictor) fill(x *Pattern, transfers []Transfer, streamed bool) error {
	x.Transfers = append(x.Transfers[:0], transfers...)
	x.Flows, x.route, x.rtt, x.connection = x.Flows[:0], x.route[:0], x.rtt[:0], nil
	for i, t := range x.Transfers {
		if err := p.add(x, t, streamed); err != nil {
			return fmt.Errorf("transfer %d (%v): %w", i, t, err)
		}
	}
	return nil
}

// add makes a flow of a transfer.
func (p *Predictor) add(x *Pattern, t Transfer, streamed bool) error {
	n, ranks := p.n, p.n.Ranks()
	switch {
	case t.Src < 0 || t.Src >= ranks:
		return fmt.Errorf("unknown rank %d: want in [0, %d)", t.Src, ranks)
	case t.Dst < 0 || t.Dst >= ranks:
		return fmt.Errorf("unknown rank %d: want in [0, %d)", t.Dst, ranks)
	case t.Bytes <= 0:
		return fmt.Errorf("size is %d bytes: want above 0", t.Bytes)
	case !(t.Start >= 0) || math.IsInf(t.Start, 0):
		return fmt.Errorf("start is %g s: want at least 0 and finite", t.Start)
	case t.Src == t.Dst:
		return fmt.Errorf("stays on its host: want two different ranks")
	}
	from := len(x.route)
	var err error
	if x.route, err = n.routes.AppendRoute(x.route, t.Src, t.Dst); err != nil {
		return err
	}
	mid := len(x.route)
	if x.route, err = n.routes.AppendRoute(x.route, t.Dst, t.Src); err != nil {
		return fmt.Errorf("way back: %w", err)
	}
	f := contention.Flow{
		Data: x.route[from:mid:mid], Reverse: x.route[mid:len(x.route):len(x.route)],
		Bytes: float64(t.Bytes), Start: t.Start,
	}
	forth, _ := n.along(f.Data)
	back, _ := n.along(f.Reverse)
	if !p.s.NoLatency {
		if math.IsNaN(forth) {
			return fmt.Errorf("the latency of its path is not known: leave latencies out, or measure them")
		}
		f.Start += n.startUp(t.Src, t.Dst, t.Bytes, forth, streamed)
	}
	x.Flows, x.rtt = append(x.Flows, f), append(x.rtt, forth+back)
	return nil
}

// number numbers the connections of a pattern: the pairs of ranks. One over which all goes one way is limited to no less than
// its path carries.
func (x *Pattern) number() {
	numbers := make(map[[2]int]int)
	for _, t := range x.Transfers {
		pair := [2]int{min(t.Src, t.Dst), max(t.Src, t.Dst)}
		if _, known := numbers[pair]; !known {
			numbers[pair] = len(numbers)
		}
		x.connection = append(x.connection, numbers[pair])
	}
	x.connections = len(numbers)
}

// typicalRTT scales round-trip times, in s, so that shares are near 1; shares matter only relative to each other.
// shortestRTT stands for round trips on paths of no latency, whose share would be infinite: light goes 15 cm and back.
const (
	typicalRTT  = 100e-6
	shortestRTT = 1e-9
)

// Play appends to dst the times in s at which the transfers of a pattern are complete. It is an error, which names the
// transfer, if the bandwidth of a link on a route is not known.
func (p *Predictor) Play(dst []float64, x *Pattern) ([]float64, error) {
	limits := p.law.limitsDirections()
	if limits && x.connection == nil {
		x.number()
	}
	if limits && x.connections > p.connections {
		p.connections = x.connections
		if err := p.newSolver(); err != nil {
			return dst, err
		}
	}
	p.flows, p.shared = p.flows[:0], p.shared[:0]
	for i, f := range x.Flows {
		err := p.known(f.Data)
		if p.law.RTTBias != 0 && err == nil {
			f.Share, err = p.share(x.rtt[i])
		}
		if limits && err == nil {
			f.Data, err = p.withShared(f, x.connection[i])
		}
		if err != nil {
			return dst, fmt.Errorf("transfer %d (%v): %w", i, x.Transfers[i], err)
		}
		p.flows = append(p.flows, f)
	}
	return p.solver.Times(dst, p.flows)
}

// known refuses a route over a link of unknown bandwidth.
func (p *Predictor) known(route []int32) error {
	for _, c := range route {
		if math.IsNaN(p.capacity[c]) {
			return fmt.Errorf("the bandwidth of the %s is not known: topocast measure NET --what throughput --update NET measures it, in a job", p.n.linkName(int(c)))
		}
	}
	return nil
}

// linkName names an arc by the hosts that hang on its link, under the names of the user: switches have names of our own. Ends that are
// no hosts are named if the link is no bridge. O(vertices + arcs).
func (n *Network) linkName(arc int) string {
	g := n.graph
	if named, err := n.NameHosts(g); err == nil {
		g = named
	}
	a := g.Arcs()[arc]
	for _, v := range []int{a.From, a.To} {
		if !g.IsSwitch(v) && g.IsSwitch(a.From+a.To-v) {
			return "link of " + g.Name(v)
		}
	}
	side, other := g.HostsBeyond(a.From, a.To), g.HostsBeyond(a.To, a.From)
	if !g.IsSwitch(a.From) || side == nil {
		return fmt.Sprintf("link %s - %s", g.Name(a.From), g.Name(a.To))
	}
	if len(other) < len(side) || len(other) == len(side) && slices.Compare(side, other) < 0 { // of two equal ones that without the lowest host
		side = other
	}
	names := make([]string, len(side))
	for i, h := range side {
		names[i] = g.Name(h)
	}
	return "uplink of " + hostlist.Ranges(names)
}

// share is the share of a link that a transfer of the given round-trip time in s gets.
func (p *Predictor) share(rtt float64) (float64, error) {
	share := math.Pow(max(rtt, shortestRTT)/typicalRTT, -p.law.RTTBias)
	if !(share > 0) || math.IsInf(share, 0) {
		return 0, fmt.Errorf("a round-trip time of %g s makes an RTT bias of %g a share of %g", rtt, p.law.RTTBias, share)
	}
	return share, nil
}

// withShared is the route of a flow and the channels that it shares with the other direction.
func (p *Predictor) withShared(f contention.Flow, connection int) ([]int32, error) {
	from := len(p.shared)
	p.shared = append(p.shared, f.Data...)
	for _, c := range f.Data {
		if both := p.both[c]; both >= 0 {
			p.shared = append(p.shared, both)
		}
	}
	if isDuplexLimit(p.law.Connection) {
		channel := 2*len(p.both) + connection
		p.shared = append(p.shared, int32(channel))
		rate := bothWays(p.least(f.Data), p.least(f.Reverse), p.law.Connection)
		if err := p.solver.SetCapacity(channel, rate); err != nil {
			return nil, err
		}
	}
	return p.shared[from:len(p.shared):len(p.shared)], nil
}

// least is the lowest known bandwidth in B/s on a route; +Inf if none is known.
func (p *Predictor) least(route []int32) float64 {
	least := math.Inf(1)
	for _, c := range route {
		if x := p.capacity[c]; x < least { // what is not known holds up nothing
			least = x
		}
	}
	return least
}
