package throughput

import (
	"context"
	"math"
	"testing"

	"github.com/topocast/topocast/model"
	"github.com/topocast/topocast/mpi/mpitest"
	"github.com/topocast/topocast/topology"
)

func TestMain(m *testing.M) { mpitest.MainMPI(m) }

// twoSwitches is a machine with half of the ranks on each of two switches.
func twoSwitches(t *testing.T, ranks int) *topology.Result {
	t.Helper()
	var arcs []topology.Arc
	for rank := range ranks {
		arcs = topology.AppendLink(arcs, rank, ranks+2*rank/ranks, 1e-6, math.NaN())
	}
	arcs = topology.AppendLink(arcs, ranks, ranks+1, 1e-6, math.NaN())
	g, err := topology.NewGraph(ranks, 2, nil, arcs)
	if err != nil {
		t.Fatal(err)
	}
	h, err := topology.NewHierarchy(ranks, nil, nil, 2e-6)
	if err != nil {
		t.Fatal(err)
	}
	return &topology.Result{Graph: g, Hierarchy: h}
}

// Each direction of all links has a rate, if anything is said about it.
func TestMPIThroughput(t *testing.T) {
	c := mpitest.MPIWorld(t)
	r, err := Measure(context.Background(), c, &Settings{
		Topology: twoSwitches(t, c.Size()), Load: Load{Size: 100_000, Messages: 4, Samples: 2}, Switches: true,
	})
	if err != nil {
		t.Fatal(err)
	}
	if (r != nil) != (c.Rank() == 0) {
		t.Fatalf("rank %d has the result %v", c.Rank(), r)
	}
	if r == nil || c.Size() < 2 {
		return
	}
	for _, l := range r.Links {
		if !(l.Rate > 0) {
			t.Errorf("%d->%d: %g B/s", l.From, l.To, l.Rate)
		}
	}
}

// The network has the rates and times that were measured.
func TestMPIRemeasure(t *testing.T) {
	c := mpitest.MPIWorld(t)
	n, err := model.New(twoSwitches(t, c.Size()), &model.Settings{Measured: model.Metadata{Bytes: 8}})
	if err != nil {
		t.Fatal(err)
	}
	r, err := Measure(context.Background(), c, &Settings{Network: n})
	if err != nil {
		t.Fatal(err)
	}
	if (r != nil) != (c.Rank() == 0) {
		t.Fatalf("rank %d has the result %v", c.Rank(), r)
	}
	if r == nil || c.Size() < 2 {
		return
	}
	for _, a := range r.Network.Graph().Arcs() {
		if !(a.Latency >= 0) || !(a.Bandwidth > 0) {
			t.Errorf("%d->%d: %g s, %g B/s", a.From, a.To, a.Latency, a.Bandwidth)
		}
	}
	if x := r.Network.Time(0, c.Size()-1, 8); !(x > 0) || x == n.Time(0, c.Size()-1, 8) {
		t.Errorf("a message of 8 B takes %g s, before %g", x, n.Time(0, c.Size()-1, 8))
	}
}
