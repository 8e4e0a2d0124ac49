package netlab

import (
	"math"
	"time"

	events "github.com/topocast/topocast/internal/queue"
	"github.com/topocast/topocast/topology"
)

// ethernetHeader is the length of addresses and type, in bytes.
const ethernetHeader = 14

// A Counter is what one link direction has carried.
type Counter struct {
	From      string `json:"from"`
	To        string `json:"to"`
	Frames    uint64 `json:"frames"`
	Bytes     uint64 `json:"bytes"` // of Ethernet frames
	Drops     uint64 `json:"drops"`
	Marks     uint64 `json:"marks"`            // ECN
	QueuePeak uint64 `json:"queue_peak_bytes"` // most bytes that have waited
}

// Counters is what the fabric has counted since it started, or since the last
// reset.
type Counters struct {
	Links []Counter `json:"links"` // in the order of the graph's arcs
	Loop  Loop      `json:"loop"`
}

// Loop tells how well the fabric has kept time.
type Loop struct {
	Frames   uint64  `json:"frames"`    // delivered
	Stray    uint64  `json:"stray"`     // frames for no host of the lab, discarded
	Elapsed  float64 `json:"elapsed_s"` // since the reset
	Busy     float64 `json:"busy_s"`    // of that, not asleep
	Worst    float64 `json:"worst_s"`   // latest delivery after its due time
	Late     float64 `json:"late_s"`    // mean lateness of deliveries
	Above1ms uint64  `json:"above_1ms"` // deliveries later than that
	Stalled  float64 `json:"stalled_s"` // of the time elapsed, in which an event was due and had to wait for more than 1 ms
	RealTime bool    `json:"real_time"` // has real-time priority
	CPU      int     `json:"cpu"`       // on which the fabric runs; -1: any
}

// stall is how long, in ns, what should run has to be away for times to suffer: the machine
// has given the CPU to something else.
const stall = 1_000_000

// stalledShare is the share of stalls in the time of a measurement up to which the fabric has
// kept time in it. A stall makes what is measured longer by its own length at most.
const stalledShare = 0.02

// OnTime tells whether the fabric has kept time, so that what was measured meanwhile tells of the
// network. Otherwise it tells of the machine.
func (l Loop) OnTime() bool { return l.Stalled <= stalledShare*l.Elapsed }

// Plus is the account of both times together. The fabric is that of m.
func (l Loop) Plus(m Loop) Loop {
	m.Late = (l.Late*float64(l.Frames) + m.Late*float64(m.Frames)) / max(1, float64(l.Frames+m.Frames))
	m.Frames += l.Frames
	m.Stray += l.Stray
	m.Elapsed += l.Elapsed
	m.Busy += l.Busy
	m.Worst = max(l.Worst, m.Worst)
	m.Above1ms += l.Above1ms
	m.Stalled += l.Stalled
	return m
}

// newEngine makes the network of a cluster, its routes fixed.
func newEngine(c *Cluster) (*engine, error) {
	paths, err := paths(c)
	if err != nil {
		return nil, err
	}
	hosts := c.Graph.Hosts()
	e := &engine{
		paths: paths, hosts: hosts, forward: c.Switching == storeAndForward,
		links:  make([]link, c.Graph.NumArcs()),
		jitter: newJitter(c.Jitter, hosts),
		coming: make(events.Min, 0, 4096),
	}
	quantum := c.MTU + ethernetHeader
	for i, a := range c.Graph.Arcs() {
		q := c.Queues.Switch
		if !c.Graph.IsSwitch(a.From) {
			q = c.Queues.NIC
		}
		e.links[i] = link{
			perByte: 1e9 / a.Bandwidth,
			delay:   int64(math.Round(a.Latency * 1e9)),
			queue:   newQueue(q, quantum),
		}
		e.links[i].count.From, e.links[i].count.To = c.Graph.Name(a.From), c.Graph.Name(a.To)
	}
	return e, nil
}

func (e *engine) counters() []Counter {
	cs := make([]Counter, len(e.links))
	for i := range e.links {
		cs[i] = e.links[i].count
	}
	return cs
}

func (e *engine) reset() {
	for i := range e.links {
		c := &e.links[i].count
		*c = Counter{From: c.From, To: c.To}
	}
}

// seconds of a number of ns.
func seconds(ns int64) float64 { return time.Duration(ns).Seconds() }

// paths lays out the route from each host to each other one, as arcs.
func paths(c *Cluster) ([][]int32, error) {
	routes, err := topology.NewRoutes(c.Graph, c.Routing)
	if err != nil {
		return nil, err
	}
	n := c.Graph.Hosts()
	all := make([][]int32, n*n)
	for src := range n {
		for dst := range n {
			if src == dst {
				continue
			}
			if all[src*n+dst], err = routes.AppendRoute(nil, src, dst); err != nil {
				return nil, err
			}
		}
	}
	return all, nil
}
