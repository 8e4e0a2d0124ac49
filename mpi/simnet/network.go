package simnet

import (
	"fmt"
	"math"

	"github.com/topocast/topocast/model/contention"
	"github.com/topocast/topocast/topology"
)

// A network moves messages as flows. Channels are the arcs of the graph, after
// them one memory channel per host, and those that faults need.
//
// A flow that shares no channel with another has the rate of its slowest
// channel, and the solver never hears of it. It enters the solver, and stays
// there to its end, when another flow wants one of its channels.
type network struct {
	settings *Settings
	graph    *topology.Graph
	routes   *topology.Routes
	arcs     int
	latency  []instant // per arc, without faults
	capacity []float64 // per channel, B/s
	bytes    []int64   // per channel: carried so far

	reverse bool       // flows also load the channels of the way back
	flows   []int32    // per channel: how many use it
	lone    []*message // per channel: the one that does, if the solver does not have it
	solver  *contention.Solver
	members []*message // per flow of the solver
	changed []int      // scratch
	stale   bool       // rates do not hold

	faults   []disturbance
	faultsOf [][]int32   // per channel
	whole    []float64   // per channel: its capacity without faults
	passages [][]passage // per arc; nil: none
}

func newNetwork(g *topology.Graph, s *Settings) (*network, error) {
	n := &network{
		settings: s, graph: g, arcs: g.NumArcs(), reverse: s.Sharing.Coupling > 0,
		latency: make([]instant, g.NumArcs()), capacity: make([]float64, g.NumArcs()+g.Hosts()),
	}
	for i, a := range g.Arcs() {
		if math.IsNaN(a.Latency) || math.IsNaN(a.Bandwidth) {
			return nil, fmt.Errorf("simnet: link %s->%s: latency %g s, bandwidth %g B/s: want both known", g.Name(a.From), g.Name(a.To), a.Latency, a.Bandwidth)
		}
		n.latency[i], n.capacity[i] = picoseconds(a.Latency), a.Bandwidth
	}
	for h := range g.Hosts() {
		n.capacity[n.arcs+h] = s.Memory.Bandwidth
	}
	n.addFaults(s)
	var err error
	if n.solver, err = contention.NewSolver(n.capacity, &s.Sharing); err != nil {
		return nil, fmt.Errorf("simnet: %w", err)
	}
	if n.routes, err = topology.NewRoutes(g, s.Routing); err != nil {
		return nil, fmt.Errorf("simnet: %w", err)
	}
	channels := len(n.capacity)
	n.bytes, n.flows, n.lone = make([]int64, channels), make([]int32, channels), make([]*message, channels)
	return n, nil
}

// plan fills in the way of a message from host src to host dst: its channels,
// its latency if it leaves at some instant, what it takes of links and the rate that it never exceeds.
func (n *network) plan(m *message, src, dst int, at instant) error {
	s := n.settings
	m.channels = m.channels[:0]
	m.latency, m.bound, m.left = 0, math.Inf(1), float64(m.size)
	if src == dst {
		m.channels = append(m.channels, int32(n.arcs+src))
		m.latency, m.bound = picoseconds(s.Memory.Latency), s.Memory.PerCopy
	} else {
		var err error
		if m.channels, err = n.routes.AppendRoute(m.channels, src, dst); err != nil {
			return err
		}
		m.latency = n.latencyOf(m.channels, at)
		m.channels = n.appendPassages(m.channels, src, dst)
	}
	m.data = len(m.channels)
	if src != dst && (n.reverse || !math.IsInf(s.Window, 1)) {
		var err error
		if m.channels, err = n.routes.AppendRoute(m.channels, dst, src); err != nil {
			return err
		}
	}
	back := n.latencyOf(m.channels[m.data:], at)
	for i := len(s.Factors) - 1; i >= 0; i-- {
		if f := s.Factors[i]; f.Bytes <= m.size {
			m.latency, back = picoseconds(m.latency.seconds()*f.Latency), picoseconds(back.seconds()*f.Latency)
			// A message to which links give less of what they have is a longer one.
			m.left /= f.Bandwidth
			m.bound /= f.Bandwidth
			break
		}
	}
	if trip := m.latency + back; !math.IsInf(s.Window, 1) && trip > 0 {
		m.bound = min(m.bound, s.Window/trip.seconds())
	}
	m.share = 1
	if s.Bias.Power != 0 {
		reference := m.latency.seconds()
		for _, c := range m.channels[:m.data] {
			reference += s.Bias.Bytes / n.capacity[c]
		}
		if reference > 0 {
			m.share = math.Pow(reference, -s.Bias.Power)
		}
	}
	return nil
}

