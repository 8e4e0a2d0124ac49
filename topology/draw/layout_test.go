package draw_test

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"gonum.org/v1/gonum/spatial/r3"

	"github.com/topocast/topocast/internal/tooltest"
	"github.com/topocast/topocast/internal/topotest"
	"github.com/topocast/topocast/topology"
	"github.com/topocast/topocast/topology/draw"
)

func layout(t *testing.T, g *topology.Graph) []r3.Vec {
	t.Helper()
	return checked(t, g, draw.Layout(g))
}

// checked are positions of the graph's vertices, one of each and finite.
func checked(t *testing.T, g *topology.Graph, at []r3.Vec) []r3.Vec {
	t.Helper()
	if len(at) != g.Vertices() {
		t.Fatalf("Layout has %d positions of %d vertices", len(at), g.Vertices())
	}
	for v, x := range at {
		if r := r3.Norm(x); math.IsNaN(r) || math.IsInf(r, 0) {
			t.Fatalf("vertex %d at %v", v, x)
		}
	}
	return at
}

func machine(t *testing.T, spec string) *topology.Graph {
	c, _ := topotest.Generate(t, spec)
	return c.Graph
}

func apart(a, b r3.Vec) float64 { return r3.Norm(r3.Sub(a, b)) }

// hops are the lengths of the shortest ways of a graph whose links are all alike, by Floyd and Warshall.
func hops(g *topology.Graph) [][]float64 {
	n := g.Vertices()
	d := make([][]float64, n)
	for i := range d {
		d[i] = make([]float64, n)
		for j := range d[i] {
			d[i][j] = math.Inf(1)
		}
		d[i][i] = 0
	}
	for _, a := range g.Arcs() {
		d[a.From][a.To] = 1
	}
	for k := range n {
		for i := range n {
			for j := range n {
				d[i][j] = min(d[i][j], d[i][k]+d[k][j])
			}
		}
	}
	return d
}

// stress is the mean over pairs of ((r-d)/d)^2.
func stress(d [][]float64, at []r3.Vec) float64 {
	var sum, pairs float64
	for i := range at {
		for j := range i {
			off := (apart(at[i], at[j]) - d[i][j]) / d[i][j]
			sum += off * off
			pairs++
		}
	}
	return sum / pairs
}

// majorised is the least stress that majorisation (SMACOF, de Leeuw 1977) reaches from random starts: each step solves for
// the positions that the present directions ask for, one vertex at a time.
func majorised(d [][]float64, starts int) float64 {
	n := len(d)
	best := math.Inf(1)
	rng := rand.New(rand.NewPCG(5, 6))
	for range starts {
		at := make([]r3.Vec, n)
		for i := range at {
			at[i] = r3.Vec{X: 4 * rng.NormFloat64(), Y: 4 * rng.NormFloat64(), Z: 4 * rng.NormFloat64()}
		}
		for range 300 {
			for i := range at {
				var sum r3.Vec
				var weights float64
				for j := range at {
					if j == i {
						continue
					}
					w, r := 1/(d[i][j]*d[i][j]), apart(at[i], at[j])
					weights += w
					sum = r3.Add(sum, r3.Scale(w, r3.Add(at[j], r3.Scale(d[i][j]/r, r3.Sub(at[i], at[j])))))
				}
				at[i] = r3.Scale(1/weights, sum)
			}
		}
		best = min(best, stress(d, at))
	}
	return best
}

// A path fits into a line without stress.
func TestAPathIsAStraightLine(t *testing.T) {
	g := machine(t, "line:9")
	at := layout(t, g)
	for i := range 9 {
		for j := range i {
			if r, want := apart(at[i], at[j]), float64(i-j); math.Abs(r-want) > 0.02*want {
				t.Errorf("hosts %d and %d are %.3f apart, want %g", j, i, r, want)
			}
		}
	}
}

