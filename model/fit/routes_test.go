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

// Measured latencies of equal links differ by 1 %, and by 6 % or 12 % where much was taken out of them. By them one of several
// routes is the shortest by chance. The fit finds which routes transfers take: those of the network that the patterns are
// played on. Links that really differ keep their latencies.
func TestFitFindsTheRoutes(t *testing.T) {
	for _, c := range []struct {
		spec    string
		routing topology.RouteChoice
		off     float64 // by which measured latencies of equal links differ; 0: links really differ
	}{
		{"torus:4x3 latency=5us rate=10Gbps", topology.ChooseLowest, 0.01},
		{"torus:4x3 latency=5us rate=10Gbps", topology.ChooseModulo, 0.01},
		{"torus:4x3 latency=5us rate=10Gbps", topology.ChooseHashed, 0.01},
		{"torus:4x3 latency=5us rate=10Gbps", topology.ChooseLowest, 0.06},
		{"torus:3x5 latency=1us rate=10Gbps", topology.ChooseModulo, 0.12},
		{"torus:4x3 latency=5us rate=10Gbps spread=20% seed=3", topology.ChooseLowest, 0},
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
			arcs[i].Latency *= 1 + c.off*(r.Float64()-0.5)
		}
		graph, err := cluster.Graph.WithArcs(arcs)
		if err != nil {
			t.Fatal(err)
		}
		seen := *truth.Reconstruction()
		seen.Graph = graph
		var settings model.Settings
		fitted, err := chooseRoutes(&seen, &settings, observe(t, truth, r, 0.01, fitPatterns(r, cluster.Graph.Hosts(), 12)))
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
		for a := range cluster.Graph.Hosts() {
			for b := range cluster.Graph.Hosts() {
				x, _ := want.AppendRoute(nil, a, b)
				if y, err := got.AppendRoute(nil, a, b); err != nil || !slices.Equal(x, y) {
					t.Errorf("%s, %v: the route from %d to %d is %v, %v, want %v", c.spec, c.routing, a, b, y, err, x)
				}
			}
		}
		for i, a := range fitted.Graph().Arcs() {
			if c.off == 0 && a.Latency != arcs[i].Latency {
				t.Errorf("%s: the latency of %d->%d is %g s, want %g", c.spec, a.From, a.To, a.Latency, arcs[i].Latency)
			}
		}
	}
}
