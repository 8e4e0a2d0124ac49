package collective

import (
	"fmt"
	"go/build"
	"slices"
	"strings"
	"testing"

	"github.com/topocast/topocast/internal/gen"
	"github.com/topocast/topocast/internal/tooltest"
	"github.com/topocast/topocast/mpi"
	"github.com/topocast/topocast/mpi/local"
	"github.com/topocast/topocast/mpi/simnet"
)

// plain hides all abilities of a communicator beyond the four of the seam.
type plain struct{ mpi.Communicator }

// Any size and root, on 1 to 17 ranks. Send of rendezvous ranks without requests is synchronous.
func TestCollectivesOnLocalRanks(t *testing.T) {
	problems, step := 2, 4
	if tooltest.Long() {
		problems, step = 4, 1
	}
	for ranks := 1; ranks <= 17; ranks += step {
		for i, mode := range []local.Mode{local.Buffered, local.Rendezvous} {
			for _, bare := range []bool{false, true} {
				err := local.Run(ranks, &local.Settings{Mode: mode}, func(c mpi.Communicator) error {
					if bare {
						c = plain{c}
					}
					return exercise(c, problems, uint64(i+ranks))
				})
				if err != nil {
					t.Fatalf("mode %d, plain %v: %v", mode, bare, err)
				}
			}
		}
	}
}

func TestCollectivesOnPinnedRanks(t *testing.T) {
	for _, ranks := range []int{1, 2, 3} {
		err := local.Run(ranks, &local.Settings{Mode: local.Pinned}, func(c mpi.Communicator) error { return exercise(c, 5, 1) })
		if err != nil {
			t.Fatal(err)
		}
	}
}

func TestCollectivesOnSimulatedRanks(t *testing.T) {
	cluster, err := gen.Parse("tree:2x2x3")
	if err != nil {
		t.Fatal(err)
	}
	for _, ranks := range []int{1, 2, 5, 12} {
		placement := make([]int, ranks)
		for r := range placement {
			placement[r] = r * 7 % 12
		}
		err := simnet.Run(cluster.Graph, placement, &simnet.Settings{EagerLimit: -1}, func(c mpi.Communicator) error { return exercise(c, 8, 2) })
		if err != nil {
			t.Fatal(err)
		}
	}
}

func TestMisuse(t *testing.T) {
	for _, ranks := range []int{1, 2, 5} {
		for _, run := range []func(mpi.Communicator) error{misuse, func(c mpi.Communicator) error { return misuse(plain{c}) }} {
			if err := local.Run(ranks, nil, run); err != nil {
				t.Error(err)
			}
		}
	}
}

func FuzzCollectives(f *testing.F) {
	f.Add(uint8(7), uint64(1))
	f.Add(uint8(12), uint64(5))
	f.Fuzz(func(t *testing.T, ranks uint8, seed uint64) {
		err := local.Run(1+int(ranks%17), &local.Settings{Mode: local.Rendezvous}, func(c mpi.Communicator) error { return exercise(c, 1, seed) })
		if err != nil {
			t.Fatal(err)
		}
	})
}

// A barrier that lets a rank go too early, or a collective that waits for too much, shows in what ranks have seen.
func TestBarrierWaitsForAll(t *testing.T) {
	for late := range 6 {
		cluster, err := gen.Parse("star:6")
		if err != nil {
			t.Fatal(err)
		}
		err = simnet.Run(cluster.Graph, nil, nil, func(comm mpi.Communicator) error {
			if comm.Rank() == late {
				comm.(*simnet.Comm).Sleep(1)
			}
			if err := Barrier(New(comm)); err != nil {
				return err
			}
			if now := comm.(mpi.Clock).Now(); now < 1 {
				return fmt.Errorf("rank %d left at %g s, before rank %d came", comm.Rank(), now, late)
			}
			return nil
		})
		if err != nil {
			t.Error(err)
		}
	}
}

