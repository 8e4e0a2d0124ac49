package latencyfit_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/topocast/topocast/internal/gen"
	"github.com/topocast/topocast/internal/published"
	"github.com/topocast/topocast/internal/topotest"
	"github.com/topocast/topocast/topology"
	"github.com/topocast/topocast/topology/clique"
	"github.com/topocast/topocast/topology/latencyfit"
	"gonum.org/v1/gonum/mat"
)

// relinked returns the graph with other latencies on its arcs.
func relinked(t testing.TB, g *topology.Graph, latency func(a topology.Arc) float64) *topology.Graph {
	t.Helper()
	var arcs []topology.Arc
	for _, a := range g.Arcs() {
		a.Latency = latency(a)
		arcs = append(arcs, a)
	}
	out, err := topology.NewGraph(g.Hosts(), g.Vertices()-g.Hosts(), nil, arcs)
	if err != nil {
		t.Fatal(err)
	}
	return out
}

func fitLatencies(t testing.TB, g *topology.Graph, d mat.Matrix, s *latencyfit.Settings) *latencyfit.Result {
	t.Helper()
	f, err := latencyfit.Latencies(g, nil, d, s)
	if err != nil {
		t.Fatal(err)
	}
	return f
}

// worst is the greatest relative difference between the latencies of two graphs.
func worst(a, b *topology.Graph) float64 {
	w := 0.0
	for i, x := range a.Arcs() {
		y := b.Arcs()[i]
		w = max(w, math.Abs(x.Latency-y.Latency)/y.Latency)
	}
	return w
}

func TestLatenciesAreExactWithoutNoise(t *testing.T) {
	nan := math.NaN()
	for _, spec := range []string{
		"star:3 spread=50%", "tree:2x3x4 latency=4us,2us,1us spread=20%", "tree:[3,5,2]x4 spread=30% seed=4",
		"ring:5 hosts=3 spread=20%", "torus:3x4 hosts=2 spread=30% seed=2", "torus:5x5 spread=10%", "mesh:3x3x3 spread=20%",
	} {
		c, d := topotest.Generate(t, spec)
		n := c.Graph.Hosts()
		truth := c.Graph
		if spec[:8] == "tree:2x3" { // a root of two children: one link in truth
			d.Set(0, 1, nan)
			d.Set(1, 0, nan)
		}
		for _, known := range []bool{true, false} {
			start := relinked(t, truth, func(a topology.Arc) float64 {
				if known {
					return a.Latency * 1.01
				}
				return nan
			})
			f := fitLatencies(t, start, d, nil)
			got := worst(f.Graph, truth)
			if len(f.Undetermined) > 0 {
				got = 0
				for _, a := range f.Graph.Arcs() {
					b := truth.Arcs()[truth.ArcIndex(a.From, a.To)]
					if a.From < n || a.To < n {
						got = max(got, math.Abs(a.Latency-b.Latency)/b.Latency)
					}
				}
			}
			if got > 1e-6 || f.Fit.R2 < 1-1e-6 {
				t.Errorf("%s, start known %v: latencies differ by up to %g, R2 %g; undetermined %v, used %d, ambiguous %d",
					spec, known, got, f.Fit.R2, f.Undetermined, f.Used, f.Ambiguous)
			}
		}
	}
}

// Reference: Bufe 2014, section 2.4, figure 2.22 and equation 2.4: three nodes
// on a switch. By hand: with measurements 3, 5 and 6 the links are 1, 2 and 4.
func TestLatenciesOfThreeNodes(t *testing.T) {
	d := mat.NewDense(3, 3, []float64{0, 3, 5, 3, 0, 6, 5, 6, 0})
	f := fitLatencies(t, topotest.Star(t, 3, math.NaN()), d, nil)
	for h, want := range []float64{1, 2, 4} {
		if got := f.Graph.Out(h)[0].Latency; math.Abs(got-want) > 1e-6 {
			t.Errorf("link of host %d = %g, want %g", h, got, want)
		}
	}
}

