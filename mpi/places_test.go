package mpi_test

import (
	"fmt"
	"slices"
	"testing"

	"github.com/topocast/topocast/internal/gen"
	"github.com/topocast/topocast/internal/tooltest"
	"github.com/topocast/topocast/mpi"
	"github.com/topocast/topocast/mpi/local"
	"github.com/topocast/topocast/mpi/simnet"
)

// bare hides all abilities of a communicator.
type bare struct{ mpi.Communicator }

// Every rank gets all places in the order of ranks, or rank 0 alone, whatever
// the number of ranks does to the tree.
func TestPlacesOfAnyNumberOfRanks(t *testing.T) {
	for n := 1; n <= 33; n++ {
		err := local.Run(n, &local.Settings{Mode: local.Rendezvous}, func(c mpi.Communicator) error {
			own := placed{c, fmt.Sprint("host", c.Rank()/3), c.Rank()}
			for _, x := range []struct {
				collect func(mpi.Communicator) ([]mpi.Place, error)
				want    int // places
			}{{mpi.Places, n}, {mpi.GatherPlaces, alone(c, n)}} {
				places, err := x.collect(own)
				if err != nil {
					return err
				}
				if len(places) != x.want {
					return fmt.Errorf("%d places, want %d", len(places), x.want)
				}
				for r, p := range places {
					if p.Host != fmt.Sprint("host", r/3) || p.Core != r || !slices.Equal(p.CPUs, []int{r, r + 7}) {
						return fmt.Errorf("place of rank %d = %v", r, p)
					}
				}
			}
			return nil
		})
		if err != nil {
			t.Errorf("%d ranks: %v", n, err)
		}
	}
}

// alone is n on rank 0 and 0 on others.
func alone(c mpi.Communicator, n int) int {
	if c.Rank() == 0 {
		return n
	}
	return 0
}

// placed is a communicator with a place of its own.
type placed struct {
	mpi.Communicator
	host string
	core int
}

func (p placed) Place() mpi.Place {
	return mpi.Place{Host: p.host, Core: p.core, CPUs: []int{p.core, p.core + 7}}
}

// Ranks of a communicator that knows nothing of them have the host's name, and
// are not oversubscribed.
func TestPlacesWithoutAbilities(t *testing.T) {
	err := local.Run(50, nil, func(c mpi.Communicator) error {
		places, err := mpi.Places(bare{c})
		if err != nil {
			return err
		}
		for r, p := range places {
			if p.Host != c.(mpi.Placed).Place().Host || p.Core != -1 || p.CPUs != nil {
				return fmt.Errorf("place of rank %d = %v", r, p)
			}
		}
		if hosts := mpi.OversubscribedHosts(places); hosts != nil {
			return fmt.Errorf("oversubscribed hosts = %v, want none", hosts)
		}
		return nil
	})
	if err != nil {
		t.Error(err)
	}
}

// Goroutines share the CPUs of the process: as many ranks as it has are not
// oversubscribed, one more is.
func TestPlacesOfGoroutines(t *testing.T) {
	cores, err := local.Cores()
	if err != nil {
		tooltest.Lacks(t, "%v", err)
	}
	for _, n := range []int{len(cores), len(cores) + 1} {
		err := local.Run(n, nil, func(c mpi.Communicator) error {
			places, err := mpi.Places(c)
			if err != nil {
				return err
			}
			if !slices.Equal(places[n-1].CPUs, cores) {
				return fmt.Errorf("CPUs = %d, want %d", places[n-1].CPUs, cores)
			}
			if hosts := mpi.OversubscribedHosts(places); len(hosts) > 0 != (n > len(cores)) {
				return fmt.Errorf("%d ranks on %d cores: oversubscribed hosts %v", n, len(cores), hosts)
			}
			return nil
		})
		if err != nil {
			t.Error(err)
		}
	}
}

// Simulated ranks are never oversubscribed, however many share a host or a core.
func TestPlacesOfSimulatedRanks(t *testing.T) {
	for _, tt := range []struct {
		cluster   string
		placement []int
		cpus      []int
	}{
		{"star:3", nil, []int{0, 0, 0}},
		{"star:3", []int{2, 0, 2, 2}, []int{0, 0, 1, 2}},
		{"host:2 socket:2 core:2", nil, []int{0, 1, 2, 3, 0, 1, 2, 3}},
		{"host:2 socket:2 core:2", []int{7, 7, 1, 1, 6, 7}, []int{3, 4, 1, 4, 2, 5}},
	} {
		cluster, err := gen.Parse(tt.cluster)
		if err != nil {
			t.Fatal(err)
		}
		err = simnet.Run(cluster.Graph, tt.placement, &simnet.Settings{Node: cluster.Node}, func(c mpi.Communicator) error {
			places, err := mpi.Places(c)
			if err != nil {
				return err
			}
			for r, want := range tt.cpus {
				if !slices.Equal(places[r].CPUs, []int{want}) {
					return fmt.Errorf("CPUs of rank %d = %d, want %d", r, places[r].CPUs, want)
				}
			}
			if hosts := mpi.OversubscribedHosts(places); hosts != nil {
				return fmt.Errorf("oversubscribed hosts = %v, want none", hosts)
			}
			return nil
		})
		if err != nil {
			t.Errorf("%s placed on %v: %v", tt.cluster, tt.placement, err)
		}
	}
}
