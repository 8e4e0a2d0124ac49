package simnet

import (
	"fmt"
	"math"

	"github.com/topocast/topocast/model/contention"
	"github.com/topocast/topocast/topology"
)

// Settings of a simulated cluster. Nil and the zero value mean all defaults:
// a network in which a message of m bytes takes the latency of its route plus
// m over the rate that it gets, and software takes no time.
type Settings struct {
	// Send and Recv are what a message costs the CPU of its sender and of its
	// receiver, by its size: the overheads os and or of PLogP. Default: nothing.
	Send, Recv Overhead

	// EagerLimit is the size in bytes up to which a message leaves at once and
	// Send returns; longer ones wait until the receiver has asked for them, and
	// Send returns when they have arrived. Default 65536; negative: all wait.
	EagerLimit int

	// KeepUnexpected keeps messages of up to EagerLimit bytes with the sender, though
	// Send has returned, until the receiver has called for them, as SimGrid does
	// by default. By default they leave at once.
	KeepUnexpected bool

	// NoHandshake lets a message above EagerLimit leave as soon as both sides
	// are there. By default a request crosses to the receiver and its consent
	// back before.
	NoHandshake bool

	// FlowPerMessage lets all messages that one rank sends to another share links
	// as flows of their own, as SimGrid does. By default they follow each
	// other, as over one connection.
	FlowPerMessage bool

	// HollowAbove makes messages of more bytes than this hollow: they take their
	// time, but their content stays behind, and the receive buffer as it is. With
	// one buffer shared by all ranks, many ranks fit into little memory, and
	// the simulation does not spend its time on copying. Default: none is.
	HollowAbove int

	// Memory is the copying of messages between ranks of one host of the graph.
	Memory Memory

	// Sharing says how flows share links. Its Coupling has one value per arc
	// of the graph. Default: fair.
	Sharing contention.Sharing

	// Routing says which of equally short routes is taken.
	Routing topology.RouteChoice

	// Window bounds a flow to so many bytes per round trip of its route, as
	// TCP does. Default: no bound.
	Window float64

	// Factors scale latency and bandwidth by the size of the message: the last
	// entry whose Bytes are not above the size counts. Default: none.
	Factors []Factor

	// Bias lets flows with short routes take more of a link. Default: all
	// take the same.
	Bias Bias

	// ClockCost is what reading the clock takes in s. Default 20 ns; negative:
	// nothing. Without it, a loop that waits for a time to come never ends.
	ClockCost float64

	// Clocks are the clocks of the machines.
	Clocks Clocks

	// Node is the machine in which each host of the graph is, where hosts are
	// cores. Ranks of one machine have one ProcessorName, and Core is the
	// number within it. Default: each host is a machine, and Core is -1.
	Node []int

	// Noise makes timings differ. Default: none.
	Noise Noise

	// Stalls are times in which ranks stand still. Default: none.
	Stalls Stalls

	// Faults are what is wrong with the cluster.
	Faults Faults

	// Seed is the seed of the noise.
	Seed uint64
}

// Overhead is a cost of a fixed part and one per byte.
type Overhead struct {
	Seconds float64 // s
	PerByte float64 // s/B
}

// Memory is the way of a message between two ranks of one host.
type Memory struct {
	Latency   float64 // s; default 200 ns, negative: none
	Bandwidth float64 // B/s that all copies inside one host share; default 10e9
	PerCopy   float64 // B/s that one copy reaches at most; default: no bound
}

// Factor scales what a message of at least Bytes bytes meets.
type Factor struct {
	Bytes     int
	Latency   float64 // times the latency of the route
	Bandwidth float64 // of what links have, the share that such messages can use
}

// Bias says in which proportion flows share a link: to the power -Power of the
// time that Bytes bytes take alone, latency plus Bytes over the bandwidth of
// each link. Power 1 and 20537 B is the law that SimGrid has fitted to TCP.
type Bias struct {
	Power float64
	Bytes float64
}

// Noise varies the time that a message takes when alone by a random factor of
// 1 + Sigma N(0,1), and with probability Outliers by one more, uniform in 1.5
// to 10: the noise of measured latencies. It shifts the moment at which the
// message moves, not its rate.
type Noise struct {
	Sigma    float64
	Outliers float64
}

