package collective

import (
	"fmt"
	"testing"

	"github.com/topocast/topocast/internal/gen"
	"github.com/topocast/topocast/internal/tooltest"
	"github.com/topocast/topocast/mpi"
	"github.com/topocast/topocast/mpi/local"
	"github.com/topocast/topocast/mpi/simnet"
)

// plain hides all abilities of a communicator beyond the four of the seam.
type plain struct{ mpi.Communicator }

// Any size, root, groups and costs, on 1 to 17 ranks; Send of plain, rendezvous ranks is synchronous.
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
		if err := local.Run(ranks, nil, misuse); err != nil {
			t.Error(err)
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
	for _, groups := range [][][]int{nil, {{0, 3}, {1, 4, 5}, {2}}, {{0, 3}, {1, 5}, {4, 2}}} {
		for late := range 6 {
			cluster, err := gen.Parse("star:6")
			if err != nil {
				t.Fatal(err)
			}
			err = simnet.Run(cluster.Graph, nil, nil, func(comm mpi.Communicator) error {
				c, err := New(comm, &Settings{Groups: groups})
				if err != nil {
					return err
				}
				if comm.Rank() == late {
					comm.(*simnet.Comm).Sleep(1)
				}
				if err := Barrier(c); err != nil {
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
}

// No collective allocates once it is warm.
func TestWarmCollectivesDoNotAllocate(t *testing.T) {
	const ranks, n, runs = 4, 600, 20
	for _, groups := range [][][]int{nil, {{0, 1}, {2, 3}}} {
		for _, costs := range someCosts() {
			err := local.Run(ranks, &local.Settings{Mode: local.Rendezvous}, func(comm mpi.Communicator) error {
				c, err := New(comm, &Settings{Groups: groups, Costs: costs})
				if err != nil {
					return err
				}
				counts := []int{n, n, n, n}
				a, b, all, all2 := make([]float64, n), make([]pair, n), make([]float64, ranks*n), make([]float64, ranks*n)
				keep := func(into, from []pair) {}
				var wrong error
				again := func() {
					for _, err := range [...]error{
						Barrier(c), Allreduce(c, a, mpi.Sum), Reduce(c, a, mpi.Max, 2), AllreduceFunc(c, b, keep), ReduceFunc(c, b, keep, 1),
						Gather(c, all, a, 3), Gatherv(c, all, counts, a, 1), Scatter(c, a, all, 3), Scatterv(c, a, all, counts, 2),
						Allgather(c, all, a), Allgatherv(c, all, counts, a), Alltoall(c, all, all2), Alltoallv(c, all, counts, all2, counts),
						Sendrecv(c, a, (c.Rank()+1)%ranks, all[:n], (c.Rank()+ranks-1)%ranks, 1),
					} {
						if err != nil {
							wrong = err
						}
					}
				}
				for range 3 {
					again()
				}
				memory := len(c.arena)
				if c.Rank() > 0 {
					for range runs + 1 {
						again()
					}
				} else if n := testing.AllocsPerRun(runs, again); n != 0 && wrong == nil {
					wrong = fmt.Errorf("%g allocations by all ranks", n)
				}
				if wrong == nil && len(c.arena) != memory {
					wrong = fmt.Errorf("scratch memory has grown from %d to %d words", memory, len(c.arena))
				}
				return wrong
			})
			if err != nil {
				t.Errorf("groups %v, costs %+v: %v", groups, costs, err)
			}
		}
	}
}
