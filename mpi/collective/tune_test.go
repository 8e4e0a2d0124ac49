package collective

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/topocast/topocast/internal/gen"
	"github.com/topocast/topocast/mpi"
	"github.com/topocast/topocast/mpi/local"
	"github.com/topocast/topocast/mpi/simnet"
)

// simulatedLibrary is a library on simulated ranks.
type simulatedLibrary struct {
	*blockLibrary
	mpi.Clock
	mpi.NonBlocking
}

// onRacks runs work on ranks in any order in four racks, on each with a library whose collectives are ours along some
// groups, and a communicator of it along the racks. A message between racks takes 25 times as long as one within.
func onRacks(t *testing.T, groups func(racks [][]int) [][]int, work func(c *Comm, l *library) error) {
	t.Helper()
	cluster, err := gen.Parse("tree:4x4 latency=25us,1us rate=1Gbps,1Gbps")
	if err != nil {
		t.Fatal(err)
	}
	placement, err := simnet.Placement("shuffled:3", 16, cluster.Graph, cluster.Hierarchy, cluster.Node)
	if err != nil {
		t.Fatal(err)
	}
	racks := make([][]int, 4)
	for rank, host := range placement {
		racks[host/4] = append(racks[host/4], rank)
	}
	err = simnet.Run(cluster.Graph, placement, nil, func(comm mpi.Communicator) error {
		below, err := New(comm, &Settings{Messages: true, Groups: groups(racks), Tag: 7})
		if err != nil {
			return err
		}
		l := &library{comm, below, 0}
		c, err := New(simulatedLibrary{&blockLibrary{library: l}, comm.(mpi.Clock), comm.(mpi.NonBlocking)}, &Settings{Groups: racks})
		if err != nil {
			return err
		}
		return work(c, l)
	})
	if err != nil {
		t.Error(err)
	}
}

// A library that knows nothing of the racks loses where that costs it more (TestGroupsOfTheWiringGain); one that knows
// them does as we do, and stays.
func TestLibraryStaysUnlessItLoses(t *testing.T) {
	names := []string{"Barrier", "Reduce", "Allreduce", "Allgather"}
	if testing.Short() {
		names = names[:1]
	}
	for _, knows := range []bool{false, true} {
		groups := func(racks [][]int) [][]int {
			if knows {
				return racks
			}
			return nil
		}
		onRacks(t, groups, func(c *Comm, l *library) error {
			for _, name := range names {
				choice, err := c.Tune(name, 64, 0)
				if err != nil {
					return err
				}
				if choice.Messages == knows || !choice.Decided || choice.Collective != name || choice.Bytes != 64 && name != "Barrier" {
					return fmt.Errorf("the library knows the racks: %v, and the choice is: %v", knows, choice)
				}
				if c.Rank() == 5 {
					t.Log(choice)
				}
			}
			// What was decided holds from 33 to 64 bytes.
			for _, x := range []struct {
				n     int // float64
				tuned bool
			}{{4, false}, {5, true}, {8, true}, {9, false}} {
				before := l.calls
				values := make([]float64, x.n)
				if err := errors.Join(Reduce(c, values, mpi.Sum, 3), Barrier(c)); err != nil {
					return err
				}
				want := 2 // calls of the library's own
				if !knows {
					if want--; x.tuned && len(names) > 1 {
						want--
					}
				}
				if l.calls-before != want {
					return fmt.Errorf("Reduce of %d and Barrier: %d calls of the library's own, want %d", x.n, l.calls-before, want)
				}
			}
			return nil
		})
	}
}

// All kinds and sizes can be tuned on ranks of any number, and results stay right.
func TestTunedCollectivesAreRight(t *testing.T) {
	for _, ranks := range []int{1, 2, 3, 4} {
		err := local.Run(ranks, nil, func(comm mpi.Communicator) error {
			l, err := newLibrary(comm)
			if err != nil {
				return err
			}
			for _, blocks := range []bool{false, true} {
				var under mpi.Communicator = l
				if blocks {
					under = &blockLibrary{library: l}
				}
				c, err := New(under, nil)
				if err != nil {
					return err
				}
				for _, name := range kindNames() {
					for _, bytes := range []int{0, 3, 40} {
						choice, err := c.Tune(name, bytes, time.Millisecond)
						if err != nil {
							return err
						}
						if choice.Decided && (choice.Pairs == 0) != (ranks == 1) {
							return fmt.Errorf("%d ranks: decided after %d pairs: %v", ranks, choice.Pairs, choice)
						}
					}
				}
				d := draw{n: 5, root: ranks - 1, counts: make([]int, ranks), with: mpi.Sum}
				if err := d.run(c); err != nil {
					return err
				}
			}
			return nil
		})
		if err != nil {
			t.Error(err)
		}
	}
}

