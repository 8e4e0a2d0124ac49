package cut_test

import (
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/topocast/topocast/internal/gen"
	"github.com/topocast/topocast/internal/topotest"
	"github.com/topocast/topocast/topology"
	"github.com/topocast/topocast/topology/cut"
)

// cutOf sums the bandwidths, one direction, of the links between the sides.
func cutOf(g *topology.Graph, side []bool) (bandwidth float64, hosts int) {
	for _, a := range g.Arcs() {
		if side[a.From] != side[a.To] {
			bandwidth += a.Bandwidth / 2
		}
	}
	for _, s := range side[:g.Hosts()] {
		if s {
			hosts++
		}
	}
	return bandwidth, hosts
}

func checkCut(t *testing.T, name string, g *topology.Graph, want float64, exact bool) {
	t.Helper()
	c, err := cut.Bisect(g)
	if err != nil {
		t.Fatal(err)
	}
	got, hosts := cutOf(g, c.Side)
	if hosts != g.Hosts()/2 || math.Abs(got-c.Bandwidth) > 1e-9*got {
		t.Errorf("%s: %d hosts on one side, bandwidth %g stated and %g cut", name, hosts, c.Bandwidth, got)
	}
	if math.Abs(got-want) > 1e-9*want || c.Exact != exact {
		t.Errorf("%s: bisection %g B/s, exact %v, want %g, %v", name, got, c.Exact, want, exact)
	}
}

// Known bisections, in links of 1 B/s unless the rate is given.
func TestBisectionOfKnownMachines(t *testing.T) {
	for _, c := range []struct {
		spec  string
		want  float64
		exact bool
	}{
		{"star:8", 4, true},                  // four hosts cut off
		{"tree:2x4x8", 1, true},              // one of the root's two links
		{"tree:3x4 rate=9Bps,1Bps", 6, true}, // six hosts cut off their switches, rather than 9 and two
		{"tree:[2,5,5]", 2, true},            // a rack of five, and one host more
		{"ring:6 hosts=4", 2, true},
		{"ring:30 hosts=2", 2, false},
		{"torus:8x8", 16, false}, // two rings of eight
		{"torus:4x4 hosts=4", 8, true},
		{"torus:4x4x8", 32, false},
		{"torus:8x6x4", 48, false}, // by the order of the Fiedler vector alone
		{"mesh:6x6", 6, false},
		{"fattree:4", 8, true}, // full bisection: 16 hosts
	} {
		spec := c.spec
		if !strings.Contains(spec, "rate=") {
			spec += " rate=1Bps"
		}
		cluster, _ := topotest.Generate(t, spec)
		checkCut(t, c.spec, cluster.Graph, c.want, c.exact)
	}
}

// slowBisection tries all sides of all vertices.
func slowBisection(g *topology.Graph) float64 {
	least := math.Inf(1)
	side := make([]bool, g.Vertices())
	for bits := range 1 << g.Vertices() {
		for v := range side {
			side[v] = bits>>v&1 != 0
		}
		if cut, hosts := cutOf(g, side); hosts == g.Hosts()/2 {
			least = min(least, cut)
		}
	}
	return least
}

func TestBisectionAgreesWithTryingAll(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	for trial := range 200 {
		hosts, switches := 1+rng.IntN(6), rng.IntN(5)
		n := hosts + switches
		var arcs []topology.Arc
		joined := map[[2]int]bool{}
		link := func(u, v int) {
			if key := [2]int{min(u, v), max(u, v)}; u != v && !joined[key] {
				joined[key] = true
				arcs = topology.AppendLink(arcs, u, v, 1, float64(1+rng.IntN(5)))
			}
		}
		order := rng.Perm(n)
		for i := 1; i < n; i++ {
			if trial%10 != 0 || i != n/2 { // some are not connected
				link(order[i], order[rng.IntN(i)])
			}
		}
		if trial%2 == 1 {
			for range rng.IntN(4) {
				link(rng.IntN(n), rng.IntN(n))
			}
		}
		g, err := topology.NewGraph(hosts, switches, nil, arcs)
		if err != nil {
			t.Fatal(err)
		}
		checkCut(t, "random graph", g, slowBisection(g), true)
	}
}

func TestBisectionOfLittle(t *testing.T) {
	g, err := topology.NewGraph(0, 0, nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	if c, err := cut.Bisect(g); err != nil || c.Bandwidth != 0 {
		t.Errorf("no host: %v, %v, want 0 B/s", c, err)
	}
	if c, err := cut.Bisect(topotest.Star(t, 2, 1)); err == nil {
		t.Errorf("unknown bandwidth: %v, want an error", c)
	}
}

func BenchmarkBisection(b *testing.B) {
	for _, spec := range []string{"tree:16x32x32", "torus:8x8x16", "torus:5x4 hosts=32"} {
		c, err := gen.Parse(spec)
		if err != nil {
			b.Fatal(err)
		}
		b.Run(spec, func(b *testing.B) {
			for b.Loop() {
				if _, err := cut.Bisect(c.Graph); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