// Reference: Bufe 2014, equation 2.7: a star measured on a ring of pairs has no
// unique solution if the ring is even. A chord that closes an odd ring gives one.
func TestLatenciesSayWhatIsUndetermined(t *testing.T) {
	ring := func(n int, chords ...[2]int) *mat.Dense {
		d := mat.NewDense(n, n, nil)
		for i := range n {
			for j := range n {
				d.Set(i, j, math.NaN())
			}
		}
		for i := range n {
			chords = append(chords, [2]int{i, (i + 1) % n})
		}
		for _, c := range chords {
			d.Set(c[0], c[1], 2)
			d.Set(c[1], c[0], 2)
		}
		return d
	}
	for _, c := range []struct {
		name string
		g    *topology.Graph
		d    mat.Matrix
		open int // arcs
	}{
		{"an even ring of pairs", topotest.Star(t, 4, 1), ring(4), 8},
		{"an odd ring of pairs", topotest.Star(t, 5, 1), ring(5), 0},
		{"an even ring with a chord", topotest.Star(t, 6, 1), ring(6, [2]int{0, 2}), 0},
		{"two hosts on a switch", topotest.Star(t, 2, 1), mat.NewDense(2, 2, []float64{0, 2, 2, 0}), 4},
	} {
		f := fitLatencies(t, c.g, c.d, nil)
		if len(f.Undetermined) != c.open {
			t.Errorf("%s: undetermined arcs %v, want %d", c.name, f.Undetermined, c.open)
		}
		if f.Fit.Residual > 1e-9 {
			t.Errorf("%s: residual %g: want 0, as the measurements can be explained", c.name, f.Fit.Residual)
		}
	}

	// A chain of three switches, the middle one without hosts: its two links
	// are one to the measurements.
	_, d := topotest.Generate(t, "tree:2x3 latency=1us")
	c, err := gen.Parse("tree:2x3 latency=1us")
	if err != nil {
		t.Fatal(err)
	}
	f := fitLatencies(t, c.Graph, d, nil)
	for _, i := range f.Undetermined {
		if a := f.Graph.Arcs()[i]; a.From < 6 || a.To < 6 {
			t.Errorf("link %d-%d of a host is undetermined", a.From, a.To)
		}
	}
	if len(f.Undetermined) != 4 || len(f.Warnings) != 1 {
		t.Errorf("undetermined arcs %v, warnings %q, want the four around the root and one warning", f.Undetermined, f.Warnings)
	}
}

func TestLatenciesWithNoise(t *testing.T) {
	for _, spec := range []string{"tree:3x4x8 latency=4us,2us,1us spread=10%", "torus:4x4 hosts=4 latency=2us,1us spread=10%"} {
		c, d := topotest.Generate(t, spec)
		rng := rand.New(rand.NewPCG(1, 5))
		m, err := gen.Noise{Sigma: 0.03, Outliers: 0.02}.Apply(rng, d)
		if err != nil {
			t.Fatal(err)
		}
		meanError := func(g *topology.Graph) float64 {
			cluster := *c
			cluster.Graph = g
			fitted, err := cluster.Latencies()
			if err != nil {
				t.Fatal(err)
			}
			n := g.Hosts()
			sum := 0.0
			for i := range n {
				for j := range n {
					if i != j {
						sum += math.Abs(fitted.At(i, j)-d.At(i, j)) / d.At(i, j)
					}
				}
			}
			return sum / float64(n*(n-1))
		}
		huber := meanError(fitLatencies(t, c.Graph, m, nil).Graph)
		plain := meanError(fitLatencies(t, c.Graph, m, &latencyfit.Settings{Plain: true}).Graph)
		if huber > 0.01 || plain < 3*huber {
			t.Errorf("%s: mean error %.4f by Huber's loss, %.4f by least squares: want below 0.01, and much more", spec, huber, plain)
		}
	}
}

// By hand: links of 1, measurements raised by 1000 bytes over a path of two links
// of 100 and 200 B/s: 10 s cut-through, 15 s stored and forwarded.
func TestLatenciesAreCorrectedForThroughput(t *testing.T) {
	rates := []float64{100, 200, 200, 200}
	var arcs []topology.Arc
	for h, r := range rates {
		arcs = topology.AppendLink(arcs, h, 4, math.NaN(), r)
	}
	g, err := topology.NewGraph(4, 1, nil, arcs)
	if err != nil {
		t.Fatal(err)
	}
	for _, forward := range []bool{false, true} {
		d := mat.NewDense(4, 4, nil)
		for i := range 4 {
			for j := range 4 {
				if i != j {
					cost := 1000 / min(rates[i], rates[j])
					if forward {
						cost = 1000/rates[i] + 1000/rates[j]
					}
					d.Set(i, j, 2+cost)
				}
			}
		}
		f := fitLatencies(t, g, d, &latencyfit.Settings{Bytes: 1000, StoreAndForward: forward})
		for _, a := range f.Graph.Arcs() {
			if math.Abs(a.Latency-1) > 1e-5 {
				t.Errorf("store and forward %v: link %d-%d = %g, want 1", forward, a.From, a.To, a.Latency)
			}
		}
	}
}

