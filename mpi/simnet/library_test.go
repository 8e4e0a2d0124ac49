package simnet_test

import (
	"bytes"
	"context"
	"fmt"
	"math"
	"testing"

	"github.com/topocast/topocast/bcast"
	"github.com/topocast/topocast/internal/gen"
	"github.com/topocast/topocast/internal/tooltest"
	"github.com/topocast/topocast/measure"
	"github.com/topocast/topocast/measure/harness"
	"github.com/topocast/topocast/model"
	"github.com/topocast/topocast/mpi"
	"github.com/topocast/topocast/mpi/simnet"
	"github.com/topocast/topocast/topology"
)

// The measuring harness, as it is, reads the latencies of the routes of many
// ranks: of a sample of its rounds.
func TestMeasureReadsLatenciesOfManyRanks(t *testing.T) {
	spec := "tree:4x8x8 spread=20% seed=3 shuffle"
	if tooltest.Long() {
		spec = "tree:8x16x8 spread=20% seed=3 shuffle"
	}
	c, err := gen.Parse(spec)
	if err != nil {
		t.Fatal(err)
	}
	truth, err := c.Latencies()
	if err != nil {
		t.Fatal(err)
	}
	s := &simnet.Settings{Send: simnet.Overhead{Seconds: 2e-7}, Recv: simnet.Overhead{Seconds: 3e-7}}
	var result *measure.Result
	if err := simnet.Run(c.Graph, nil, s, func(comm mpi.Communicator) error {
		r, err := measure.Run(context.Background(), comm, &measure.Settings{Pairs: harness.Pairs{Rounds: 8}, Sampling: measure.Sampling{Repetitions: 1, Samples: 3}})
		if comm.Rank() == 0 {
			result = r
		}
		return err
	}); err != nil {
		t.Fatal(err)
	}
	measurements := result.Measurements()
	if want := 8 * c.Graph.Hosts(); len(measurements) != want { // all hosts in pairs a round, in both directions
		t.Errorf("%d measurements, want %d", len(measurements), want)
	}
	for _, r := range measurements {
		want := truth.At(r.From, r.To) + 5e-7
		// Half of a ps of rounding per link and way.
		if math.Abs(r.Median-want) > 1e-11 {
			t.Fatalf("measurement %d->%d is %.12g s, want %.12g", r.From, r.To, r.Median, want)
		}
	}
}

// broadcasts runs so many broadcasts of the broadcaster, as it is, along the
// true tree of a cluster, and checks the bytes on all ranks.
func broadcasts(t *testing.T, spec string, size, root, times int) (*topology.Graph, *simnet.Report) {
	t.Helper()
	c, err := gen.Parse(spec)
	if err != nil {
		t.Fatal(err)
	}
	bandwidth := make([]float64, len(c.Hierarchy.Levels())+1)
	for i := range bandwidth {
		bandwidth[i] = c.Graph.Arcs()[0].Bandwidth
	}
	network, err := model.New(&topology.Result{Graph: c.Graph, Hierarchy: c.Hierarchy, Fit: topology.Fit{Family: topology.FamilyTree}},
		&model.Settings{LevelBandwidth: bandwidth})
	if err != nil {
		t.Fatal(err)
	}
	want := make([]byte, size)
	for i := range want {
		want[i] = byte(i % 251)
	}
	report, err := simnet.Simulate(c.Graph, nil, nil, func(comm mpi.Communicator) error {
		b, err := bcast.New(comm, &bcast.Settings{Network: network})
		if err != nil {
			return err
		}
		for range times {
			buf := make([]byte, size)
			if comm.Rank() == root {
				copy(buf, want)
			}
			if err := b.Bcast(buf, root); err != nil {
				return err
			}
			if !bytes.Equal(buf, want) {
				return fmt.Errorf("rank %d has other bytes", comm.Rank())
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return c.Graph, report
}

func TestBroadcastReachesManyRanks(t *testing.T) {
	spec := "tree:4x4x8 rate=1Gbps shuffle seed=1"
	if tooltest.Long() { // takes seconds: every rank reads the network
		spec = "tree:8x16x8 rate=1Gbps shuffle seed=1"
	}
	broadcasts(t, spec, 64<<10, 17, 1)
}

// A long broadcast crosses each uplink once, in the direction away from the
// root: what the second of two broadcasts adds, when nothing is decided any more.
func TestALongBroadcastCrossesEachUplinkOnce(t *testing.T) {
	const spec, size, root = "tree:2x4x4 rate=1Gbps shuffle seed=1", 4 << 20, 17
	g, once := broadcasts(t, spec, size, root, 1)
	_, twice := broadcasts(t, spec, size, root, 2)
	for i, a := range g.Arcs() {
		if crossed := twice.LinkBytes[i] - once.LinkBytes[i]; g.IsSwitch(a.From) && g.IsSwitch(a.To) && crossed > size {
			t.Errorf("%d bytes crossed uplink %s->%s, want at most %d", crossed, g.Name(a.From), g.Name(a.To), size)
		}
	}
	// The root's own link is the physical bound of 4 MiB at 125 MB/s.
	if took, bound := twice.Seconds-once.Seconds, float64(size)/125e6; took < bound || took > 1.25*bound {
		t.Errorf("the second broadcast took %g s, want %g at least and at most a quarter more", took, bound)
	}
}
