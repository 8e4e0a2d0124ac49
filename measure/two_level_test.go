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

// cores puts four hosts of the graph, cores of one machine each, at a time into a machine.
func machines(ranks int) []int {
	node := make([]int, ranks)
	for i := range node {
		node[i] = i / 4
	}
	return node
}

// TestDiscoverInTwoLevels: of a cluster of six machines with four cores in two
// sockets, few pairs give the same groups and latencies as all of them, and the network
// knows the times of all.
func TestDiscoverInTwoLevels(t *testing.T) {
	const ranks = 24
	cluster, err := gen.Parse("tree:2x3x2x2 latency=40us,10us,1us,0.3us rate=10Gbps")
	if err != nil {
		t.Fatal(err)
	}
	discover := func(s measure.DiscoverSettings, placement []int) *measure.Discovery {
		var found *measure.Discovery
		err := simnet.Run(cluster.Graph, placement, &simnet.Settings{Node: machines(ranks)}, func(c mpi.Communicator) error {
			own := s
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
	cyclic := make([]int, ranks) // rank r runs on machine r mod 6
	for r := range cyclic {
		cyclic[r] = r%6*4 + r/6
	}
	for _, c := range []struct {
		name      string
		placement []int
		equal     bool
		pairs     int // that are read
	}{
		// 6 machines of 6 pairs, 3 of each to the outside, and 15 between them.
		{"block", nil, false, 6*6 + 6*3 + 15},
		{"cyclic", cyclic, false, 6*6 + 6*3 + 15},
		{"equal hosts", nil, true, 6 + 3 + 15},
	} {
		t.Run(c.name, func(t *testing.T) {
			whole := discover(measure.DiscoverSettings{Repetitions: 2, Samples: 5}, c.placement)
			two := discover(measure.DiscoverSettings{Repetitions: 2, Samples: 5, TwoLevel: true, EqualHosts: c.equal}, c.placement)
			read := map[[2]int]bool{}
			for _, x := range two.Latencies.Readings() {
				read[[2]int{min(x.From, x.To), max(x.From, x.To)}] = true
			}
			if len(read) != c.pairs {
				t.Errorf("%d pairs were read, want %d", len(read), c.pairs)
			}
			if got, want := topotest.Groups(two.Topology.Hierarchy), topotest.Groups(whole.Topology.Hierarchy); !slices.Equal(got, want) {
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
					for _, size := range []int64{8, 1 << 20} {
						got, want := two.Network.Time(a, b, size), whole.Network.Time(a, b, size)
						if !(got > 0.95*want && got < 1.05*want) {
							t.Fatalf("%d B from %d to %d take %g s, want %g", size, a, b, got, want)
						}
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
		err = simnet.Run(cluster.Graph, nil, &simnet.Settings{Node: node}, func(c mpi.Communicator) error {
			d, err := measure.Discover(context.Background(), c, &measure.DiscoverSettings{Repetitions: 1, Samples: 5, TwoLevel: true})
			if d != nil && len(d.Latencies.Readings()) < 8*7 {
				t.Errorf("%d readings, want those of all pairs", len(d.Latencies.Readings()))
			}
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
	}
}