// By hand: measurements 1, 1 and 10 want a link of -4; held at 0 it leaves 2b+c = 11
// and b+2c = 11.
func TestLatenciesAreNeverNegative(t *testing.T) {
	d := mat.NewDense(3, 3, []float64{0, 1, 1, 1, 0, 10, 1, 10, 0})
	f := fitLatencies(t, topotest.Star(t, 3, 1), d, &latencyfit.Settings{Plain: true})
	for h, want := range []float64{0, 11. / 3, 11. / 3} {
		if got := f.Graph.Out(h)[0].Latency; math.Abs(got-want) > 1e-9 {
			t.Errorf("link of host %d = %g, want %g", h, got, want)
		}
	}
	if len(f.Warnings) != 1 {
		t.Errorf("warnings %q, want one on the link without latency", f.Warnings)
	}
}

// Reference: Bufe 2014, table 3.6, with the graph of figure 3.1.
func TestLatenciesOfTable36(t *testing.T) {
	d := published.Table("3.6")
	r := topotest.Reconstruct(t, &clique.Switches{Epsilon: 0.1}, d)
	f, err := latencyfit.Latencies(r.Graph, r.Hierarchy, d, nil)
	if err != nil {
		t.Fatal(err)
	}
	if f.Fit.R2 < r.Fit.R2 || len(f.Fit.Levels) != 2 || f.Fit.Levels[0] > 0.02 || len(f.Undetermined) > 0 {
		t.Errorf("R2 %g after %g, levels %v, undetermined %v", f.Fit.R2, r.Fit.R2, f.Fit.Levels, f.Undetermined)
	}
}

func TestLatenciesRefuses(t *testing.T) {
	g, d := topotest.Star(t, 3, 1), mat.NewDense(3, 3, nil)
	none := mat.NewDense(3, 3, []float64{0, math.NaN(), math.NaN(), math.NaN(), 0, math.NaN(), math.NaN(), math.NaN(), 0})
	h, err := topology.NewHierarchy(2, nil, nil, 0)
	if err != nil {
		t.Fatal(err)
	}
	for name, call := range map[string]func() (*latencyfit.Result, error){
		"another number of hosts": func() (*latencyfit.Result, error) {
			return latencyfit.Latencies(g, nil, mat.NewDense(2, 2, nil), nil)
		},
		"another hierarchy": func() (*latencyfit.Result, error) { return latencyfit.Latencies(g, h, d, nil) },
		"nothing measured":  func() (*latencyfit.Result, error) { return latencyfit.Latencies(g, nil, none, nil) },
		"Bytes below 0": func() (*latencyfit.Result, error) {
			return latencyfit.Latencies(g, nil, d, &latencyfit.Settings{Bytes: -1})
		},
		"Bytes that are not a number": func() (*latencyfit.Result, error) {
			return latencyfit.Latencies(g, nil, d, &latencyfit.Settings{Bytes: math.NaN()})
		},
		"a matrix of one line": func() (*latencyfit.Result, error) {
			return latencyfit.Latencies(g, nil, mat.NewDense(1, 3, nil), nil)
		},
	} {
		if f, err := call(); err == nil {
			t.Errorf("%s: %v, want an error", name, f)
		}
	}
}

func BenchmarkLatencies(b *testing.B) {
	for _, spec := range []string{"tree:4x16x16 latency=4us,2us,1us", "torus:4x4x4 hosts=8 latency=2us,1us"} {
		c, d := topotest.Generate(b, spec)
		m, err := gen.Noise{Sigma: 0.03, Outliers: 0.02}.Apply(rand.New(rand.NewPCG(1, 5)), d)
		if err != nil {
			b.Fatal(err)
		}
		b.Run(fmt.Sprintf("%dhosts", c.Graph.Hosts()), func(b *testing.B) {
			for b.Loop() {
				fitLatencies(b, c.Graph, m, nil)
			}
		})
	}
}

// A ring whose links lead one way, and a line with a link that does: nothing is a tree of links there, and nothing breaks.
func TestFitLatenciesOfOneWayLinks(t *testing.T) {
	arc := func(u, v int) topology.Arc {
		return topology.Arc{From: u, To: v, Latency: 1, Bandwidth: math.NaN(), Probability: 1}
	}
	for _, arcs := range [][]topology.Arc{{arc(0, 1), arc(1, 2), arc(2, 0)}, {arc(0, 1), arc(1, 2), arc(2, 1)}} {
		g, err := topology.NewGraph(3, 0, nil, arcs)
		if err != nil {
			t.Fatal(err)
		}
		d := g.HostDistances()
		for i, v := range d {
			if math.IsInf(v, 1) {
				d[i] = math.NaN()
			}
		}
		r, err := latencyfit.Latencies(g, nil, mat.NewDense(3, 3, d), nil)
		if err != nil {
			t.Fatal(err)
		}
		for _, a := range r.Graph.Arcs() {
			if math.Abs(a.Latency-1) > 1e-6 {
				t.Errorf("link %d->%d is %g long, want 1", a.From, a.To, a.Latency)
			}
		}
	}
}
