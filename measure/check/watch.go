package check

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	"github.com/topocast/topocast/internal/hostlist"
	"github.com/topocast/topocast/topology"
)

// A Run is a sample of a site at one time.
type Run struct {
	Date   time.Time `json:"date,omitzero"` // zero: not known; such runs come first
	Points []Point   `json:"points"`
}

// A Point is one measurement of a run.
type Point struct {
	// Long says that it is of a long message, which a short one answers. Or else it is half a round trip of a short one, which has
	// no direction.
	Long    bool    `json:"long,omitempty"`
	From    string  `json:"from"` // names of hosts
	To      string  `json:"to"`
	Seconds float64 `json:"seconds"` // above 0
}

// WatchSettings of Watch. Nil and the zero value mean all defaults.
type WatchSettings struct {
	// Step is the least change that is looked for, as a share. Default 0.05.
	Step float64

	// FalseAlarms is the share of runs without a change in which anything at all is told, however many series there
	// are. Default 0.01, one night in a hundred; 0.0001 to 0.1.
	FalseAlarms float64

	// Graph is the wiring, with hosts of the names that runs have. Nil: changes are those of pairs
	// and hosts.
	Graph *topology.Graph

	// Routing says which of equally short routes is taken.
	Routing topology.RouteChoice
}

const (
	defaultStep      = 0.05
	defaultWatchRate = 0.01
)

// A Change is a step in what a host, link or pair takes.
type Change struct {
	Name     string  // "host n7", "link a - b", "latency a - b", "long messages a > b"
	Long     bool    // in which messages, see Point
	Run      int     // at which it is told
	Since    int     // the first that is of the new level
	Factor   float64 // new over old time
	Strength float64 // sum over threshold: from 1 up
	Pairs    int     // of a host or link: how many pairs tell of it; 0: it is of one pair
}

// A WatchResult is what Watch has found.
type WatchResult struct {
	Series  int      // hosts, links and pairs that are watched
	Samples int      // of them that were judged
	Changes []Change // by run; of one run links and hosts before pairs, and the strongest first
}

// Watch looks for changes in the runs of a site, which are in the order of their dates: steps
// in single pairs, in all pairs of a host and, with a graph, in all that crosses a link or a
// direction of one.
//
// What all series of a run have in common is taken out (median polish; Tukey 1977): a run on a
// busy day, another library. Then each series is compared with its own past (see the package's
// manual), so nothing needs to be known of what it should be. Missing hosts and pairs are
// gaps. A host or link has changed by what its pairs have changed more than all others. The host or link
// whose step explains most is told first. What it explains is taken out of its pairs, so that
// neither they nor other links on their routes are told of it. The first 8 samples of a series only found its level.
// O(samples * iterations).
func Watch(runs []Run, settings *WatchSettings) (*WatchResult, error) {
	s := *cmp.Or(settings, &WatchSettings{})
	s.Step = cmp.Or(s.Step, defaultStep)
	s.FalseAlarms = cmp.Or(s.FalseAlarms, defaultWatchRate)
	if !(s.Step > 0) || s.Step > 10 {
		return nil, fmt.Errorf("check: WatchSettings.Step: %v: want above 0, at most 10", s.Step)
	}
	if !(s.FalseAlarms >= 1e-4 && s.FalseAlarms <= 0.1) {
		return nil, fmt.Errorf("check: WatchSettings.FalseAlarms: %v: want 0.0001 to 0.1", s.FalseAlarms)
	}
	for i := 1; i < len(runs); i++ {
		if runs[i].Date.Before(runs[i-1].Date) {
			return nil, fmt.Errorf("check: watch: run %d of %s is after that of %s: want them by date", i, runs[i].Date.Format(time.RFC3339), runs[i-1].Date.Format(time.RFC3339))
		}
	}
	var c *candidates
	if s.Graph != nil {
		w, err := newWiring(&Settings{Graph: s.Graph, Routing: s.Routing}, s.Graph.Hosts(), nil)
		if err != nil {
			return nil, err
		}
		c = newCandidates(w)
	}
	out := &WatchResult{}
	var all []*family
	pairs, shared := 0, 0
	for _, long := range []bool{false, true} {
		f, err := newFamily(runs, long, c, s.Step)
		if err != nil {
			return nil, err
		}
		all = append(all, f)
		pairs, shared = pairs+len(f.pairs), shared+len(f.shared)
	}
	// Half of the false alarms are for pairs, of which there are many, and half for hosts and links, of which there are
	// few: so these are told sooner. The rate of a run is that of all its series together (Bonferroni).
	rate := s.FalseAlarms / 2
	for _, f := range all { // what is shared may show half of its step at first
		f.watch(out, newWatcher(s.Step, rate/float64(max(1, pairs))), newWatcher(leastShown*s.Step, rate/float64(max(1, shared))))
	}
	slices.SortStableFunc(out.Changes, func(a, b Change) int {
		return cmp.Or(
			cmp.Compare(a.Run, b.Run), cmp.Compare(min(1, b.Pairs), min(1, a.Pairs)), // those of one pair come last
			cmp.Compare(b.Strength, a.Strength), hostlist.Naturally(a.Name, b.Name))
	})
	return out, nil
}
