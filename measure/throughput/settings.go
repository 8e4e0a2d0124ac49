package throughput

import (
	"cmp"
	"fmt"

	"github.com/topocast/topocast/measure/harness"
	"github.com/topocast/topocast/model"
	"github.com/topocast/topocast/topology"
)

// Settings of a measurement. Those of rank 0 count; other ranks may pass nil.
type Settings struct {
	harness.Control // Progress counts the steps of a part
	Load

	// Topology is the machine as it is known, its ranks those of the communicator. Confident groups count, as in a
	// model.Network made of it. It is needed.
	Topology *topology.Result

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
	// messages between them are slower while those on the way between are busy tells
	// (the blocking of Bufe 2014, section 2.2.1). The way has to have two hosts at least
	// between them.
	Direct [][2]int

	wiring *topology.Graph // of Topology; Remeasure has that of a network
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

// A target is a kind of thing that is measured.
type target int

// The things that are measured; numbers stand for them in files.
const (
	nodeNode     target = 1 << iota // links between hosts
	parallel                        // whether the links of a switch's hosts can be measured at once
	nodeSwitch                      // links between hosts and switches
	switchSwitch                    // links between switches
	maximum                         // what each switch carries at most
	blocking                        // the pairs of Settings.Direct
)

func (w target) String() string {
	switch w {
	case nodeNode:
		return "links between hosts"
	case parallel:
		return "switches"
	case nodeSwitch:
		return "links of hosts"
	case switchSwitch:
		return "links between switches"
	case maximum:
		return "maxima of switches"
	case blocking:
		return "direct links"
	}
	return fmt.Sprintf("target %d", int(w))
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

// validate fills in defaults.
func (l *Load) validate() error {
	for _, x := range []struct {
		name            string
		value           *int
		usual, min, max int
	}{
		{"Size", &l.Size, defaultSize, 1, maxSize},
		{"Messages", &l.Messages, defaultMessages, fewestMessages, maxMessages},
		{"Samples", &l.Samples, defaultSamples, 1, maxMessages},
		{"Pairs", &l.Pairs, defaultPairs, 1, maxMessages},
	} {
		*x.value = cmp.Or(*x.value, x.usual)
		if *x.value < x.min || *x.value > x.max {
			return fmt.Errorf("throughput: Settings.%s: %d: want in [%d, %d]", x.name, *x.value, x.min, x.max)
		}
	}
	return nil
}

// validate fills in defaults.
func (s *Settings) validate(ranks int) error {
	if s.Budget < 0 {
		return fmt.Errorf("throughput: Settings.Budget: %v: want at least 0", s.Budget)
	}
	for _, p := range s.Direct {
		if p[0] == p[1] || min(p[0], p[1]) < 0 || max(p[0], p[1]) >= ranks {
			return fmt.Errorf("throughput: Settings.Direct: %d and %d: want two different ranks in [0, %d)", p[0], p[1], ranks)
		}
	}
	if s.wiring == nil {
		if s.Topology == nil {
			return fmt.Errorf("throughput: Settings.Topology: nil: want the machine to measure")
		}
		n, err := model.New(s.Topology, nil)
		if err != nil {
			return fmt.Errorf("throughput: Settings.Topology: %w", err)
		}
		s.wiring = n.Graph()
	}
	if s.wiring.Hosts() != ranks {
		return fmt.Errorf("throughput: Settings.Topology: of %d ranks, the job has %d", s.wiring.Hosts(), ranks)
	}
	return s.Load.validate()
}
