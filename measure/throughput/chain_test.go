package throughput_test

import (
	"context"
	"fmt"
	"path/filepath"
	"slices"
	"testing"

	"github.com/topocast/topocast/internal/gen"
	"github.com/topocast/topocast/measure"
	"github.com/topocast/topocast/measure/harness"
	"github.com/topocast/topocast/measure/throughput"
	"github.com/topocast/topocast/model"
	"github.com/topocast/topocast/model/fit"
	"github.com/topocast/topocast/mpi"
	"github.com/topocast/topocast/mpi/simnet"
	"github.com/topocast/topocast/topology"
	"github.com/topocast/topocast/topology/compare"
	"github.com/topocast/topocast/topology/linkage"
)

// discovered is the chain that Discover goes: latencies, wiring, throughput of all
// links, a network, and its file.
func discovered(t testing.TB, machine *topology.Graph, sim *simnet.Settings) *model.Network {
	t.Helper()
	path := filepath.Join(t.TempDir(), "network.json")
	err := simnet.Run(machine, nil, sim, func(comm mpi.Communicator) error {
		ctx := context.Background()
		short, err := measure.Run(ctx, comm, &measure.Settings{Sizes: []int{8}, Sampling: measure.Sampling{Repetitions: 2, Samples: 5, Seed: 1}})
		if err != nil {
			return err
		}
		var s *throughput.Settings
		var found *topology.Result
		if comm.Rank() == 0 {
			if found, err = (&linkage.Robust{}).Reconstruct(short.Matrices()...); err != nil {
				return err
			}
			s = throughput.Uplinks(found, harness.Control{})
		}
		r, err := throughput.Measure(ctx, comm, s)
		if err != nil || comm.Rank() != 0 {
			return err
		}
		locations := make([]model.Location, comm.Size())
		for rank := range locations {
			locations[rank] = model.Location{Host: machine.Name(rank), Core: -1}
		}
		fitted, err := fit.Network(found, append(short.Observations(), r.Observations()...), &fit.Settings{
			Arcs: r.Measured(), Network: model.Settings{Locations: locations, Measured: model.Metadata{Bytes: 8}},
		})
		if err != nil {
			return err
		}
		return fitted.Network.Save(path)
	})
	if err != nil {
		t.Fatal(err)
	}
	n, err := model.Load(path)
	if err != nil {
		t.Fatal(err)
	}
	return n
}

// slowArcs are those directions whose bandwidth a comparison calls slow: the hosts
// below the link, and whether it is the way out of them.
func slowArcs(t testing.TB, measured *model.Network, specified *topology.Graph) []string {
	t.Helper()
	var names []string
	for rank := range measured.Ranks() {
		names = append(names, measured.Location(rank).Host)
	}
	g, err := measured.Graph().WithHostNames(names)
	if err != nil {
		t.Fatal(err)
	}
	c, err := compare.Links(g, specified, nil)
	if err != nil {
		t.Fatal(err)
	}
	var slow []string
	for _, l := range c.Links {
		for direction, q := range l.Bandwidth {
			if q.Verdict == compare.LinkSlow {
				slow = append(slow, fmt.Sprintf("%s-%s direction %d: %.1f times", specified.Name(l.U), specified.Name(l.V), direction, q.Slower))
			}
		}
	}
	slices.Sort(slow)
	return slow
}

// TestSlowUplinksShowInCompare: the specification says 10 Gbit/s everywhere. Links that
// run slower, in both directions or in one, are the findings, with their direction, and nothing else
// is. The root is s0, the racks s1 to s3.
func TestSlowUplinksShowInCompare(t *testing.T) {
	specified, err := gen.Parse("tree:3x4 latency=8us,2us")
	if err != nil {
		t.Fatal(err)
	}
	g := specified.Graph
	vertex := func(name string) int {
		for v := range g.Vertices() {
			if g.Name(v) == name {
				return v
			}
		}
		t.Fatal(name)
		return -1
	}
	for _, tt := range []struct {
		what  string
		slow  [][2]string // from, to
		times float64
		want  []string
	}{
		{"nothing", nil, 1, nil},
		{"an uplink both ways", [][2]string{{"s0", "s2"}, {"s2", "s0"}}, 10, []string{"s0-s2 direction 0: 10.0 times", "s0-s2 direction 1: 10.0 times"}},
		{"an uplink downwards", [][2]string{{"s0", "s2"}}, 10, []string{"s0-s2 direction 0: 10.0 times"}},
		{"an uplink at half its rate, upwards", [][2]string{{"s3", "s0"}}, 2, []string{"s0-s3 direction 1: 2.0 times"}},
		{"a host's link out", [][2]string{{"h5", "s2"}}, 10, []string{"s2-h5 direction 1: 10.0 times"}},
	} {
		t.Run(tt.what, func(t *testing.T) {
			arcs := slices.Clone(g.Arcs())
			for _, s := range tt.slow {
				arcs[g.ArcIndex(vertex(s[0]), vertex(s[1]))].Bandwidth /= tt.times
			}
			machine, err := g.WithArcs(arcs)
			if err != nil {
				t.Fatal(err)
			}
			for _, noise := range []float64{0, 0.03} {
				if noise > 0 && testing.Short() {
					break
				}
				n := discovered(t, machine, &simnet.Settings{
					Noise: simnet.Noise{Sigma: noise, Outliers: noise / 2}, Seed: 1, HollowAbove: 200 << 10, // nobody looks into long messages
				})
				got := slowArcs(t, n, g)
				if noise == 0 && !slices.Equal(got, tt.want) || noise > 0 && len(got) != len(tt.want) {
					t.Errorf("noise %g: slow are %q, want %q", noise, got, tt.want)
				}
			}
		})
	}
}
