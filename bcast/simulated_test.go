package bcast_test

import (
	"cmp"
	"context"
	"math"
	"slices"
	"testing"

	"github.com/topocast/topocast/bcast"
	"github.com/topocast/topocast/bcast/predict"
	"github.com/topocast/topocast/bcast/schedule"
	"github.com/topocast/topocast/measure"
	"github.com/topocast/topocast/model"
	"github.com/topocast/topocast/mpi"
	"github.com/topocast/topocast/mpi/simnet"
	"github.com/topocast/topocast/topology"
)

// A simulated machine has ranks on which single broadcasts are timed, and the network
// that measure.Discover found on it.
type simulated struct {
	graph     *topology.Graph
	placement []int // host of each rank; nil: its own
	settings  *simnet.Settings
	network   *model.Network
	costs     *schedule.Costs
	message   []byte // shared by all ranks: messages are hollow
}

// discover measures the ranks of a simulated machine as Discover would a job's: few pairs, of which
// the latencies tell the groups.
func discover(t testing.TB, g *topology.Graph, placement []int, s *simnet.Settings) *model.Network {
	t.Helper()
	const protocol = 256<<10 - 1 // bytes; what the ranks tell each other while they measure is shorter
	settings := *s
	settings.HollowAbove = protocol
	var n *model.Network
	err := simnet.Run(g, placement, &settings, func(c mpi.Communicator) error {
		d, err := measure.Discover(context.Background(), c, &measure.DiscoverSettings{
			Pairs:    measure.FewPairs,
			Patterns: -1,
			Sampling: measure.Sampling{Repetitions: 1, Samples: 5},
		})
		if d != nil {
			n = d.Network
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return n
}

// time measures a plan: the virtual time of one broadcast from rank 0, that of the last rank.
func (m *simulated) time(t testing.TB, plan *predict.Plan, bytes int) {
	t.Helper()
	m.timeIn(t, plan, m.problem(bytes, plan.Segment))
}

// timeIn measures a plan for a problem with its own view of the ranks.
func (m *simulated) timeIn(t testing.TB, plan *predict.Plan, p schedule.Problem) {
	t.Helper()
	all := schedule.AllOps(nil, plan.Algorithm, p)
	report, err := simnet.Simulate(m.graph, m.placement, m.settings, func(c mpi.Communicator) error {
		return bcast.PerformOps(c, 0, all[c.Rank()], m.message[:p.Bytes], plan.Blocking)
	})
	if err != nil {
		t.Fatalf("%s: %v", plan.How(), err)
	}
	plan.Measured = report.Seconds
}

// problem is the broadcast of so many bytes from rank 0, of which the network tells the groups and the costs.
func (m *simulated) problem(bytes, segment int) schedule.Problem {
	if m.costs == nil {
		m.costs = predict.Costs(m.network, m.network.Hierarchy())
	}
	return schedule.Problem{Ranks: m.network.Ranks(), Bytes: bytes, Segment: segment, Tree: m.network.Hierarchy(), Costs: m.costs}
}

// tuned is what timing on the machine finds: of all plans, each step after the other, the few that take the
// least time, of these the best segment among the powers of two from least bytes on, blocking or not, and then a segment between those: pieces 1.19 times as many or as few. The first plan is tried as it is, too.
func (m *simulated) tuned(t testing.TB, plans []predict.Plan, bytes, least int) predict.Plan {
	t.Helper()
	const few, grid = 4, 1.19
	predicted := plans[0]
	m.time(t, &predicted, bytes)
	tried := []predict.Plan{predicted}
	plans = slices.Clone(plans)
	for i := range plans {
		plans[i].Blocking, plans[i].Segment = true, least
		m.time(t, &plans[i], bytes)
	}
	byTime := func(a, b predict.Plan) int { return cmp.Compare(a.Measured, b.Measured) }
	slices.SortStableFunc(plans, byTime)
	for _, plan := range plans[:min(few, len(plans))] {
		for plan.Segment = 0; plan.Segment < bytes; plan.Segment = max(least, 2*plan.Segment) {
			for _, plan.Blocking = range []bool{true, false} {
				m.time(t, &plan, bytes)
				tried = append(tried, plan)
			}
		}
	}
	slices.SortStableFunc(tried, byTime)
	best := tried[0]
	for _, step := range []float64{grid, 1 / grid} {
		for next := best; best.Segment > 0; best = next {
			next.Segment = int(math.Ceil(float64(bytes) / math.Round(float64(bytes)/float64(best.Segment)*step)))
			if m.time(t, &next, bytes); !(next.Measured < best.Measured) {
				break
			}
		}
	}
	return best
}

// contenders are the plans for so many bytes from rank 0 that are timed: of each algorithm the one that is
// predicted to be best, and all settings of those that follow the groups.
func (m *simulated) contenders(bytes int) []predict.Plan {
	whole := schedule.Problem{Ranks: m.network.Ranks(), Tree: m.network.Hierarchy()}
	const hopeless = 4 // times the best prediction
	var plans []predict.Plan
	for _, c := range predict.New(m.network).Candidates(schedule.Variants(schedule.Algorithms(), whole), bytes, 0) {
		if len(plans) == 0 || c.Predicted <= hopeless*plans[0].Predicted {
			plans = append(plans, c)
		}
	}
	for _, a := range schedule.Variants([]schedule.Algorithm{schedule.Earliest{}, schedule.Leaders{}, schedule.Magpie2{}}, whole) {
		plans = append(plans, predict.Plan{Algorithm: a})
	}
	return plans
}
