package throughput

import (
	"fmt"
	"slices"

	"github.com/topocast/topocast/internal/words"
	"github.com/topocast/topocast/measure/harness"
	"github.com/topocast/topocast/model"
	"github.com/topocast/topocast/model/fit"
	"github.com/topocast/topocast/topology"
)

// A Result is what the links of a machine were measured to carry.
type Result struct {
	Graph    *topology.Graph // of the network that was measured along
	Network  *model.Network  // Settings.Network with what was measured anew; nil without it
	Size     int             // B, of a message
	Samples  int
	Links    []Link          // one per arc of the graph, in its order
	Switches []Switch        // that have two hosts or more, or a maximum
	Direct   []Direct        // of Settings.Direct, as far as they were measured
	Steps    int             // done
	Seconds  float64         // that it took
	Stopped  harness.Stopped // why it ended early, as harness.Outcome has it, or ""
	Warnings []string        // what is uncertain, each one sentence

	measurements []measurement
	latencies    []fit.Observation // of single messages, half round trips
}

// A measurement is what pairs of ranks that were measured together came to in one
// direction.
type measurement struct {
	Pairs    [][2]int // ranks, sender and receiver
	Messages int      // of each pair, per sample
	Step     int      // that it was measured in, among others; from 0
	Rates    []float64
	Rate     float64   // B/s of all pairs together: the sample that counts
	Seconds  []float64 // that the messages of each pair took in it, from end to end
}

// A Link is one direction of a link.
type Link struct {
	From, To int
	Rate     float64 // B/s; NaN if it was not measured
	AtLeast  bool    // the link may be faster: what it was loaded with carries no more

	measurements []int // indices, of all that tell of it
}

// A Switch is what was seen of one.
type Switch struct {
	Vertex int

	// Rates in B/s. Alone is that of two of its hosts by themselves, and Rest that of its other ones by themselves.
	// All is that of all hosts at once. Parallel says that All is the
	// sum, so that links of its hosts can be measured at once. Rates are NaN where there are
	// fewer than four hosts.
	Alone, Rest, All float64
	Parallel         bool

	// Maximum is what passes the switch from one side to the other and back, in B/s; NaN if
	// it was not measured. AtLeast says that the links beside it were full.
	Maximum [2]float64
	AtLeast [2]bool

	pair [2]int // the first one that was measured for it
}

// A Direct is the answer for a pair of hosts that may be wired to each other.
type Direct struct {
	Pair           [2]int
	Alone, Blocked float64 // B/s, when nothing else is under way, and when the hosts between are busy
	Wired          bool    // there is a link of their own: neither gives way to the other; false with a warning if that cannot be seen
}

// Observations are the measurements as fit.Network takes them. Others of the same step did not disturb
// a measurement.
func (r *Result) Observations() []fit.Observation {
	var all []fit.Observation
	for i := range r.measurements {
		x := &r.measurements[i]
		o := fit.Observation{Streamed: true, Seconds: x.Seconds}
		for _, p := range x.Pairs {
			o.Transfers = append(o.Transfers, model.Transfer{Src: p[0], Dst: p[1], Bytes: int64(r.Size) * int64(x.Messages)})
		}
		all = append(all, o)
	}
	return all
}

// Measured lists the links whose rate is known, not only bounded, as arcs of the
// graph with that bandwidth, sorted.
func (r *Result) Measured() []topology.Arc {
	var arcs []topology.Arc
	for i, l := range r.Links {
		if l.Rate > 0 && !l.AtLeast {
			a := r.Graph.Arcs()[i]
			a.Bandwidth, a.Estimated = l.Rate, false
			arcs = append(arcs, a)
		}
	}
	return slices.Clip(arcs)
}

// warn says what is uncertain.
func (c *campaign) warn() {
	r := c.r
	kinds := []string{"links between hosts", "links of hosts", "links between switches"}
	missing, bounded := make([]int, len(kinds)), make([]int, len(kinds))
	for _, l := range r.Links {
		kind := 0 // the number of switches at its ends
		for _, v := range []int{l.From, l.To} {
			if c.g.IsSwitch(v) {
				kind++
			}
		}
		switch {
		case !(l.Rate > 0):
			missing[kind]++
		case l.AtLeast:
			bounded[kind]++
		}
	}
	if r.Stopped != "" {
		r.Warnings = append(r.Warnings, fmt.Sprintf("the measurement was stopped by the %s after %s", r.Stopped, words.Count(r.Steps, "step")))
	}
	for kind, what := range kinds {
		if n := bounded[kind]; n > 0 {
			r.Warnings = append(r.Warnings, fmt.Sprintf("%s: %s may be faster than measured: what loads them carries no more", what, words.Count(n, "direction")))
		}
		if n := missing[kind]; n > 0 {
			r.Warnings = append(r.Warnings, fmt.Sprintf("%s: %s were not measured", what, words.Count(n, "direction")))
		}
	}
	for _, s := range r.Switches {
		if s.All > 0 && !s.Parallel {
			r.Warnings = append(r.Warnings, fmt.Sprintf("%s does not carry all its hosts at once: %.0f %% of what parts of them come to", c.g.Name(s.Vertex), 100*s.All/(s.Alone+s.Rest)))
		}
	}
}