// The best regular polygon has the radius R that minimises the sum over k of
// (2 R sin(pi k/n) - k)^2 / k^2, k the hops on the shorter side: R = sum(s/k) / sum(s^2/k^2) with s =
// 2 sin(pi k/n). In space a ring may do better by folding; worse than the polygon it must not be.
func TestARingIsAtLeastAsGoodAsThePolygon(t *testing.T) {
	for _, n := range []int{5, 12, 40} {
		var over, under float64
		for j := 1; j < n; j++ {
			k := float64(min(j, n-j))
			s := 2 * math.Sin(math.Pi*k/float64(n))
			over, under = over+s/k, under+s*s/(k*k)
		}
		radius := over / under
		polygon := 0.0
		for j := 1; j < n; j++ {
			k := float64(min(j, n-j))
			off := (2*radius*math.Sin(math.Pi*k/float64(n)) - k) / k
			polygon += off * off / float64(n-1)
		}
		var arcs []topology.Arc
		for i := range n {
			arcs = topology.AppendLink(arcs, i, (i+1)%n, 1e-6, math.NaN())
		}
		g, err := topology.NewGraph(n, 0, nil, arcs)
		if err != nil {
			t.Fatal(err)
		}
		at := layout(t, g)
		if got := stress(hops(g), at); got > 1.005*polygon {
			t.Errorf("ring of %d: stress %.5f, of the regular polygon %.5f", n, got, polygon)
		}
		least, most := math.Inf(1), 0.0
		for _, x := range at {
			r := apart(x, r3.Vec{})
			least, most = min(least, r), max(most, r)
		}
		if n > 5 && most > 1.1*least { // five fold like an envelope
			t.Errorf("ring of %d: hosts are %.3f to %.3f from the middle: want it to look round", n, least, most)
		}
	}
}

// Without repulsion the stress is that of an independent, slower way to minimise it.
func TestStressIsThatOfMajorisation(t *testing.T) {
	for _, spec := range []string{"mesh:4x4x3", "torus:5x5", "ring:4 hosts=4 latency=1us", "dragonfly:2,4,2 latency=1us"} {
		g := machine(t, spec)
		d := hops(g)
		if got, best := stress(d, checked(t, g, draw.LayoutWith(g, 10, 1e-9))), majorised(d, 3); got > 1.02*best {
			t.Errorf("%s: stress %.5f, majorisation %.5f", spec, got, best)
		}
	}
}

// Above 1200 vertices pivots stand for the rest. A grid of 36 x 36 must be as good as the flat grid
// whose links are all as long as fits best: r = s * Euclid, d = Manhattan; s = sum(e/d)/sum(e^2/d^2).
func TestALargeGridUnfolds(t *testing.T) {
	if !tooltest.Long() {
		t.Skip("long: over a thousand hosts")
	}
	const side = 36
	g := machine(t, "mesh:36x36")
	at := layout(t, g)
	var over, under, pairs, got, flat float64
	euclid := func(i, j int) (e, d float64) {
		x, y := math.Abs(float64(i%side-j%side)), math.Abs(float64(i/side-j/side))
		return math.Hypot(x, y), x + y
	}
	for pass := range 2 {
		for i := range at {
			for j := range i {
				e, d := euclid(i, j)
				if pass == 0 {
					over, under, pairs = over+e/d, under+e*e/(d*d), pairs+1
					got += (apart(at[i], at[j]) - d) * (apart(at[i], at[j]) - d) / (d * d)
				} else {
					flat += (e*over/under - d) * (e*over/under - d) / (d * d)
				}
			}
		}
	}
	if got > flat {
		t.Errorf("stress %.5f, of the flat grid %.5f", got/pairs, flat/pairs)
	}
}

