package throughput

import (
	"errors"
	"fmt"

	"github.com/topocast/topocast/internal/limits"
	"github.com/topocast/topocast/measure/harness"
	"github.com/topocast/topocast/model"
	"github.com/topocast/topocast/topology"
)

// Settings of a measurement. Those of rank 0 count; other ranks may pass nil.
type Settings struct {
	harness.Control // Progress counts the steps of a part
	Load

	// Topology is the machine as it is known, its ranks those of the communicator. Confident groups count, as in a
	// model.Network made of it. It or Network is needed.
	Topology *topology.Result

	// Network, in place of Topology, is a network that is to be measured again (Bufe 2014, section 2.5). First come the
	// latencies of its links, with half of the budget, then the rates. Result.Network has both. Its ranks are those of
	// the communicator, in their order: model.Network.View makes it so.
	Network *model.Network

	// Measured is kept in Result.Network, see fit.Remeasurement.
	Measured model.Metadata

	// Switches measures what each switch carries at most, too (Bufe 2014, section 2.3.4).
	Switches bool

	// ByLatency takes faster links of hosts to have lower latencies: each host of a switch is measured with the next slower
	// and the next faster one, in 2 rounds. By default it is measured with each other one: n-1 rounds. The
	// greatest rate of a host is that of its link. The fastest link is only seen to be at least as
	// fast as the second fastest (Bufe 2014, section 2.3.2). The minimum there
	// is a slip: the rate between two hosts is the lesser of their links'.
	ByLatency bool

	// PerSwitch measures only one link between switches of each switch, where all are
	// taken to be alike (Bufe 2014, section 2.3.3).
	PerSwitch bool

	// Direct are pairs of hosts that may or may not be wired to each other: whether
	// messages between them are slower while those on the route between are busy tells
	// (the blocking of Bufe 2014, section 2.2.1). The route has to have two hosts at least
	// between them, and no other way is to be about as short.
	Direct [][2]int
}

// A Load is how links are loaded. The zero value means all defaults.
type Load struct {
	// Size of a message in bytes. Default 1 MiB. It should take some ten times as
	// long as an empty one.
	Size int

	// Messages that each pair sends per sample, at least 4; fewer where many pairs
	// load one link. Default 8.
	Messages int

	// Samples of each load. The second highest rate counts. Default 3.
	Samples int

	// Pairs is how many pairs load a link between switches at most. Default 16.
	Pairs int
}

const (
	defaultSize     = 1 << 20 // B; 42 us at 25 GB/s
	defaultMessages = 8
	defaultSamples  = 3  // of which the second highest is the middle one
	defaultPairs    = 16 // as many hosts as fill an uplink that is not as wide as all of a rack together

	fewestMessages = 4         // of which a line through their arrivals is seen, also where two come together
	maxSize        = 1<<31 - 1 // B; the counts of MPI are C ints
	maxMessages    = 1 << 20   // a slip of the pen beyond
)

// What Uplinks measures with: 256 KiB take 10 us at 25 GB/s, and eight of them last some
// forty times as long as an empty round trip there; eight pairs fill an uplink that
// is not wider than eight links of hosts, and of two samples one may be disturbed.
const (
	uplinkSize     = 256 << 10 // B
	uplinkMessages = 8
	uplinkSamples  = 2
	uplinkPairs    = 8
)

// Uplinks are settings that measure the links of hosts and between switches of a
// reconstruction with few long messages: the uplink of every confident group, each way, coarse ones first, by
// several pairs at once, as one host's link may not fill it. It takes seven steps for the links of hosts and two for every uplink: 149 on 1,024 hosts in
// 64 racks (BenchmarkUplinks). Networks are fitted to
//
//	r, err := throughput.Measure(ctx, comm, throughput.Uplinks(found, control)) // collective
//	...
//	fit.Network(found, append(observations, r.Observations()...), &fit.Settings{Arcs: r.Measured()})
//
// Without Arcs the fit takes twenty times as long there, and both directions of a link are one.
func Uplinks(found *topology.Result, control harness.Control) *Settings {
	return &Settings{
		Control: control, Topology: found, ByLatency: true,
		Load: Load{Size: uplinkSize, Messages: uplinkMessages, Samples: uplinkSamples, Pairs: uplinkPairs},
	}
}

// validate fills in defaults.
func (l *Load) validate() error {
	return limits.Fill("throughput: Settings",
		limits.Of("Size", &l.Size, defaultSize, 1, maxSize),
		limits.Of("Messages", &l.Messages, defaultMessages, fewestMessages, maxMessages),
		limits.Of("Samples", &l.Samples, defaultSamples, 1, maxMessages),
		limits.Of("Pairs", &l.Pairs, defaultPairs, 1, maxMessages))
}

// wiring fills in defaults, and returns the graph along which so many ranks measure.
func (s *Settings) wiring(ranks int) (*topology.Graph, error) {
	for _, p := range s.Direct {
		if p[0] == p[1] || min(p[0], p[1]) < 0 || max(p[0], p[1]) >= ranks {
			return nil, fmt.Errorf("throughput: Settings.Direct: %d and %d: want two different ranks in [0, %d)", p[0], p[1], ranks)
		}
	}
	network, field, remedy := s.Network, "Network", ": take a view of it"
	switch {
	case s.Network != nil && s.Topology != nil:
		return nil, errors.New("throughput: Settings.Network: given with Topology: want one of the two")
	case s.Network == nil && s.Topology == nil:
		return nil, errors.New("throughput: Settings.Topology: nil: want the machine to measure")
	case s.Network != nil && (s.Network.Measured().Bytes < 0 || s.Network.Measured().Bytes > maxSize):
		return nil, fmt.Errorf("throughput: Settings.Network: latencies of messages of %d B: want in [0, %d]", s.Network.Measured().Bytes, maxSize)
	case s.Topology != nil:
		field, remedy = "Topology", ""
		var err error
		if network, err = model.New(s.Topology, nil); err != nil {
			return nil, fmt.Errorf("throughput: Settings.Topology: %w", err)
		}
	}
	if network.Ranks() != ranks {
		return nil, fmt.Errorf("throughput: Settings.%s: of %d ranks, the job has %d%s", field, network.Ranks(), ranks, remedy)
	}
	return network.Graph(), s.Load.validate()
}
