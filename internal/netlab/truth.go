package netlab

import (
	"math"

	"github.com/topocast/topocast/model/contention"
)

// A stream is a number of bytes to send from host a to host b.
type stream struct {
	a, b, bytes int
}

// A truth says what the cluster file promises of plain TCP: how long a byte takes between two hosts, and how long streams take
// that share links max-min fairly. The cost of the hosts' kernels is not in it.
type truth struct {
	c     *Cluster
	paths [][]int32
}

func newTruth(c *Cluster) (*truth, error) {
	paths, err := paths(c)
	return &truth{c, paths}, err
}

func (t *truth) path(a, b int) []int32 { return t.paths[a*t.c.Graph.Hosts()+b] }

// tcpHeaders are the bytes of headers: IPv4 and TCP with time stamps.
const tcpHeaders = 20 + 20 + 12

// latency is the time in s of a byte from host a to host b.
func (t *truth) latency(a, b int) float64 {
	const bytes = ethernetHeader + tcpHeaders + 1
	sum, wire := 0.0, 0.0
	for _, i := range t.path(a, b) {
		arc := t.c.Graph.Arcs()[i]
		sum += arc.Latency
		if t.c.Switching == storeAndForward {
			wire += bytes / arc.Bandwidth
		} else {
			wire = max(wire, bytes/arc.Bandwidth)
		}
	}
	return sum + wire
}

// slowest is the least rate on the way, in B/s of payload.
func (t *truth) slowest(a, b int) float64 {
	rate := math.Inf(1)
	for _, i := range t.path(a, b) {
		rate = min(rate, t.c.Graph.Arcs()[i].Bandwidth)
	}
	return rate * t.payload()
}

// payload is the share of payload in full frames.
func (t *truth) payload() float64 {
	return float64(t.c.MTU-tcpHeaders) / float64(t.c.MTU+ethernetHeader)
}

// times are the times in s at which streams that start at once and share the
// links max-min fairly have arrived.
func (t *truth) times(streams []stream) ([]float64, error) {
	capacity := make([]float64, t.c.Graph.NumArcs())
	for i, a := range t.c.Graph.Arcs() {
		capacity[i] = a.Bandwidth * t.payload()
	}
	solver, err := contention.NewSolver(capacity, nil)
	if err != nil {
		return nil, err
	}
	flows := make([]contention.Flow, len(streams))
	for i, s := range streams {
		flows[i] = contention.Flow{Data: t.path(s.a, s.b), Bytes: float64(s.bytes)}
	}
	took, err := solver.Times(nil, flows)
	if err != nil {
		return nil, err
	}
	for i, s := range streams {
		took[i] += t.latency(s.a, s.b)
	}
	return took, nil
}
