package bcast

import (
	"fmt"
	"math"
	"runtime"
	"slices"
	"testing"
	"time"

	"github.com/topocast/topocast/internal/gen"
	"github.com/topocast/topocast/model"
	"github.com/topocast/topocast/mpi"
	"github.com/topocast/topocast/mpi/simnet"
	"github.com/topocast/topocast/topology"
)

// cluster is a simulated one, and its true network, one rank per host in order.
func cluster(t testing.TB, spec string) (*gen.Cluster, *model.Network) {
	t.Helper()
	c, err := gen.Parse(spec)
	if err != nil {
		t.Fatal(err)
	}
	where := make([]model.Location, c.Graph.Hosts())
	for i := range where {
		where[i] = model.Location{Host: c.Graph.Name(i), Core: -1}
	}
	return c, trueNetwork(t, c, where)
}

func trueNetwork(t testing.TB, c *gen.Cluster, where []model.Location) *model.Network {
	t.Helper()
	bandwidth := make([]float64, len(c.Hierarchy.Levels())+1)
	for i := range bandwidth {
		bandwidth[i] = c.Graph.Arcs()[0].Bandwidth
	}
	n, err := model.New(&topology.Result{Graph: c.Graph, Hierarchy: c.Hierarchy, Fit: topology.Fit{Family: topology.FamilyTree}},
		&model.Settings{LevelBandwidth: bandwidth, Locations: where})
	if err != nil {
		t.Fatal(err)
	}
	return n
}

var overheads = &simnet.Settings{Send: simnet.Overhead{Seconds: 3e-7}, Recv: simnet.Overhead{Seconds: 3e-7}}