// No collective allocates once it is warm.
func TestWarmCollectivesDoNotAllocate(t *testing.T) {
	const ranks, n, runs = 4, 600, 20
	err := local.Run(ranks, &local.Settings{Mode: local.Rendezvous}, func(comm mpi.Communicator) error {
		c := New(comm)
		counts := []int{n, n, n, n}
		a, b, all, all2 := make([]float64, n), make([]pair, n), make([]float64, ranks*n), make([]float64, ranks*n)
		keep := func(into, from []pair) {}
		var wrong error
		again := func() {
			for _, err := range [...]error{
				Barrier(c), Allreduce(c, a, mpi.Sum), Reduce(c, a, mpi.Max, 2), AllreduceFunc(c, b, keep), ReduceFunc(c, b, keep, 1),
				Gather(c, all, a, 3), Gatherv(c, all, counts, a, 1), Scatter(c, a, all, 3), Scatterv(c, a, all, counts, 2),
				Allgather(c, all, a), Allgatherv(c, all, counts, a), Alltoall(c, all, all2), Alltoallv(c, all, counts, all2, counts),
				Sendrecv(c, a, (c.rank+1)%ranks, all[:n], (c.rank+ranks-1)%ranks, 1),
			} {
				if err != nil {
					wrong = err
				}
			}
		}
		again()
		if c.rank > 0 {
			for range runs + 1 {
				again()
			}
		} else if n := testing.AllocsPerRun(runs, again); n != 0 && wrong == nil {
			wrong = fmt.Errorf("%g allocations by all ranks", n)
		}
		return wrong
	})
	if err != nil {
		t.Error(err)
	}
}

// In a simulated star every message of 8 bytes takes as long as any other. Dissemination, a binomial tree and recursive doubling of 16 ranks
// have 4 rounds of messages. Recursive doubling of 15 ranks has 3 rounds of 8 places, 7 of which wait for a message before and send one after.
func TestRoundsOfShortCollectives(t *testing.T) {
	took := func(ranks int, run func(c *Comm) error) float64 {
		cluster, err := gen.Parse(fmt.Sprintf("star:%d latency=10us rate=10Gbps", ranks))
		if err != nil {
			t.Fatal(err)
		}
		ends := make([]float64, ranks)
		err = simnet.Run(cluster.Graph, nil, nil, func(comm mpi.Communicator) error {
			err := run(New(comm))
			ends[comm.Rank()] = comm.(mpi.Clock).Now()
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
		return slices.Max(ends)
	}
	message := took(2, func(c *Comm) error {
		if c.rank == 0 {
			return c.send(make([]byte, 8), 1)
		}
		return c.recv(make([]byte, 8), 0)
	})
	reduce := func(c *Comm) error { return Reduce(c, make([]float64, 1), mpi.Sum, 3) }
	allreduce := func(c *Comm) error { return Allreduce(c, make([]float64, 1), mpi.Sum) }
	for _, x := range []struct {
		name   string
		ranks  int
		run    func(c *Comm) error
		rounds float64
	}{
		{"Barrier", 16, Barrier, 4},
		{"Reduce", 16, reduce, 4},
		{"Allreduce", 16, allreduce, 4},
		{"Allreduce", 15, allreduce, 5},
	} {
		if got := took(x.ranks, x.run) / message; got < x.rounds-0.1 || got > x.rounds+0.1 {
			t.Errorf("%s of %d ranks takes as long as %.2f messages, want %g", x.name, x.ranks, got, x.rounds)
		}
	}
}

// Package bcast and what stands on it may use this package, and so this package imports none of them.
func TestImportsNothingAboveMPI(t *testing.T) {
	p, err := build.ImportDir(".", 0)
	if err != nil {
		t.Fatal(err)
	}
	const module = "github.com/topocast/topocast/"
	for _, path := range p.Imports {
		if strings.HasPrefix(path, module) && path != module+"mpi" {
			t.Errorf("import of %s", path)
		}
	}
}

// TestRequestsOfSlices: each rank passes three numbers around the ring while it could compute, without unsafe code. Values with
// pointers are refused.
func TestRequestsOfSlices(t *testing.T) {
	err := local.Run(3, nil, func(comm mpi.Communicator) error {
		c, set := New(comm), comm.(mpi.NonBlocking).NewRequests()
		right, left := (comm.Rank()+1)%3, (comm.Rank()+2)%3
		own, got := []float64{float64(comm.Rank()), 0.5, -1}, make([]float64, 3)
		if err := Irecv(c, set, got, left, 7); err != nil {
			return err
		}
		if err := Isend(c, set, own, right, 7); err != nil {
			return err
		}
		if err := set.WaitAll(); err != nil {
			return err
		}
		if want := []float64{float64(left), 0.5, -1}; !slices.Equal(got, want) {
			t.Errorf("rank %d got %v, want %v", comm.Rank(), got, want)
		}
		if err := Isend(c, set, []*int{nil}, right, 7); err == nil || !strings.Contains(err.Error(), "without pointers") {
			t.Errorf("pointers: %v", err)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}