// latencyOf is the latency of a route.
func (n *network) latencyOf(route []int32, at instant) (sum instant) {
	for _, a := range route {
		if latency := n.latency[a]; len(n.faultsOf[a]) == 0 {
			sum += latency
		} else {
			sum += picoseconds(latency.seconds() * n.slower(a, at))
		}
	}
	return sum
}

// alone is the time from end to end that a planned message takes by itself.
func (n *network) alone(m *message) float64 {
	return m.latency.seconds() + m.left/n.slowest(m)
}

func (n *network) slowest(m *message) float64 {
	rate := m.bound
	for _, c := range m.channels[:m.data] {
		rate = min(rate, n.capacity[c])
	}
	return rate
}

// start begins to move m. It is alone, and its arrival is known, or rates are stale.
func (n *network) start(m *message, now instant) error {
	m.since, m.flow, m.whole = now, -1, m.left
	if !n.reverse {
		m.channels = m.channels[:m.data]
	}
	alone := true
	for i, c := range m.channels {
		if i < m.data {
			n.bytes[c] += int64(m.size)
		}
		alone = alone && n.flows[c] == 0
		n.flows[c]++
	}
	m.rate = n.slowest(m)
	if alone {
		for _, c := range m.channels {
			n.lone[c] = m
		}
		return nil
	}
	for _, c := range m.channels {
		if other := n.lone[c]; other != nil {
			if err := n.admit(other); err != nil {
				return err
			}
		}
	}
	return n.admit(m)
}

// admit gives m to the solver.
func (n *network) admit(m *message) error {
	for _, c := range m.channels {
		n.lone[c] = nil
	}
	id, err := n.solver.Add(m.channels[:m.data], m.channels[m.data:], m.bound, m.share)
	if err != nil {
		return err
	}
	for id >= len(n.members) {
		n.members = append(n.members, nil)
	}
	n.members[id] = m
	m.flow = int32(id)
	n.stale = true
	return nil
}

// stop takes m, which has arrived, out.
func (n *network) stop(m *message) {
	for _, c := range m.channels {
		n.flows[c]--
		if m.flow < 0 {
			n.lone[c] = nil
		}
	}
	if m.flow >= 0 {
		n.solver.Remove(int(m.flow))
		n.members[m.flow] = nil
		n.stale = true
	}
}

// solve brings the rates up to date, and moves the arrivals of the messages
// whose rates changed.
func (n *network) solve(now instant, queue *eventQueue) {
	n.stale = false
	n.changed = n.solver.Solve(n.changed[:0])
	for _, id := range n.changed {
		m := n.members[id]
		rate := n.solver.Rate(id)
		if rate == m.rate {
			continue
		}
		m.left = max(0, m.left-m.rate*(now-m.since).seconds())
		m.since, m.rate = now, rate
		// What rounding leaves is nothing (Zhu et al. 2014, Algorithm 2, would wait for it).
		if m.left <= contention.NothingLeft*m.whole {
			m.left = 0
		}
		queue.move(int(m.place), m.arrives())
	}
}

// arrives is the instant at which m has moved, at its present rate.
func (m *message) arrives() instant {
	s := m.left / m.rate
	if !(s < farAway) {
		return forever
	}
	return min(forever, m.since+instant(math.Ceil(s*1e12)))
}