const (
	defaultEagerLimit = 64 << 10
	defaultClockCost  = 20e-9
	defaultMemory     = 10e9   // B/s
	defaultMemoryWait = 200e-9 // s
)

// validate returns the settings with defaults filled in.
func (s *Settings) validate(g *topology.Graph, ranks int) (Settings, error) {
	var v Settings
	if s != nil {
		v = *s
	}
	bad := func(field string, value any, want string) error {
		return fmt.Errorf("simnet: Settings.%s: %v: want %s", field, value, want)
	}
	finite := func(x float64) bool { return x >= 0 && !math.IsInf(x, 1) }
	for _, o := range []struct {
		name string
		o    Overhead
	}{{"Send", v.Send}, {"Recv", v.Recv}} {
		if !finite(o.o.Seconds) || !finite(o.o.PerByte) {
			return v, bad(o.name, o.o, "at least 0 and finite")
		}
	}
	if v.EagerLimit == 0 {
		v.EagerLimit = defaultEagerLimit
	}
	if v.HollowAbove < 0 {
		return v, bad("HollowAbove", v.HollowAbove, "at least 0")
	}
	switch {
	case v.Memory.Latency == 0:
		v.Memory.Latency = defaultMemoryWait
	case v.Memory.Latency < 0:
		v.Memory.Latency = 0
	case !finite(v.Memory.Latency):
		return v, bad("Memory.Latency", v.Memory.Latency, "finite")
	}
	if v.Memory.Bandwidth == 0 {
		v.Memory.Bandwidth = defaultMemory
	}
	if v.Memory.PerCopy == 0 {
		v.Memory.PerCopy = math.Inf(1)
	}
	if v.Window == 0 {
		v.Window = math.Inf(1)
	}
	for _, b := range []struct {
		name string
		v    float64
	}{{"Memory.Bandwidth", v.Memory.Bandwidth}, {"Memory.PerCopy", v.Memory.PerCopy}, {"Window", v.Window}} {
		if !(b.v > 0) {
			return v, bad(b.name, b.v, "above 0")
		}
	}
	for i, f := range v.Factors {
		if f.Bytes < 0 || i > 0 && f.Bytes <= v.Factors[i-1].Bytes {
			return v, bad(fmt.Sprintf("Factors[%d].Bytes", i), f.Bytes, "ascending from at least 0")
		}
		if !finite(f.Latency) || !finite(f.Bandwidth) || f.Bandwidth == 0 {
			return v, bad(fmt.Sprintf("Factors[%d]", i), f, "finite factors, Bandwidth above 0")
		}
	}
	if !finite(v.Bias.Power) || !finite(v.Bias.Bytes) {
		return v, bad("Bias", v.Bias, "at least 0 and finite")
	}
	switch {
	case v.ClockCost == 0:
		v.ClockCost = defaultClockCost
	case v.ClockCost < 0:
		v.ClockCost = 0
	case !finite(v.ClockCost):
		return v, bad("ClockCost", v.ClockCost, "finite")
	}
	if c := v.Clocks; !finite(c.Apart) || !(c.Drift >= 0 && c.Drift < 0.5) {
		return v, bad("Clocks", c, "Apart at least 0 and finite, Drift from 0 to below 0.5")
	}
	if v.Node != nil && len(v.Node) != g.Hosts() {
		return v, bad("Node", fmt.Sprintf("%d values", len(v.Node)), fmt.Sprintf("one per host: %d", g.Hosts()))
	}
	if !finite(v.Noise.Sigma) || v.Noise.Sigma > 1 || !(v.Noise.Outliers >= 0 && v.Noise.Outliers <= 1) {
		return v, bad("Noise", v.Noise, "0 to 1")
	}
	if x := v.Stalls; !finite(x.Every) || !finite(x.Least) || !finite(x.Most) || x.Least > x.Most {
		return v, bad("Stalls", x, "at least 0 and finite, Least up to Most")
	}
	return v, v.Faults.validate(g, ranks)
}
