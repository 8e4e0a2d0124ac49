package throughput

import (
	"context"
	"math"
	"testing"
	"time"

	"github.com/topocast/topocast/measure/harness"
	"github.com/topocast/topocast/model"
	"github.com/topocast/topocast/mpi"
	"github.com/topocast/topocast/mpi/simnet"
	"github.com/topocast/topocast/topology"
)

func remeasured(t *testing.T, machine *topology.Graph, sim *simnet.Settings, s *Settings) *Result {
	t.Helper()
	hollow := simnet.Settings{}
	if sim != nil {
		hollow = *sim
	}
	hollow.HollowAbove = 200 << 10 // nobody looks into long messages
	var r *Result
	err := simnet.Run(machine, nil, &hollow, func(comm mpi.Communicator) error {
		if comm.Rank() != 0 {
			_, err := Measure(context.Background(), comm, nil)
			return err
		}
		found, err := Measure(context.Background(), comm, s)
		r = found
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// known is the network of a machine whose latencies and bandwidths are not known well:
// all links are taken to be twice as slow as the specification says.
func known(t *testing.T, spec string) (*model.Network, *topology.Graph) {
	t.Helper()
	c := parse(t, spec)
	arcs := append([]topology.Arc(nil), c.Graph.Arcs()...)
	for i := range arcs {
		arcs[i].Latency *= 2
		arcs[i].Bandwidth /= 2
		arcs[i].Estimated = true
	}
	g, err := c.Graph.WithArcs(arcs)
	if err != nil {
		t.Fatal(err)
	}
	var locations []model.Location
	for rank := range g.Hosts() {
		locations = append(locations, model.Location{Host: g.Name(rank), Core: -1})
	}
	family := topology.FamilyMesh
	if g.Vertices() > g.Hosts() {
		family = topology.FamilyTree
	}
	n, err := model.New(&topology.Result{Graph: g, Hierarchy: c.Hierarchy, Fit: topology.Fit{Family: family}, Warnings: []string{"as it was"}}, &model.Settings{
		Locations: locations, Measured: model.Metadata{Bytes: 8, Tool: "before"}, Law: model.Law{RTTBias: 0.1},
	})
	if err != nil {
		t.Fatal(err)
	}
	return n, c.Graph
}

// TestRemeasurePutsTheTruthBack: latencies and bandwidths of all links, the times of all
// levels and sizes, whatever the network said before. A message of 1 MiB between simulated
// ranks asks for consent first, which crosses twice more.
func TestRemeasurePutsTheTruthBack(t *testing.T) {
	for _, tt := range []struct {
		spec  string
		noise float64
		exact float64 // of times and latencies
	}{
		{"tree:3x4x3 latency=9us,4us,1us rate=5Gbps,10Gbps,10Gbps", 0, 0.001},
		{"tree:[3,4,5] latency=6us,2us", 0.02, 0.03},
		{"line:6 latency=3us", 0, 0.001},
		{"torus:4x4 latency=3us", 0, 0.001},
		{"star:2", 0, 0.001},
	} {
		if testing.Short() && tt.noise > 0 {
			continue
		}
		n, g := known(t, tt.spec)
		r := remeasured(t, g, &simnet.Settings{Noise: simnet.Noise{Sigma: tt.noise}, Seed: 1}, &Settings{
			Network: n, Measured: model.Metadata{Tool: "after"},
		})
		if r.Stopped != "" || r.Network.Measured().Tool != "after" || r.Network.Measured().Bytes != 8 {
			t.Errorf("%s: stopped by %q, says of itself %+v", tt.spec, r.Stopped, r.Network.Measured())
		}
		if w := r.Network.Warnings(); len(w) == 0 || w[0] != "as it was" {
			t.Errorf("%s: warnings %q", tt.spec, w)
		}
		truth, err := model.FromGraph(g, topology.ChooseLowest)
		if err != nil {
			t.Fatal(err)
		}
		for i, a := range r.Network.Graph().Arcs() {
			want := g.Arcs()[i]
			bounded := r.Links[i].AtLeast
			if math.Abs(a.Bandwidth/want.Bandwidth-1) > 0.02+tt.noise || a.Estimated && !bounded {
				t.Errorf("%s: %d->%d: %.4g B/s, want %.4g", tt.spec, a.From, a.To, a.Bandwidth, want.Bandwidth)
			}
		}
		for src := range g.Hosts() {
			for dst := range g.Hosts() {
				if src == dst {
					continue
				}
				if got, want := r.Network.Time(src, dst, 8), truth.Time(src, dst, 8); math.Abs(got/want-1) > tt.exact+0.002 {
					t.Errorf("%s: Time(%d, %d, 8) = %g, want %g", tt.spec, src, dst, got, want)
				}
				consent := 2 * truth.Time(src, dst, 8)
				if got, want := r.Network.Time(src, dst, 1<<20), truth.Time(src, dst, 1<<20)+consent; math.Abs(got/want-1) > 0.03 {
					t.Errorf("%s: Time(%d, %d, 1 MiB) = %g, want %g", tt.spec, src, dst, got, want)
				}
			}
		}
	}
}

// TestRemeasureReadsFewPairs: 64 hosts in 16 racks: six pairs on each switch, one after
// the other, and one for each uplink, there and back: all pairs are 2,016.
func TestRemeasureReadsFewPairs(t *testing.T) {
	n, g := known(t, "tree:4x4x4")
	r := remeasured(t, g, nil, &Settings{Network: n})
	pairs := make(map[[2]int]bool)
	for _, o := range r.latencies {
		tr := o.Transfers[0]
		pairs[[2]int{min(tr.Src, tr.Dst), max(tr.Src, tr.Dst)}] = true
	}
	if most := 16*5 + 2*20; len(pairs) > most {
		t.Errorf("%d pairs, want at most %d", len(pairs), most)
	}
	for i, a := range r.Network.Graph().Arcs() {
		if want := g.Arcs()[i].Latency; math.Abs(a.Latency/want-1) > 0.01 {
			t.Errorf("%d->%d: %g s, want %g", a.From, a.To, a.Latency, want)
		}
	}
}

// TestRemeasureSharesABudget: short messages of all pairs come before long ones, which do not use up what rates are to have.
func TestRemeasureSharesABudget(t *testing.T) {
	n, g := known(t, "tree:3x1x5 rate=10Gbps")
	r := remeasured(t, g, nil, &Settings{Network: n, Control: harness.Control{Budget: time.Second}})
	short, rates := make(map[[2]int]bool), 0
	for _, o := range r.latencies {
		if x := o.Transfers[0]; x.Bytes == n.Measured().Bytes {
			short[[2]int{x.Src, x.Dst}] = true
		}
	}
	for _, l := range r.Links {
		if l.Rate > 0 {
			rates++
		}
	}
	// Rings of five pairs on each of three switches, and three pairs that tell of the links above.
	if len(short) < 2*(3*5+3) || rates < len(r.Links)/3 {
		t.Errorf("short messages of %d directed pairs and rates of %d of %d links, want those of all 18 pairs and many rates", len(short), rates, len(r.Links))
	}
}

// Two hosts that are alone on a switch: nothing says which of their links held a message up, so both rates are lower bounds, and
// stay marked as estimated in the network that is measured again.
func TestRemeasureMarksLowerBoundsAsEstimated(t *testing.T) {
	n, machine := known(t, "star:2 rate=10Gbps")
	r := remeasured(t, machine, nil, &Settings{Network: n})
	bounds := 0
	for i, l := range r.Links {
		a := r.Network.Graph().Arcs()[i]
		if l.AtLeast {
			bounds++
		}
		if a.Estimated != l.AtLeast || a.Bandwidth != l.Rate {
			t.Errorf("%d->%d has %.3g B/s, estimated %v, want %.3g, %v", a.From, a.To, a.Bandwidth, a.Estimated, l.Rate, l.AtLeast)
		}
	}
	if bounds != len(r.Links) {
		t.Errorf("%d of %d links have lower bounds, want all", bounds, len(r.Links))
	}
}
