package bcast_test

import (
	"fmt"
	"math"
	"runtime"
	"slices"
	"testing"

	"github.com/topocast/topocast/bcast"
	"github.com/topocast/topocast/bcast/tuner"
	"github.com/topocast/topocast/internal/casttest"
	"github.com/topocast/topocast/internal/gen"
	"github.com/topocast/topocast/internal/scenario"
	"github.com/topocast/topocast/model"
	"github.com/topocast/topocast/mpi"
	"github.com/topocast/topocast/mpi/simnet"
	"github.com/topocast/topocast/topology"
)

// cluster is a simulated one, and its true network, one rank per host in order.
func cluster(t testing.TB, spec string) (*gen.Cluster, *model.Network) {
	t.Helper()
	if testing.Short() {
		t.Skip("simulated ranks take turns: the race detector has nothing to find")
	}
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
		b, err := bcast.New(comm, &bcast.Settings{Network: n, ModelOnly: true})
		if err != nil {
			return err
		}
		if err := b.Tune([]int{root}, size); err != nil {
			return err
		}
		places, err := mpi.GatherPlaces(comm)
		if err != nil {
			return err
		}
		hosts, _ := mpi.NumberHosts(places)
		watch, err := tuner.NewStopwatch(comm, mpi.MaxTag, hosts, false)
		if err != nil {
			return err
		}
		var s tuner.Sample
		err = verified(comm, size, root, func(buf []byte) error {
			var err error
			s, err = watch.Time(func(root int) error { return b.Bcast(buf, root) }, root)
			return err
		})
		if comm.Rank() == 0 {
			took = s.Cold
		}
		if comm.Rank() == root {
			plan, _ := b.Plan(size, root)
			predicted = plan.Predicted
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
		placement, err := scenario.Placement(how, len(block), c.Graph, c.Hierarchy, c.Node)
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
			if !casttest.Near(got, want, 1e-3) || !casttest.Near(got, same, 1e-9) {
				t.Errorf("%s, %d bytes: %g s, with the network of these ranks %g, in block order %g", how, size, got, same, want)
			}
			if !casttest.Near(predicted, wantPredicted, 1e-9) || predicted != samePredicted {
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
	if !casttest.Near(got, want, 1e-9) || predicted != wantPredicted {
		t.Errorf("%g s, predicted %g; with the network of these ranks %g and %g", got, predicted, want, wantPredicted)
	}
}

// newOver runs New over the cluster's ranks in shuffled order, on which rank 0
// only or all have the network, and returns what it costs.
func newOver(t testing.TB, c *gen.Cluster, s func(rank int) *bcast.Settings) *simnet.Report {
	t.Helper()
	ranks := c.Graph.Hosts()
	placement, err := scenario.Placement("shuffled", ranks, c.Graph, nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	report, err := simnet.Simulate(c.Graph, placement, overheads, func(comm mpi.Communicator) error {
		b, err := bcast.New(comm, s(comm.Rank()))
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

// New sends 4 messages per rank in a number of steps that grows as the logarithm of the ranks. Every rank gets the groups of
// all of them, compressed: names that differ in 3 digits, and groups. BenchmarkNew tells of thousands.
func TestNewIsQuickOnManyRanks(t *testing.T) {
	c, n := cluster(t, "tree:4x8x8 latency=20us,8us,2us rate=10Gbps")
	ranks := c.Graph.Hosts()
	for _, x := range []struct {
		name     string
		settings func(rank int) *bcast.Settings
		messages int // per rank
		bytes    int // per rank, for each rank
	}{
		{"without a network", func(int) *bcast.Settings { return nil }, 4, 1},
		{"all have it", func(int) *bcast.Settings { return &bcast.Settings{Network: n} }, 4, 45},
		{"rank 0 alone has it", func(rank int) *bcast.Settings {
			if rank == 0 {
				return &bcast.Settings{Network: n}
			}
			return nil
		}, 4, 45},
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
				report := newOver(b, c, func(int) *bcast.Settings { return &bcast.Settings{Network: n} })
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
