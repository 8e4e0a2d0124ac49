package measure_test

import (
	"context"
	"slices"
	"strings"
	"testing"

	"github.com/topocast/topocast/internal/gen"
	"github.com/topocast/topocast/internal/topotest"
	"github.com/topocast/topocast/measure"
	"github.com/topocast/topocast/mpi"
	"github.com/topocast/topocast/mpi/simnet"
	"github.com/topocast/topocast/topology"
)

// machines puts four hosts of the graph, cores of one machine each, at a time into a machine.
func machines(ranks int) []int {
	node := make([]int, ranks)
	for i := range node {
		node[i] = i / 4
	}
	return node
}

// TestDiscoverInTwoLevels: of a cluster of four machines with four cores in two
// sockets, few pairs give the groups and latencies of all, and the network knows the times of
// all.
func TestDiscoverInTwoLevels(t *testing.T) {
	const ranks = 16
	cluster, err := gen.Parse("tree:2x2x2x2 latency=40us,10us,1us,0.3us rate=10Gbps")
	if err != nil {
		t.Fatal(err)
	}
	discover := func(s measure.DiscoverSettings, placement []int) *measure.Discovery {
		var found *measure.Discovery
		err := simnet.Run(cluster.Graph, placement, &simnet.Settings{Node: machines(ranks), HollowAbove: hollowAbove}, func(c mpi.Communicator) error {
			own := s
			own.Patterns = 6
			if c.Rank() != 0 {
				own = measure.DiscoverSettings{} // those of rank 0 count
			}
			d, err := measure.Discover(context.Background(), c, &own)
			if d != nil {
				found = d
			}
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
		return found
	}
	cyclic := make([]int, ranks) // rank r runs on machine r mod 4
	for r := range cyclic {
		cyclic[r] = r%4*4 + r/4
	}
	for _, c := range []struct {
		name      string
		placement []int
		choice    measure.Choice
		pairs     int // that are read
	}{
		// 4 machines of 6 pairs, 3 of each to the outside, and 6 between them.
		{"block", nil, measure.TwoLevels, 4*6 + 4*3 + 6},
		{"cyclic, equal hosts", cyclic, measure.TwoLevelsAlike, 6 + 3 + 6},
	} {
		t.Run(c.name, func(t *testing.T) {
			two := discover(measure.DiscoverSettings{Sampling: measure.Sampling{Repetitions: 2, Samples: 5}, Pairs: c.choice}, c.placement)
			truth := cluster
			if c.placement != nil {
				rankOf := make([]int, ranks)
				for rank, host := range c.placement {
					rankOf[host] = rank
				}
				if truth, err = cluster.Relabel(rankOf); err != nil {
					t.Fatal(err)
				}
			}
			latencies, err := truth.Latencies()
			if err != nil {
				t.Fatal(err)
			}
			read := map[[2]int]bool{}
			for _, x := range two.Latencies.Measurements() {
				read[[2]int{min(x.From, x.To), max(x.From, x.To)}] = true
			}
			if len(read) != c.pairs {
				t.Errorf("%d pairs were read, want %d", len(read), c.pairs)
			}
			if got, want := topotest.Groups(two.Topology.Hierarchy), topotest.Groups(truth.Hierarchy); !slices.Equal(got, want) {
				t.Errorf("groups = %v, want %v", got, want)
			}
			kinds := 0
			for _, l := range two.Network.Hierarchy().Levels() {
				if l.Kind == topology.KindHost {
					kinds++
				}
			}
			if kinds != 1 {
				t.Errorf("levels %+v: want one of hosts", two.Network.Hierarchy().Levels())
			}
			for a := range ranks {
				for b := range ranks {
					if a == b {
						continue
					}
					// 8 B at 1.25 GB/s take nothing that counts.
					if got, want := two.Network.Time(a, b, 8), latencies.At(a, b); !(got > 0.97*want && got < 1.03*want) {
						t.Fatalf("8 B from %d to %d take %g s, want %g", a, b, got, want)
					}
					// Of long messages a request and the consent travel before.
					if got, want := two.Network.Time(a, b, 1<<20), 3*latencies.At(a, b)+(1<<20)/1.25e9; !(got > 0.9*want && got < 1.1*want) {
						t.Fatalf("1 MiB from %d to %d take %g s, want %g", a, b, got, want)
					}
				}
			}
			if text := strings.Join(two.Network.Warnings(), "\n"); strings.Contains(text, "pairs were measured") {
				t.Errorf("warnings %q: what was left out is meant to be", text)
			}
		})
	}
}

// TestOneLevelIsNotTwo: jobs on one machine, and with one rank per machine, are
// measured as a whole.
func TestOneLevelIsNotTwo(t *testing.T) {
	cluster, err := gen.Parse("tree:2x4 latency=10us,1us")
	if err != nil {
		t.Fatal(err)
	}
	for _, node := range [][]int{nil, make([]int, 8)} {
		err = simnet.Run(cluster.Graph, nil, &simnet.Settings{Node: node, HollowAbove: hollowAbove}, func(c mpi.Communicator) error {
			d, err := measure.Discover(context.Background(), c, &measure.DiscoverSettings{Sampling: measure.Sampling{Repetitions: 1, Samples: 5}, Pairs: measure.TwoLevels})
			if d != nil && len(d.Latencies.Measurements()) < 8*7 {
				t.Errorf("%d measurements, want those of all pairs", len(d.Latencies.Measurements()))
			}
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
	}
}