// TestTreesAreTidy: a tree is drawn in a plane as Wetherell and Shannon 1979 and Reingold and Tilford 1981 ask for: hosts below
// their switch, nobody nearer to another than 1, parents in the middle above their children, no subtree over another one.
func TestTreesAreTidy(t *testing.T) {
	for _, spec := range []string{"star:7", "tree:4x5", "tree:2x3x40", "tree:[2,5,15]x8"} {
		g := machine(t, spec)
		at := layout(t, g)
		least := math.Inf(1)
		left, right := map[int]float64{}, map[int]float64{} // of the hosts of a switch
		for i := range g.Vertices() {
			for j := range i {
				least = min(least, apart(at[i], at[j]))
			}
			if at[i].Y != 0 {
				t.Errorf("%s: vertex %d is not in the plane", spec, i)
			}
			if i >= g.Hosts() {
				continue
			}
			up := g.Out(i)[0].To
			if at[up].Z <= at[i].Z {
				t.Errorf("%s: host %d is not below its switch", spec, i)
			}
			if _, known := left[up]; !known {
				left[up], right[up] = at[i].X, at[i].X
			}
			left[up], right[up] = min(left[up], at[i].X), max(right[up], at[i].X)
		}
		if least < 0.99 {
			t.Errorf("%s: two vertices are %.3f apart, want 1", spec, least)
		}
		for s := range left {
			if middle := (left[s] + right[s]) / 2; math.Abs(middle-at[s].X) > 0.5 {
				t.Errorf("%s: switch %d is at %g, the middle of its hosts at %g", spec, s, at[s].X, middle)
			}
			for other := range left {
				if s != other && left[s] < right[other] && left[other] < right[s] {
					t.Errorf("%s: the hosts of switches %d and %d stand among each other", spec, s, other)
				}
			}
		}
	}
}

// Bannikov and Salnikov's second term: the stronger, the further apart are hosts that crowd about one switch.
func TestRepulsionKeepsHostsApart(t *testing.T) {
	g := machine(t, "ring:3 hosts=60")
	closest := func(gamma float64) float64 {
		at := checked(t, g, draw.LayoutWith(g, 10, gamma))
		sum := 0.0
		for i := range 60 {
			least := math.Inf(1)
			for j := range 60 {
				if i != j {
					least = min(least, apart(at[i], at[j]))
				}
			}
			sum += least
		}
		return sum / 60
	}
	if uncertain, strong := closest(1e-9), closest(1); !(strong > 1.2*uncertain) {
		t.Errorf("nearest neighbours are %.3f apart with gamma 1, %.3f without", strong, uncertain)
	}
}

// Latencies that differ by 1,000 times are drawn as the tenth part of one another, by default, and as they are if asked for.
func TestRangeOfLengths(t *testing.T) {
	arcs := topology.AppendLink(nil, 0, 1, 1e-7, math.NaN())
	arcs = topology.AppendLink(arcs, 1, 2, 1e-4, math.NaN())
	g, err := topology.NewGraph(3, 0, nil, arcs)
	if err != nil {
		t.Fatal(err)
	}
	for asked, want := range map[float64]float64{10: 10, 100: 100, 1e6: 1000} {
		at := draw.LayoutWith(g, asked, 0.5)
		if usual := draw.Layout(g); asked == 10 && !slices.Equal(at, usual) {
			t.Errorf("positions %v by default, want %v", usual, at)
		}
		if got := apart(at[1], at[2]) / apart(at[0], at[1]); math.Abs(got-want) > 0.05*want {
			t.Errorf("Range %g: the longer link is %.3f times as long, want %g", asked, got, want)
		}
	}
}

