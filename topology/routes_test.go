package topology_test

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/topocast/topocast/internal/gen"
	"github.com/topocast/topocast/topology"
	"gonum.org/v1/gonum/graph/path"
)

func graphOf(t testing.TB, spec string) *topology.Graph {
	t.Helper()
	c, err := gen.Parse(spec)
	if err != nil {
		t.Fatal(err)
	}
	return c.Graph
}

func routesOf(t testing.TB, g *topology.Graph, choice topology.RouteChoice) *topology.Routes {
	t.Helper()
	r, err := topology.NewRoutes(g, choice)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// vertices lists the vertices on a route, the source first.
func vertices(g *topology.Graph, src int, route []int32) []int {
	vs := []int{src}
	for _, a := range route {
		vs = append(vs, g.Arcs()[a].To)
	}
	return vs
}

func TestRouteTakesTheShortestWayAndTheLowestOfEquals(t *testing.T) {
	diamond := func(viaLow, viaHigh float64) *topology.Graph {
		var arcs []topology.Arc
		for _, l := range []struct {
			u, v    int
			latency float64
		}{{0, 2, 1}, {0, 3, 1}, {2, 1, viaLow}, {3, 1, viaHigh}, {0, 4, 0.5}, {4, 5, 0.5}, {5, 1, viaLow}} {
			arcs = topology.AppendLink(arcs, l.u, l.v, l.latency, 1)
		}
		g, err := topology.NewGraph(2, 4, nil, arcs)
		if err != nil {
			t.Fatal(err)
		}
		return g
	}
	for _, c := range []struct {
		name string
		g    *topology.Graph
		src  int
		to   int
		want []int
	}{
		{"up and down a tree", graphOf(t, "tree:2x2x2"), 0, 7, []int{0, 11, 9, 8, 10, 14, 7}},
		{"inside a rack", graphOf(t, "tree:2x2x2"), 2, 3, []int{2, 12, 3}},
		{"from a host to its root", graphOf(t, "tree:2x2x2"), 2, 8, []int{2, 12, 9, 8}},
		{"to itself", graphOf(t, "tree:2x2x2"), 5, 5, []int{5}},
		{"the short way round a ring", graphOf(t, "ring:6"), 0, 4, []int{0, 5, 4}},
		{"half way round a ring both ways are equal", graphOf(t, "ring:6"), 0, 3, []int{0, 1, 2, 3}},
		{"the lower of two equals, and the one of fewer hops of three", diamond(1, 1), 0, 1, []int{0, 2, 1}},
		{"the shorter of two", diamond(2, 1), 0, 1, []int{0, 3, 1}},
		{"sums in different order are equal", diamond(1, 1+1e-12), 0, 1, []int{0, 2, 1}},
	} {
		route, err := routesOf(t, c.g, topology.ChooseLowest).AppendRoute(nil, c.src, c.to)
		if err != nil {
			t.Errorf("%s: %v", c.name, err)
		} else if got := vertices(c.g, c.src, route); !slices.Equal(got, c.want) {
			t.Errorf("%s: AppendRoute(%d, %d) passes %v, want %v", c.name, c.src, c.to, got, c.want)
		}
	}
}

// In XGFT(2; 4,4; 1,4) d-mod-k sends all traffic for host d over top switch
// d mod 4, from wherever it comes: each top switch carries a quarter.
func TestModuloRoutingSpreadsAFatTreeByDestination(t *testing.T) {
	g := graphOf(t, "fattree:4,4")
	r := routesOf(t, g, topology.ChooseModulo)
	for src := range 16 {
		for to := range 16 {
			route, err := r.AppendRoute(nil, src, to)
			if err != nil {
				t.Fatal(err)
			}
			if src/4 == to/4 {
				continue
			}
			if vs := vertices(g, src, route); len(vs) != 5 || vs[2] != 16+4+to%4 {
				t.Errorf("route %d->%d passes %v, want top switch %d", src, to, vs, 16+4+to%4)
			}
		}
	}
}

func TestHashedRoutingUsesAllTopSwitchesEvenly(t *testing.T) {
	g := graphOf(t, "fattree:8,8")
	r := routesOf(t, g, topology.ChooseHashed)
	used := map[int]int{}
	for src := range 64 {
		for to := range 64 {
			if src/8 == to/8 {
				continue
			}
			route, err := r.AppendRoute(nil, src, to)
			if err != nil {
				t.Fatal(err)
			}
			used[vertices(g, src, route)[2]]++
		}
	}
	// 3584 routes over 8 switches: 448 each, standard deviation 20.
	if len(used) != 8 {
		t.Errorf("%d of 8 top switches used", len(used))
	}
	for v, n := range used {
		if n < 348 || n > 548 {
			t.Errorf("top switch %d has %d routes, want about 448", v, n)
		}
	}
}

// randomGraph has directed arcs at random, and trees hanging from some vertices.
func randomGraph(rng *rand.Rand, hosts, switches int) *topology.Graph {
	n := hosts + switches
	latency := func() float64 { return float64(rng.IntN(4)) } // ties and zeros
	var arcs []topology.Arc
	have := map[[2]int]bool{}
	add := func(u, v int) {
		if u != v && !have[[2]int{u, v}] {
			have[[2]int{u, v}] = true
			arcs = append(arcs, topology.Arc{From: u, To: v, Latency: latency(), Bandwidth: 1, Probability: 1})
		}
	}
	hanging := rng.IntN(n)
	for v := 1; v < n; v++ {
		u := rng.IntN(v)
		add(u, v)
		add(v, u)
		if v < hanging {
			add(rng.IntN(v), rng.IntN(v))
		}
	}
	g, err := topology.NewGraph(hosts, switches, nil, arcs)
	if err != nil {
		panic(err)
	}
	return g
}

// Against gonum's Floyd-Warshall, on graphs with one-way arcs, ties, zero
// latencies and hanging trees, for every choice.
func TestRoutesAreContiguousAndShortest(t *testing.T) {
	rng := rand.New(rand.NewPCG(7, 7))
	for range 60 {
		g := randomGraph(rng, 1+rng.IntN(12), rng.IntN(12))
		all, _ := path.FloydWarshall(g.Weighted())
		for choice := topology.ChooseLowest; choice <= topology.ChooseHashed; choice++ {
			r := routesOf(t, g, choice)
			for src := range g.Vertices() {
				for to := range g.Vertices() {
					route, err := r.AppendRoute([]int32{99}, src, to)
					if err != nil {
						t.Fatal(err)
					}
					if route[0] != 99 {
						t.Fatal("AppendRoute overwrites what was there")
					}
					at, sum := src, 0.0
					for _, a := range route[1:] {
						arc := g.Arcs()[a]
						if arc.From != at {
							t.Fatalf("route %d->%d jumps from %d to %d", src, to, at, arc.From)
						}
						at, sum = arc.To, sum+arc.Latency
					}
					if want := all.Weight(int64(src), int64(to)); at != to || math.Abs(sum-want) > 1e-9 {
						t.Fatalf("route %d->%d ends at %d with latency %g, want %g", src, to, at, sum, want)
					}
				}
			}
		}
	}
}

// A host whose cable leads to another switch has the routes that it has in the graph with its cable there.
func TestReplugIsRoutesOfTheOtherGraph(t *testing.T) {
	rng := rand.New(rand.NewPCG(7, 8))
	for _, spec := range []string{"tree:2x4", "tree:[3,7,6]", "fattree:4,8;1,4", "torus:3x3 hosts=2", "core:2 socket:2 host:3"} {
		g := graphOf(t, spec)
		for range 5 {
			host := rng.IntN(g.Hosts())
			from, at := g.Out(host)[0].To, g.Out(rng.IntN(g.Hosts()))[0].To
			arcs := slices.Clone(g.Arcs())
			for i, a := range arcs {
				if a.From == host {
					arcs[i].To = at
				}
				if a.To == host {
					arcs[i].From = at
				}
			}
			moved, err := g.WithArcs(arcs)
			if err != nil {
				t.Fatal(err)
			}
			for choice := topology.ChooseLowest; choice <= topology.ChooseHashed; choice++ {
				want, got := routesOf(t, moved, choice), routesOf(t, g, choice).Replug(host, at)
				for src := range g.Hosts() {
					for to := range g.Hosts() {
						there, err := want.AppendRoute(nil, src, to)
						if err != nil {
							t.Fatal(err)
						}
						route, err := got.AppendRoute(nil, src, to)
						if err != nil {
							t.Fatal(err)
						}
						for i, e := range route { // the cable is the same, and has another end
							a := g.Arcs()[e]
							if a.From == host && a.To == from {
								a.To = at
							}
							if a.To == host && a.From == from {
								a.From = at
							}
							if i >= len(there) || moved.ArcIndex(a.From, a.To) != int(there[i]) {
								t.Fatalf("%s: host %d at %d instead of %d: route %d->%d is %v, want %v", spec, host, at, from, src, to, route, there)
							}
						}
						if len(route) != len(there) {
							t.Fatalf("%s: host %d at %d instead of %d: route %d->%d is %v, want %v", spec, host, at, from, src, to, route, there)
						}
					}
				}
			}
		}
	}
}

func TestNoRouteIsAnError(t *testing.T) {
	one := topology.AppendLink(nil, 0, 1, 1, 1)
	g, err := topology.NewGraph(4, 0, nil, append(one, topology.Arc{From: 1, To: 2, Latency: 1, Bandwidth: 1, Probability: 1}))
	if err != nil {
		t.Fatal(err)
	}
	r := routesOf(t, g, topology.ChooseLowest)
	for _, c := range [][2]int{{2, 1}, {0, 3}, {3, 0}, {-1, 0}, {0, 4}} {
		if route, err := r.AppendRoute(nil, c[0], c[1]); err == nil || len(route) != 0 {
			t.Errorf("AppendRoute(%d, %d) = %v, %v, want an error and nothing appended", c[0], c[1], route, err)
		}
	}
	if route, err := r.AppendRoute(nil, 0, 2); err != nil || len(route) != 2 {
		t.Errorf("AppendRoute(0, 2) = %v, %v, want two arcs", route, err)
	}
	if _, err := topology.NewRoutes(g, 7); err == nil {
		t.Error("choice 7: no error")
	}
}

func TestAppendRouteDoesNotAllocateOnceWarm(t *testing.T) {
	for _, spec := range []string{"tree:4x4x4", "torus:4x4x4", "fattree:4"} {
		r := routesOf(t, graphOf(t, spec), topology.ChooseLowest)
		route, _ := r.AppendRoute(nil, 0, 15)
		if n := testing.AllocsPerRun(100, func() { route, _ = r.AppendRoute(route[:0], 0, 15) }); n != 0 {
			t.Errorf("%s: %g allocations per route", spec, n)
		}
	}
}

func BenchmarkAppendRoute(b *testing.B) {
	for _, spec := range []string{"tree:32x32x16", "fattree:32,32,16", "torus:8x8x16", "dragonfly:8,16,8"} {
		b.Run(spec, func(b *testing.B) {
			g := graphOf(b, spec)
			r := routesOf(b, g, topology.ChooseModulo)
			rng := rand.New(rand.NewPCG(1, 1))
			var route []int32
			b.ReportAllocs()
			for b.Loop() {
				src, to := rng.IntN(g.Hosts()), rng.IntN(g.Hosts())
				var err error
				if route, err = r.AppendRoute(route[:0], src, to); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

// The first route to each host of a torus, with links that all differ: the
// most that routes cost.
func BenchmarkFirstRoutes(b *testing.B) {
	g := graphOf(b, "torus:16x16x16 spread=10%")
	for b.Loop() {
		r := routesOf(b, g, topology.ChooseLowest)
		for to := 0; to < g.Hosts(); to += 64 {
			if _, err := r.AppendRoute(nil, 1, to); err != nil {
				b.Fatal(err)
			}
		}
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/64, "ns/table")
}