// castTime is the virtual time in s of a broadcast from the rank on host 5,
// along the network, and what the root predicts. The bytes are checked.
func castTime(t *testing.T, c *gen.Cluster, placement []int, n *model.Network, size int) (took, predicted float64) {
	t.Helper()
	root := slices.Index(placement, 5)
	err := simnet.Run(c.Graph, placement, overheads, func(comm mpi.Communicator) error {
		b, err := New(comm, &Settings{Network: n, ModelOnly: true})
		if err != nil {
			return err
		}
		if err := b.Tune(root, size); err != nil {
			return err
		}
		watch, err := newStopwatch(b.exec, root, false)
		if err != nil {
			return err
		}
		seconds := 0.0
		err = verified(comm, size, root, func(buf []byte) error {
			var err error
			seconds, err = watch.time(func() error { return b.Bcast(buf, root) })
			return err
		})
		if comm.Rank() == root {
			plan, _ := b.Plan(size, root)
			took, predicted = seconds, plan.Predicted
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return took, predicted
}

// A network measured in block order serves ranks in any other: a broadcast takes
// the virtual time, and is predicted that, which it is with the network of these
// very ranks, and as in block order but for the order of events at one moment.
// Without the view it takes several times as long.
func TestShuffledRanksBroadcastAsFast(t *testing.T) {
	c, n := cluster(t, "tree:3x3x3 latency=20us,8us,2us rate=1Gbps")
	sizes := []int{8, 256 << 10}
	block := make([]int, c.Graph.Hosts())
	for i := range block {
		block[i] = i
	}
	slowest := 1.0
	for _, how := range []string{"cyclic", "shuffled:7"} {
		placement, err := simnet.Placement(how, len(block), c.Graph, c.Hierarchy, c.Node)
		if err != nil {
			t.Fatal(err)
		}
		where := make([]model.Location, len(placement))
		for i, host := range placement {
			where[i] = model.Location{Host: c.Graph.Name(host), Core: -1}
		}
		right, err := n.View(where)
		if err != nil {
			t.Fatal(err)
		}
		for _, size := range sizes {
			want, wantPredicted := castTime(t, c, block, n, size)
			got, predicted := castTime(t, c, placement, n, size)
			same, samePredicted := castTime(t, c, placement, right, size)
			if !near(got, want, 1e-3) || !near(got, same, 1e-9) {
				t.Errorf("%s, %d bytes: %g s, with the network of these ranks %g, in block order %g", how, size, got, same, want)
			}
			if !near(predicted, wantPredicted, 1e-9) || predicted != samePredicted {
				t.Errorf("%s, %d bytes: predicted %g s, with the network of these ranks %g, in block order %g", how, size, predicted, samePredicted, wantPredicted)
			}
			wrong, _ := castTime(t, c, placement, trueNetwork(t, c, nil), size)
			slowest = max(slowest, wrong/got)
		}
	}
	if slowest < 2 {
		t.Errorf("with the network in the wrong order a broadcast takes %.2f times as long: the test shows nothing", slowest)
	}
}

// Part of the hosts, in any order, cores of common machines too: the time is
// that with the network of these very ranks.
func TestPartOfTheHostsBroadcastsAsFast(t *testing.T) {
	c, n := cluster(t, "tree:4x4x4 latency=20us,8us,2us rate=1Gbps")
	placement := []int{63, 5, 17, 4, 22, 6, 60, 21, 1, 16}
	where := make([]model.Location, len(placement))
	for i, host := range placement {
		where[i] = model.Location{Host: c.Graph.Name(host), Core: -1}
	}
	right, err := n.View(where)
	if err != nil {
		t.Fatal(err)
	}
	got, predicted := castTime(t, c, placement, n, 100<<10)
	want, wantPredicted := castTime(t, c, placement, right, 100<<10)
	if !near(got, want, 1e-9) || predicted != wantPredicted {
		t.Errorf("%g s, predicted %g; with the network of these ranks %g and %g", got, predicted, want, wantPredicted)
	}
}

// newOver runs New over the cluster's ranks in shuffled order, on which rank 0
// only or all have the network, and returns what it costs.
func newOver(t testing.TB, c *gen.Cluster, s func(rank int) *Settings) *simnet.Report {
	t.Helper()
	ranks := c.Graph.Hosts()
	placement, err := simnet.Placement("shuffled", ranks, c.Graph, nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	report, err := simnet.Simulate(c.Graph, placement, overheads, func(comm mpi.Communicator) error {
		b, err := New(comm, s(comm.Rank()))
		if err == nil && b.Warnings() != nil {
			err = fmt.Errorf("warnings %q", b.Warnings())
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return report
}

// New sends 4 messages per rank, or 10 if there is a network of other ranks, in a
// number of steps that grows as the logarithm of the ranks. Nothing that every
// rank is told is as long as there are ranks but, with a network of others, the
// groups and the places, of which the names differ in 3 digits. BenchmarkNew tells
// of thousands.
func TestNewIsQuickOnManyRanks(t *testing.T) {
	c, n := cluster(t, "tree:4x8x8 latency=20us,8us,2us rate=10Gbps")
	ranks := c.Graph.Hosts()
	for _, x := range []struct {
		name     string
		settings func(rank int) *Settings
		messages int // per rank
		bytes    int // per rank, for each rank
	}{
		{"without a network", func(int) *Settings { return nil }, 4, 1},
		{"all have it", func(int) *Settings { return &Settings{Network: n} }, 10, 12},
		{"rank 0 alone has it", func(rank int) *Settings {
			if rank == 0 {
				return &Settings{Network: n}
			}
			return nil
		}, 10, 200}, // a file instead of the places
	} {
		report := newOver(t, c, x.settings)
		if most := int64(x.messages * (ranks - 1)); report.Messages > most {
			t.Errorf("%s: %d messages, want at most %d", x.name, report.Messages, most)
		}
		if perRank := report.Bytes / int64(ranks); perRank > int64(x.bytes*ranks) {
			t.Errorf("%s: %d bytes per rank, want at most %d for each rank", x.name, perRank, x.bytes)
		}
		// A message from end to end is 60.6 us and what its bytes need; each phase
		// goes up or down the tree once.
		steps := float64(x.messages) * math.Log2(float64(ranks))
		if most := 61e-6 * steps; report.Seconds > most {
			t.Errorf("%s: %g s, want at most %g", x.name, report.Seconds, most)
		}
	}
}

func BenchmarkNew(b *testing.B) {
	for _, spec := range []string{"tree:4x4x8", "tree:8x16x8", "tree:16x16x16"} {
		c, n := cluster(b, spec+" latency=20us,8us,2us rate=10Gbps")
		b.Run(fmt.Sprintf("ranks=%d", c.Graph.Hosts()), func(b *testing.B) {
			ranks := float64(c.Graph.Hosts())
			var before, after runtime.MemStats
			runtime.ReadMemStats(&before)
			for b.Loop() {
				report := newOver(b, c, func(int) *Settings { return &Settings{Network: n} })
				b.ReportMetric(report.Seconds*1e6, "virtual-us")
				b.ReportMetric(float64(report.Messages)/ranks, "messages/rank")
			}
			runtime.ReadMemStats(&after)
			allocated := float64(after.TotalAlloc-before.TotalAlloc) / float64(b.N)
			b.ReportMetric(allocated/(1<<20), "MiB")
			b.ReportMetric(allocated/ranks, "B/rank")
		})
	}
}

// slowAtFirst is a library whose broadcast takes long the first times, as one
// does that still connects ranks, and is unbeatable then.
type slowAtFirst struct {
	*simnet.Comm
	slow  int     // times
	sleep float64 // s, as long as it is slow
	calls int
}

func (c *slowAtFirst) Bcast([]byte, int) error {
	if c.calls++; c.calls <= c.slow {
		c.Sleep(c.sleep)
	} else {
		c.Sleep(1e-9)
	}
	return nil // what arrives does not matter here
}

// A variant is judged by the median of many rounds: the warm-up and a bad first
// round do not decide. With one round more than half of them bad, it loses.
func TestOneBadRoundDoesNotDecide(t *testing.T) {
	c, n := cluster(t, "star:6 latency=20us rate=10Gbps")
	for _, x := range []struct {
		slow int // calls of the library's broadcast, of 1 + 1 + maxTrials
		want string
	}{
		{0, "native"},
		{2, "native"}, // the warm-up, and the first round
		{1 + (1+maxTrials)/2 - 1, "native"},
		{1 + (1+maxTrials)/2 + 1, "flat"},
	} {
		err := simnet.Run(c.Graph, nil, overheads, func(comm mpi.Communicator) error {
			library := &slowAtFirst{Comm: comm.(*simnet.Comm), slow: x.slow, sleep: 100e-6} // less than four times the others: not hopeless yet
			b, err := New(library, &Settings{Network: n, Budget: time.Second})
			if err != nil {
				return err
			}
			if err := b.Tune(0, 64); err != nil {
				return err
			}
			plan, err := b.Plan(64, 0)
			if err != nil || plan.Name() != x.want || library.calls != 2+maxTrials {
				return fmt.Errorf("library slow %d times of %d: %v, %v, want %s after %d rounds", x.slow, library.calls, plan, err, x.want, 2+maxTrials)
			}
			return nil
		})
		if err != nil {
			t.Error(err)
		}
	}
}

// The segment of the best plan is tried longer and shorter, and what comes of
// that has no prediction. The network takes a third of the latency for the
// software of a message, 7 us; four times the segment is better where it costs
// far more, and a quarter where it costs far less.
func TestOtherSegmentsAreTried(t *testing.T) {
	c, n := cluster(t, "star:6 latency=20us rate=1Gbps")
	costly := &simnet.Settings{Send: simnet.Overhead{Seconds: 60e-6}, Recv: simnet.Overhead{Seconds: 60e-6}}
	plans, err := Plans(n, 1<<20, 0)
	if err != nil || plans[0].Segment == 0 {
		t.Fatalf("%v, %v, want segments", plans, err)
	}
	for _, x := range []struct {
		settings *simnet.Settings
		segment  int
	}{{costly, 4 * plans[0].Segment}, {overheads, plans[0].Segment / 4}} {
		err := simnet.Run(c.Graph, nil, x.settings, func(comm mpi.Communicator) error {
			b, err := New(&slowAtFirst{Comm: comm.(*simnet.Comm), slow: 1 << 30, sleep: 1}, &Settings{Network: n, Budget: 200 * time.Millisecond})
			if err != nil {
				return err
			}
			if err := b.Tune(0, 1<<20); err != nil {
				return err
			}
			plan, err := b.Plan(1<<20, 0)
			if err != nil || plan.Name() != plans[0].Name() || plan.Segment != x.segment || !math.IsNaN(plan.Predicted) || !(plan.MeasuredNative >= 1) || !(plan.Measured < 1) {
				return fmt.Errorf("%v, %v, want segments of %d bytes and no prediction", plan, err, x.segment)
			}
			return nil
		})
		if err != nil {
			t.Error(err)
		}
	}
}
