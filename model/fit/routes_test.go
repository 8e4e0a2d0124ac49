package fit

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/topocast/topocast/internal/gen"
	"github.com/topocast/topocast/model"
	"github.com/topocast/topocast/topology"
)

// Measured latencies of equal links differ by 1 %: by them one of several routes is the shortest by chance. The fit finds which
// routes transfers take: those of the network that the patterns are played on. Links that really differ keep their latencies.
func TestFitFindsTheRoutes(t *testing.T) {
	for _, c := range []struct {
		spec    string
		routing topology.RouteChoice
		equal   bool
	}{
		{"torus:4x3 latency=5us rate=10Gbps", topology.ChooseLowest, true},
		{"torus:4x3 latency=5us rate=10Gbps", topology.ChooseModulo, true},
		{"torus:4x3 latency=5us rate=10Gbps", topology.ChooseHashed, true},
		{"torus:4x3 latency=5us rate=10Gbps spread=20% seed=3", topology.ChooseLowest, false},
	} {
		cluster, err := gen.Parse(c.spec)
		if err != nil {
			t.Fatal(err)
		}
		r := rand.New(rand.NewPCG(5, 3))
		truth, err := model.FromGraph(cluster.Graph, c.routing)
		if err != nil {
			t.Fatal(err)
		}
		arcs := append([]topology.Arc(nil), cluster.Graph.Arcs()...)
		for i := range arcs {
			arcs[i].Bandwidth = math.NaN()
			if c.equal {
				arcs[i].Latency *= 1 + 0.01*(r.Float64()-0.5)
			}
		}
		graph, err := cluster.Graph.WithArcs(arcs)
		if err != nil {
			t.Fatal(err)
		}
		seen := *truth.Reconstruction()
		seen.Graph = graph
		var settings model.Settings
		fitted, err := chooseRoutes(&seen, &settings, observe(t, truth, r, 0.01, fitPatterns(r, 12, 12)))
		if err != nil {
			t.Fatal(err)
		}
		want, err := topology.NewRoutes(cluster.Graph, c.routing)
		if err != nil {
			t.Fatal(err)
		}
		got, err := topology.NewRoutes(fitted.Graph(), settings.Routing)
		if err != nil {
			t.Fatal(err)
		}
		for a := range 12 {
			for b := range 12 {
				x, _ := want.AppendRoute(nil, a, b)
				if y, err := got.AppendRoute(nil, a, b); err != nil || !slices.Equal(x, y) {
					t.Errorf("%s, %v: the route from %d to %d is %v, %v, want %v", c.spec, c.routing, a, b, y, err, x)
				}
			}
		}
		for i, a := range fitted.Graph().Arcs() {
			if !c.equal && a.Latency != arcs[i].Latency {
				t.Errorf("%s: the latency of %d->%d is %g s, want %g", c.spec, a.From, a.To, a.Latency, arcs[i].Latency)
			}
		}
	}
}
