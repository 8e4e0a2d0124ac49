package simnet

import (
	"cmp"
	"fmt"
	"math"

	"github.com/topocast/topocast/model/contention"
	"github.com/topocast/topocast/topology"
)

// Settings of a simulated cluster. Nil and the zero value mean all defaults: a
// message of m bytes takes the latency of its route plus m over the rate that
// it gets, and software takes no time.
type Settings struct {
	// Send and Recv are what a message costs the CPU of its sender and of its
	// receiver, by its size: the overheads os and or of PLogP. Default: nothing.
	Send, Recv Overhead

	// EagerLimit is the size in bytes up to which a message leaves at once and
	// Send returns; longer ones wait until the receiver has asked for them, and
	// Send returns when they have arrived. Default 65536; negative: all wait.
	EagerLimit int

	// KeepUnexpected keeps messages of up to EagerLimit bytes with the sender until
	// the receiver has called for them, though Send has returned. SimGrid does so by
	// default. By default they leave at once.
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

	// Sharing says how flows share links. Default: fair.
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
	// number within it. Default: hosts of one name are a machine, and Core is -1.
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

// Noise varies the time that a message takes when alone, as measured latencies vary. The factor is
// 1 + Sigma N(0,1), and with probability Outliers one more, uniform in 1.5
// to 10. It shifts the moment at which the
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
	for _, x := range []struct {
		value  *float64
		unless float64
	}{
		{&v.Memory.Latency, defaultMemoryWait},
		{&v.Memory.Bandwidth, defaultMemory},
		{&v.Memory.PerCopy, math.Inf(1)},
		{&v.Window, math.Inf(1)},
		{&v.ClockCost, defaultClockCost},
	} {
		if *x.value == 0 {
			*x.value = x.unless
		}
	}
	v.Memory.Latency, v.ClockCost = max(0, v.Memory.Latency), max(0, v.ClockCost)
	v.EagerLimit = cmp.Or(v.EagerLimit, defaultEagerLimit)
	bad := func(field string, value any, want string) error {
		return fmt.Errorf("simnet: Settings.%s: %v: want %s", field, value, want)
	}
	const positive = "at least 0 and finite"
	for _, c := range []struct {
		field string
		value any
		want  string
		is    bool
	}{
		{"Send", v.Send, positive, finite(v.Send.Seconds, v.Send.PerByte)},
		{"Recv", v.Recv, positive, finite(v.Recv.Seconds, v.Recv.PerByte)},
		{"HollowAbove", v.HollowAbove, "at least 0", v.HollowAbove >= 0},
		{"Memory.Latency", v.Memory.Latency, "finite", finite(v.Memory.Latency)},
		{"Memory.Bandwidth", v.Memory.Bandwidth, "above 0", v.Memory.Bandwidth > 0},
		{"Memory.PerCopy", v.Memory.PerCopy, "above 0", v.Memory.PerCopy > 0},
		{"Window", v.Window, "above 0", v.Window > 0},
		{"Bias", v.Bias, positive, finite(v.Bias.Power, v.Bias.Bytes)},
		{"ClockCost", v.ClockCost, "finite", finite(v.ClockCost)},
		{"Clocks", v.Clocks, "Apart at least 0 and finite, Drift from 0 to below 0.5", finite(v.Clocks.Apart, v.Clocks.Drift) && v.Clocks.Drift < 0.5},
		{"Node", fmt.Sprintf("%d values", len(v.Node)), fmt.Sprintf("one per host: %d", g.Hosts()), v.Node == nil || len(v.Node) == g.Hosts()},
		{"Noise", v.Noise, "0 to 1", finite(v.Noise.Sigma, v.Noise.Outliers) && max(v.Noise.Sigma, v.Noise.Outliers) <= 1},
		{"Stalls", v.Stalls, positive + ", Least up to Most", finite(v.Stalls.Every, v.Stalls.Least, v.Stalls.Most) && v.Stalls.Least <= v.Stalls.Most},
	} {
		if !c.is {
			return v, bad(c.field, c.value, c.want)
		}
	}
	for i, f := range v.Factors {
		if f.Bytes < 0 || i > 0 && f.Bytes <= v.Factors[i-1].Bytes {
			return v, bad(fmt.Sprintf("Factors[%d].Bytes", i), f.Bytes, "ascending from at least 0")
		}
		if !finite(f.Latency, f.Bandwidth) || f.Bandwidth == 0 {
			return v, bad(fmt.Sprintf("Factors[%d]", i), f, "finite factors, Bandwidth above 0")
		}
	}
	return v, v.Faults.validate(g, ranks)
}

// machines returns the machine of each host of the graph: node if that is given. Else hosts of one name are cores of one
// machine, as in a network that was measured with several ranks per host. Its number is that of the first of them.
func machines(g *topology.Graph, node []int) []int {
	if node != nil {
		return node
	}
	first := make(map[string]int, g.Hosts())
	machine := make([]int, g.Hosts())
	for host, name := range g.Names()[:g.Hosts()] {
		if _, known := first[name]; !known {
			first[name] = host
		}
		machine[host] = first[name]
	}
	return machine
}

// finite tells whether all values are at least 0 and finite.
func finite(values ...float64) bool {
	for _, x := range values {
		if !(x >= 0) || math.IsInf(x, 1) {
			return false
		}
	}
	return true
}
