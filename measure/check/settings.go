package check

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"time"

	"github.com/topocast/topocast/internal/words"
	"github.com/topocast/topocast/topology"
)

// Settings of a check. Nil and the zero value mean all defaults.
type Settings struct {
	// Graph is the wiring, whose hosts are those that are checked, with the
	// latencies and bandwidths that its links should have. Nil: not known, and only
	// hosts can be named.
	Graph *topology.Graph

	// Routing says which of equally short routes the machine takes.
	Routing topology.RouteChoice

	// Load says that all hosts are to send and receive at once: the check finds what passes alone and fails
	// together. It needs a graph.
	Load bool

	// Bytes is the size of the long messages. Default 1 MiB. Under load they have to take thirty times the longest
	// latency: the default is 4 MiB there, or as many MiB as take so long.
	Bytes int

	// Tolerance is how much more than it should a link's or host's time may be, as
	// a share: what is less slow is never named. Default 0.1; at least 0.01.
	Tolerance float64

	// FalseAlarms is the probability that anything at all is named in a machine
	// without faults. Default 0.005.
	FalseAlarms float64

	// Seed is that of the choice of pairs.
	Seed uint64

	// Budget bounds the time, by the clock of the communicator; a third of a round more
	// may be measured. Measure only. Default 0: no bound.
	Budget time.Duration

	// Silence is how long a rank waits for another one before the job is ended with a
	// harness.SilentError instead of waiting for good, see harness.Control. Default 5
	// minutes; negative: never. Measure only.
	Silence time.Duration
}

const (
	defaultBytes       = 1 << 20 // B: a transfer outlasts the latency up to 100 Gbit/s
	loadBytes          = 4 << 20 // B, at least: ranks begin at nearly the same time, as such a transfer has it
	defaultTolerance   = 0.1     // links of one kind differ by less
	defaultFalseAlarms = 0.005   // half of one run in a hundred
	leastTolerance     = 0.01    // less is drift
)

// validate returns the settings with defaults filled in, for so many hosts.
func (s *Settings) validate(hosts int) (Settings, error) {
	v := *cmp.Or(s, &Settings{})
	bad := func(field string, value any, want string) error {
		return fmt.Errorf("check: Settings.%s: %v: want %s", field, value, want)
	}
	v.Tolerance = cmp.Or(v.Tolerance, defaultTolerance)
	v.FalseAlarms = cmp.Or(v.FalseAlarms, defaultFalseAlarms)
	switch {
	case hosts < fewestHosts:
		return v, fmt.Errorf("check: %s: want at least %d, or none stands out", words.Count(hosts, "host"), fewestHosts)
	case v.Graph != nil && v.Graph.Hosts() != hosts:
		return v, bad("Graph", fmt.Sprintf("%d hosts", v.Graph.Hosts()), fmt.Sprintf("%d", hosts))
	case v.Load && v.Graph == nil:
		return v, fmt.Errorf("check: Settings.Graph: want the wiring: without it nobody knows what transfers share")
	case v.Bytes < 0 || v.Bytes > math.MaxInt32:
		return v, bad("Bytes", v.Bytes, "1 to 2^31-1")
	case !(v.Tolerance >= leastTolerance) || math.IsInf(v.Tolerance, 1):
		return v, bad("Tolerance", v.Tolerance, fmt.Sprintf("at least %g", leastTolerance))
	case !(v.FalseAlarms > 0 && v.FalseAlarms < 1):
		return v, bad("FalseAlarms", v.FalseAlarms, "a probability above 0 and below 1")
	case v.Budget < 0:
		return v, bad("Budget", v.Budget, "at least 0")
	}
	return v, nil
}

const fewestHosts = 4 // of three, one that is off is off to all, and so are the others

// A measurement is what the probes of one pair (a, b) tell. NaN is not measured.
type measurement struct {
	Latency float64 // s: half a round trip of a short message; not under load
	Forward float64 // s: a long message from a to b, and a short one back; under load the long one
	Back    float64 // s: a long message from b to a, and a short one back; not under load
}

// An oracle measures pairs of hosts at once and returns what each took, in their order. It ends the check by an error, or by
// none and nothing measured: then what was measured before counts. Pairs are disjoint. Under load a host may be the first of one pair
// and the second of another one.
type oracle func(ctx context.Context, pairs [][2]int) ([]measurement, error)
