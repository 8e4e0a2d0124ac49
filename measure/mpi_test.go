package measure

import (
	"context"
	"errors"
	"path/filepath"
	"reflect"
	"testing"

	"github.com/topocast/topocast/measure/harness"
	"github.com/topocast/topocast/mpi"
	"github.com/topocast/topocast/mpi/mpitest"
	"github.com/topocast/topocast/topology"
	"github.com/topocast/topocast/topology/linkage"
)

func TestMain(m *testing.M) { mpitest.MainMPI(m) }

// From real times to a tree: the whole way that discover takes.
func TestMPIAllPairs(t *testing.T) {
	c := mpitest.MPIWorld(t)
	n := c.Size()
	s := &Settings{Sizes: []int{0, 1024}, Sampling: Sampling{Repetitions: 2, Samples: 10, Seed: 1}}
	r, err := Run(context.Background(), c, s)
	if err != nil {
		t.Fatal(err)
	}
	if r == nil {
		return
	}
	if want := 2 * 2 * n * (n - 1); len(r.Measurements()) != want || r.Stopped != "" {
		t.Errorf("%d measurements, stopped by %q; want %d measurements of all rounds", len(r.Measurements()), r.Stopped, want)
	}
	for _, x := range r.Measurements() {
		if !(x.Min > 0 && x.Min <= x.Q1 && x.Q1 <= x.Median && x.Median <= x.Q3 && x.Q3 <= x.Max) {
			t.Errorf("times of measurement %+v are not in order", x)
		}
	}
	if _, loop := c.CallCosts(); (r.CallCost > 0) != (loop > 0) {
		t.Errorf("calls of the loop cost %g s, the result says %g s", loop, r.CallCost)
	}
	if !r.Timed {
		t.Errorf("times were not taken by the communicator")
	}
	if got, want := r.Library, c.LibraryVersion(); got != want {
		t.Errorf("library is %q, want %q", got, want)
	}
	if got, want := r.Hosts[c.Rank()], c.Place().Host; got != want {
		t.Errorf("host is %q, want %q", got, want)
	}
	if n >= 3 {
		found, err := (&linkage.Robust{}).Reconstruct(r.Matrices()...)
		if err != nil {
			t.Fatal(err)
		}
		if found.Hierarchy.Hosts() != n {
			t.Errorf("hierarchy of %d hosts, want %d", found.Hierarchy.Hosts(), n)
		}
	}

	path := filepath.Join(t.TempDir(), "result.json")
	if err := r.WriteFile(path); err != nil {
		t.Fatal(err)
	}
	again, err := ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if !reflect.DeepEqual(again, r) {
		t.Errorf("ReadFile = %+v, want %+v", again, r)
	}
}

// All ranks come to an end together, with a result that holds all that was read.
func TestMPIFewPairs(t *testing.T) {
	c := mpitest.MPIWorld(t)
	r, err := byFew(context.Background(), c, Sampling{Samples: 5}, harness.Control{})
	if c.Size() < 3 { // a wiring of fewer says nothing
		if err == nil && c.Size() == 1 {
			t.Error("one rank: no error")
		}
		return
	}
	if err != nil {
		t.Fatal(err)
	}
	if (r != nil) != (c.Rank() == 0) {
		t.Fatalf("rank %d has the result %v", c.Rank(), r)
	}
	if r == nil {
		return
	}
	if r.topology.Hierarchy.Hosts() != c.Size() || r.pairsMeasured() < c.Size()-1 {
		t.Errorf("%d ranks: %d hosts, %d pairs", c.Size(), r.topology.Hierarchy.Hosts(), r.pairsMeasured())
	}
	for _, x := range r.measurements {
		if !(x.Q1 > 0) {
			t.Fatalf("measurement %+v", x)
		}
	}
}