func TestTuneRefuses(t *testing.T) {
	err := local.Run(3, nil, func(comm mpi.Communicator) error {
		l, err := newLibrary(comm)
		if err != nil {
			return err
		}
		c, err := New(l, nil)
		if err != nil {
			return err
		}
		for _, x := range []struct {
			name  string
			bytes int
			limit time.Duration
			want  string
		}{
			{"Bcast", 8, 0, `collective: Tune: "Bcast": want one of Barrier, Reduce`},
			{"Reduce", -1, 0, "-1 bytes of each rank: want 0 to"},
			{"Reduce", 1 << 30, 0, "want 0 to"},
			{"Reduce", 8, -1, "limit -1ns"},
		} {
			if comm.Rank() > 0 {
				x.name, x.bytes, x.limit = "", 0, 0 // rank 0's count
			}
			if _, err := c.Tune(x.name, x.bytes, x.limit); err == nil || !strings.Contains(err.Error(), x.want) {
				return fmt.Errorf("%+v: error %v", x, err)
			}
		}
		// A communicator that has no such thing has nothing to be tuned.
		bare, err := New(comm, nil)
		if err != nil {
			return err
		}
		if choice, err := bare.Tune("Allreduce", 8, 0); err != nil || choice.String() != "Allreduce of 8 B: messages" {
			return fmt.Errorf("%v, %v", choice, err)
		}
		return nil
	})
	if err != nil {
		t.Error(err)
	}
}

// Settings of rank 0 count: others may know nothing of the wiring, or another file.
func TestSettingsOfRankZeroCount(t *testing.T) {
	err := local.Run(4, nil, func(comm mpi.Communicator) error {
		var s *Settings
		switch comm.Rank() {
		case 0:
			s = &Settings{Groups: [][]int{{3, 0}}, Costs: Costs{Latency: 1}, Messages: true}
		case 1:
			s = &Settings{Groups: [][]int{{0, 1}, {99}}, Costs: Costs{Latency: -1}}
		}
		c, err := New(comm, s)
		if err != nil {
			return err
		}
		if len(c.groups) != 3 || c.costs.Latency != 1 || c.placeOf[3] != 1 {
			return fmt.Errorf("rank %d has the groups %v and the costs %+v", comm.Rank(), c.groups, c.costs)
		}
		if comm.Rank() == 1 && (s.Groups[0][0] != 0 || s.Groups[1][0] != 99) {
			return fmt.Errorf("New has changed the caller's groups to %v", s.Groups)
		}
		return exercise(c, 1, 3)
	})
	if err != nil {
		t.Error(err)
	}
	err = local.Run(2, nil, func(comm mpi.Communicator) error {
		s := &Settings{}
		if comm.Rank() == 0 {
			s.Groups = [][]int{{0, 2}}
		}
		_, err := New(comm, s)
		if err == nil || !strings.Contains(err.Error(), "collective: new: Settings.Groups[0]: rank 2") {
			return fmt.Errorf("rank %d: error %v", comm.Rank(), err)
		}
		return nil
	})
	if err != nil {
		t.Error(err)
	}
}

// Tags are those of the communicator, the greatest included.
func TestTagsOfACommunicator(t *testing.T) {
	err := local.Run(1, nil, func(comm mpi.Communicator) error {
		for tag, want := range map[int]bool{0: true, mpi.MaxTag: true, mpi.MaxTag + 1: false, -1: false} {
			if _, err := New(comm, &Settings{Tag: tag}); (err == nil) != want || err != nil && !errors.Is(err, mpi.ErrTag) {
				return fmt.Errorf("tag %d: %v, want it taken: %v", tag, err, want)
			}
		}
		return nil
	})
	if err != nil {
		t.Error(err)
	}
}