// What is odd has finite positions, its parts do not overlap, and the same on every run.
func TestOddGraphs(t *testing.T) {
	nan := math.NaN()
	graph := func(hosts, switches int, arcs ...topology.Arc) *topology.Graph {
		g, err := topology.NewGraph(hosts, switches, nil, arcs)
		if err != nil {
			t.Fatal(err)
		}
		return g
	}
	link := func(u, v int, latency float64) []topology.Arc { return topology.AppendLink(nil, u, v, latency, nan) }
	ring := func(latency ...float64) (arcs []topology.Arc) {
		for i, l := range latency {
			arcs = topology.AppendLink(arcs, i, (i+1)%len(latency), l, nan)
		}
		return arcs
	}
	for name, g := range map[string]*topology.Graph{
		"nothing":               graph(0, 0),
		"one host":              graph(1, 0),
		"a switch alone":        graph(0, 1),
		"many alone":            graph(40, 3),
		"a host and its switch": graph(1, 1, link(0, 1, 1e-6)...),
		"one direction only":    graph(3, 0, topology.Arc{From: 0, To: 1, Latency: 1e-6, Bandwidth: nan, Probability: 0.5}, topology.Arc{From: 2, To: 1, Latency: 2e-6, Bandwidth: nan, Probability: 1}),
		"latencies of 0":        graph(4, 0, ring(0, 0, 0, 0)...),
		"no latency known":      graph(4, 0, ring(nan, nan, nan, nan)...),
		"some known":            graph(4, 0, ring(0, nan, 1e-6, 1e3)...),
		"two parts":             graph(6, 0, append(ring(1e-6, 1e-6, 1e-6), link(3, 4, 1e-6)...)...),
		"two switches":          machine(t, "tree:2x3"),
	} {
		t.Run(name, func(t *testing.T) {
			at := layout(t, g)
			again := layout(t, g)
			parts := g.Parts()
			for i := range at {
				if at[i] != again[i] {
					t.Errorf("vertex %d at %v, and then at %v", i, at[i], again[i])
				}
				for j := range i {
					if r := apart(at[i], at[j]); r < 0.5 || parts[i] != parts[j] && r < 1 {
						t.Errorf("vertices %d and %d are %.3f apart", i, j, r)
					}
				}
			}
		})
	}
}

// TestFatTreesStandInTiers: each switch is as high as it is away from the hosts, links lead from tier to tier, nobody is nearer to
// another than 1, and the hosts of a switch stand together. Two switches of one rack, and hosts with a link to each, are
// tiers, too. Rings, meshes and dragonflies are none.
func TestFatTreesStandInTiers(t *testing.T) {
	var dual []topology.Arc
	for h := range 6 {
		for s := range 2 {
			dual = topology.AppendLink(dual, h, 6+2*(h/3)+s, 1e-6, math.NaN())
		}
	}
	for leaf := 6; leaf < 10; leaf++ {
		dual = topology.AppendLink(dual, leaf, 10, 1e-6, math.NaN())
	}
	rails, err := topology.NewGraph(6, 5, nil, dual)
	if err != nil {
		t.Fatal(err)
	}
	graphs := map[string]*topology.Graph{"rails": rails}
	for _, spec := range []string{"fattree:4", "fattree:6", "fattree:8,8;1,4", "fattree:4,4,4;1,2,2", "fattree:2,2;2,5"} {
		graphs[spec] = machine(t, spec)
	}
	for name, g := range graphs {
		at := layout(t, g)
		d := hops(g)
		height := map[float64]float64{} // of tiers
		for v := range at {
			if at[v].Y != 0 {
				t.Fatalf("%s: vertex %d is not in the plane", name, v)
			}
			for other := range v {
				if apart(at[v], at[other]) < 0.99 {
					t.Errorf("%s: vertices %d and %d are %.3f apart", name, v, other, apart(at[v], at[other]))
				}
			}
			if !g.IsSwitch(v) {
				continue
			}
			tier := slices.Min(d[v][:g.Hosts()])
			if z, known := height[tier]; known && z != at[v].Z || !known && tier > 1 && at[v].Z <= height[tier-1] {
				t.Errorf("%s: switch %d, %g links above the hosts, is at %g", name, v, tier, at[v].Z)
			}
			height[tier] = at[v].Z
		}
	}
	for _, spec := range []string{"ring:6 hosts=4", "mesh:3x3 hosts=2", "torus:4x4 hosts=2", "dragonfly:2,4,2"} {
		if at := layout(t, machine(t, spec)); !slices.ContainsFunc(at, func(x r3.Vec) bool { return x.Y != 0 }) {
			t.Errorf("%s is flat", spec)
		}
	}
}