func TestMPIGroups(t *testing.T) {
	c := mpitest.MPIWorld(t)
	n := c.Size()
	if n < 4 {
		t.Skip("groups want 4 ranks")
	}
	var low, high []int
	for rank := range n {
		if rank < n/2 {
			low = append(low, rank)
		} else {
			high = append(high, rank)
		}
	}
	h, err := topology.NewHierarchy(n, []topology.Level{{}}, []topology.Group{{Hosts: low}, {Hosts: high}}, 0)
	if err != nil {
		t.Fatal(err)
	}
	r, err := Run(context.Background(), c, &Settings{Pairs: harness.Pairs{Groups: h, WithinGroups: true}, Sampling: Sampling{Repetitions: 1, Samples: 5}})
	if err != nil {
		t.Fatal(err)
	}
	if r == nil {
		return
	}
	if want := len(low)*(len(low)-1) + len(high)*(len(high)-1); len(r.Measurements()) != want {
		t.Errorf("%d measurements, want %d", len(r.Measurements()), want)
	}
}

// The last rank wants to stop; the others hear of it.
func TestMPICancellation(t *testing.T) {
	c := mpitest.MPIWorld(t)
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	if c.Rank() == c.Size()-1 {
		cancel()
	}
	r, err := Run(ctx, c, &Settings{Sampling: Sampling{Samples: 5}})
	if err != nil {
		t.Fatal(err)
	}
	if r == nil {
		return
	}
	if r.Stopped != harness.StoppedByContext || r.Rounds != 0 || len(r.Measurements()) != 0 {
		t.Errorf("stopped by %q after %d rounds with %d measurements, want the context, 0, 0", r.Stopped, r.Rounds, len(r.Measurements()))
	}
}

// numbers is a test of pairs in which each rank tells the other its number.
type numbers struct{ comm *mpi.Comm }

func (n numbers) exchange(rows []float64, peer int, _ bool, _ int) ([]float64, error) {
	out, in := []byte{byte(n.comm.Rank())}, []byte{0}
	set := n.comm.NewRequests()
	if err := errors.Join(set.Irecv(in, peer, harness.FirstTag), set.Isend(out, peer, harness.FirstTag), set.WaitAll()); err != nil {
		return rows, err
	}
	return append(rows, float64(in[0])), nil
}

// A test of pairs of one's own, in all ways of the harness.
func TestMPIHarness(t *testing.T) {
	c := mpitest.MPIWorld(t)
	n := c.Size()
	var groups *topology.Hierarchy
	if n >= 4 {
		var err error
		if groups, err = topology.NewHierarchy(n, []topology.Level{{}}, []topology.Group{{Hosts: []int{0, n - 1}}, {Hosts: []int{1, 2}}}, 0); err != nil {
			t.Fatal(err)
		}
	}
	for _, s := range []harness.Settings{
		{Repetitions: 2},
		{Pairs: harness.Pairs{Halving: true}},
		{Pairs: harness.Pairs{Sequential: true}},
		{Pairs: harness.Pairs{Groups: groups}},
		{Pairs: harness.Pairs{Groups: groups, Sequential: true}},
	} {
		count := 0
		s.Deliver = func(rows []harness.Row, _ harness.Progress) {
			for _, row := range rows {
				if row.Values[0] != float64(row.To) {
					t.Errorf("row %+v, want what rank %d has told", row, row.To)
				}
			}
			count += len(rows)
		}
		o, err := harness.Conduct(context.Background(), c, 0, func(own *harness.Conductor) (*harness.Outcome, error) {
			return own.AllPairs(numbers{c}.exchange, &s)
		})
		if err != nil {
			t.Fatal(err)
		}
		if (o != nil) != (c.Rank() == 0) {
			t.Fatalf("rank %d: outcome %+v", c.Rank(), o)
		}
		if want := max(s.Repetitions, 1) * n * (n - 1); o != nil && (count != want || o.Pairs != want/2 || o.Stopped != "") {
			t.Errorf("%d rows, outcome %+v, want %d rows", count, o, want)
		}
	}
}
