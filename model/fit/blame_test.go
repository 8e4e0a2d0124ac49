package fit

import (
	"math"
	"slices"
	"testing"

	"github.com/topocast/topocast/model"

	"github.com/topocast/topocast/internal/gen"
	"github.com/topocast/topocast/topology"
)

// TestSlowLinksAreToldApart: transfers alone on three racks of three hosts; one
// link carries a third. Each transfer takes what its slowest link lets through, so
// the truth is known: the slow link is measured as such, and a link that was only
// crossed together with it is not, but estimated. Uplinks are estimated, too, that only transfers crossed which the links
// of their hosts let through no faster: by hand, those of racks 1 and 2 carry 1.25 GB/s at least.
func TestSlowLinksAreToldApart(t *testing.T) {
	c, err := gen.Parse("tree:3x3 latency=10us,2us rate=10Gbps")
	if err != nil {
		t.Fatal(err)
	}
	arcs := slices.Clone(c.Graph.Arcs())
	for i := range arcs {
		arcs[i].Bandwidth = math.NaN()
	}
	g, err := topology.NewGraph(c.Graph.Hosts(), c.Graph.Vertices()-c.Graph.Hosts(), nil, arcs)
	if err != nil {
		t.Fatal(err)
	}
	rack := func(h int) int { return g.Out(h)[0].To }
	root := g.Vertices() - 1
	for v := g.Hosts(); v < g.Vertices(); v++ {
		if g.ArcIndex(v, rack(0)) >= 0 {
			root = v
		}
	}
	for _, x := range []struct {
		name  string
		slow  [2]int
		pairs [][2]int
		known map[[2]int]bool // links that shall be measured
	}{
		{
			"an uplink, which two transfers show",
			[2]int{rack(0), root},
			[][2]int{{0, 3}, {4, 6}, {7, 1}, {3, 4}, {6, 7}},
			map[[2]int]bool{{rack(0), root}: true, {rack(3), root}: false, {rack(6), root}: false, {3, rack(3)}: true, {0, rack(0)}: false, {1, rack(0)}: false},
		},
		{
			"a host, which two transfers show",
			[2]int{0, rack(0)},
			[][2]int{{0, 1}, {2, 0}, {3, 4}, {4, 5}, {0, 3}, {4, 7}, {6, 1}},
			map[[2]int]bool{{0, rack(0)}: true, {2, rack(0)}: false, {1, rack(0)}: true},
		},
	} {
		var observations []Observation
		for _, p := range x.pairs {
			for _, bytes := range []int64{8, 1 << 20} {
				latency, rate := 4e-6, 1.25e9
				if rack(p[0]) != rack(p[1]) {
					latency = 24e-6
				}
				path := [][2]int{{p[0], rack(p[0])}, {p[1], rack(p[1])}}
				if rack(p[0]) != rack(p[1]) {
					path = append(path, [2]int{rack(p[0]), root}, [2]int{rack(p[1]), root})
				}
				for _, l := range path {
					if l == x.slow {
						rate = 1.25e9 / 3
					}
				}
				observations = append(observations, Observation{
					Transfers: []model.Transfer{{Src: p[0], Dst: p[1], Bytes: bytes}}, Seconds: []float64{latency + float64(bytes)/rate},
				})
			}
		}
		fitted, err := Network(&topology.Result{Graph: g, Hierarchy: c.Hierarchy, Fit: topology.Fit{Family: topology.FamilyTree}},
			observations, &Settings{Network: model.Settings{Measured: model.Metadata{Bytes: 8}}})
		if err != nil {
			t.Fatal(err)
		}
		got := fitted.Network.Graph()
		for l, known := range x.known {
			a := got.Arcs()[got.ArcIndex(l[0], l[1])]
			want := 1.25e9
			if l == x.slow {
				want /= 3
			}
			if a.Estimated == known || a.Bandwidth < 0.95*want || a.Bandwidth > 1.05*want {
				t.Errorf("%s: link %s-%s: %.3g B/s, estimated %v, want %.3g, %v", x.name, g.Name(l[0]), g.Name(l[1]), a.Bandwidth, a.Estimated, want, !known)
			}
		}
	}
}
