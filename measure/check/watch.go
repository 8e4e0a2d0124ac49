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
	Date   time.Time
	Points []Point
}

// A Point is one reading of a run. Latencies have no direction.
type Point struct {
	Kind     PointKind
	From, To string  // names of hosts
	Seconds  float64 // s; above 0
}

// A PointKind is of which messages a point tells.
type PointKind string

// The kinds of points.
const (
	PointLatency PointKind = "latency" // half a round trip of a short message
	PointLong    PointKind = "long"    // a long message, answered by a short one
)

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
	defaultStep       = 0.05
	defaultWatchRate  = 0.01
	fewSeries         = 5    // below, what runs have in common cannot be told from single changes
	mostPrior         = 200  // samples that the sigma of all series weighs at most against a series' own
	differenceWeight  = 0.25 // of a difference: their median tells this share of what samples do
	polishSteps       = 5
	sharedChange      = 0.5 // of a change, which the middle one of the pairs has but for the one that has changed most
	leastSeriesSpread = 1e-4
)

// A Change is a step in what a host, link or pair takes.
type Change struct {
	Name     string    // "host n7", "link a - b", "latency a - b", "long messages a > b"
	Kind     PointKind // in which messages
	Run      int       // at which it is told
	Since    int       // the first that is of the new level
	Factor   float64   // new over old time
	Strength float64   // sum over threshold: from 1 up
	Pairs    int       // of a host or link: how many pairs tell of it; 0: it is of one pair
}

// A WatchResult is what Watch has found.
type WatchResult struct {
	Runs    int
	Series  int      // hosts, links and pairs that are watched
	Samples int      // of them that were judged
	Changes []Change // by run; of one run links and hosts before pairs, and the strongest first
	Short   int      // series of too few samples to be judged
}

// Watch looks for changes in the runs of a site, which are in the order of their dates: steps
// in single pairs, in all pairs of a host and, with a graph, in all that crosses a link or a
// direction of one.
//
// What all series of a run have in common is taken out (median polish; Tukey 1977): a run on a
// busy day, another library. Then each series is compared with its own past (see the package's
// manual), so nothing needs to be known of what it should be. Missing hosts and pairs are
// gaps. The host or link whose step explains most is told first. What it explains is taken out of its pairs, so that
// neither they nor other links on their routes are told of it. The first 8 samples of a series only found its level. O(samples * iterations), and some
// 10 ms for each distinct spread of series.
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
		w, err := newWiring(&Settings{Graph: s.Graph, Routing: s.Routing}, s.Graph.Hosts())
		if err != nil {
			return nil, err
		}
		c = newCandidates(w)
	}
	out := &WatchResult{Runs: len(runs)}
	var all []*family
	for _, kind := range []PointKind{PointLatency, PointLong} {
		pairs, err := pairSeries(runs, kind)
		if err != nil {
			return nil, err
		}
		if len(pairs) == 0 {
			continue
		}
		polish(pairs, len(runs))
		all = append(all, newFamily(kind, pairs, sharedSeries(pairs, kind, c), s.Step))
	}
	// Half of the false alarms are for pairs, of which there are many, and half for hosts and links, of which there are
	// few: so these are told sooner. The rate of a run is that of all its series together (Bonferroni).
	pairs, shared := 0, 0
	for _, f := range all {
		pairs, shared = pairs+len(f.pairs), shared+len(f.shared)
	}
	rate := s.FalseAlarms / 2
	for _, f := range all {
		f.watch(out, s.Step, rate/float64(pairs), rate/float64(max(1, shared)))
	}
	out.sort()
	return out, nil
}

func (out *WatchResult) sort() {
	slices.SortStableFunc(out.Changes, func(a, b Change) int {
		pair := func(c Change) int {
			if c.Pairs == 0 {
				return 1
			}
			return 0
		}
		return cmp.Or(cmp.Compare(a.Run, b.Run), cmp.Compare(pair(a), pair(b)), cmp.Compare(b.Strength, a.Strength), hostlist.Naturally(a.Name, b.Name))
	})
}
