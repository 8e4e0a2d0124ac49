package gen

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"gonum.org/v1/gonum/mat"

	"github.com/topocast/topocast/topology"
)

func constant(n int, v float64) *mat.Dense {
	m := mat.NewDense(n, n, nil)
	for i := range n {
		for j := range n {
			if i != j {
				m.Set(i, j, v)
			}
		}
	}
	return m
}

// ratios are the measurements over the truth, ascending.
func ratios(t *testing.T, noise Noise, n int) []float64 {
	t.Helper()
	m, err := noise.Apply(rand.New(rand.NewPCG(1, 1)), constant(n, 10))
	if err != nil {
		t.Fatal(err)
	}
	var r []float64
	for i := range n {
		for j := range i {
			if m.At(i, j) != m.At(j, i) {
				t.Fatalf("measurements (%d,%d) and back differ", i, j)
			}
			r = append(r, m.At(i, j)/10)
		}
	}
	slices.Sort(r)
	return r
}

func TestNoiseHasTheStatedSize(t *testing.T) {
	r := ratios(t, Noise{Sigma: 0.03}, 200)
	// 19,900 measurements: the quartiles of N(1, 0.03) lie at 1 -+ 0.6745*0.03,
	// the standard error of a quartile is 0.0003.
	for q, want := range map[float64]float64{0.25: 1 - 0.020235, 0.5: 1, 0.75: 1.020235} {
		if got := r[int(q*float64(len(r)))]; math.Abs(got-want) > 0.0015 {
			t.Errorf("quantile %g of sigma 0.03 is %g, want %g", q, got, want)
		}
	}

	r = ratios(t, Noise{Outliers: 0.02}, 200)
	k, _ := slices.BinarySearch(r, 1.0000001)
	if share := 1 - float64(k)/float64(len(r)); math.Abs(share-0.02) > 0.004 {
		t.Errorf("share of outliers %g, want 0.02", share)
	}
	if r[0] != 1 || r[k] < 1.5 || r[len(r)-1] > 10 {
		t.Errorf("outliers from %g to %g, want within 1.5 to 10; smallest %g, want 1", r[k], r[len(r)-1], r[0])
	}

	r = ratios(t, Noise{Spread: 0.3}, 100)
	if r[0] < 0.7 || r[len(r)-1] > 1.3 || r[0] > 0.75 || r[len(r)-1] < 1.25 {
		t.Errorf("spread 0.3: measurements from %g to %g, want nearly 0.7 to 1.3", r[0], r[len(r)-1])
	}
}

func TestNoiseRefusesBadSettingsAndKeepsGaps(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 1))
	for _, n := range []Noise{
		{Sigma: -1},
		{Sigma: math.NaN()},
		{Outliers: 2},
		{Spread: 1.5},
	} {
		if _, err := n.Apply(rng, constant(3, 1)); err == nil {
			t.Errorf("%+v: no error", n)
		}
	}
	if _, err := (Noise{}).Apply(rng, mat.NewDense(2, 3, nil)); err == nil {
		t.Error("2 x 3 matrix: no error")
	}
	m := constant(3, 1)
	m.Set(0, 1, math.NaN())
	got, err := Noise{Sigma: 0.1, Spread: 0.1}.Apply(rng, m)
	if err != nil || !math.IsNaN(got.At(0, 1)) || math.IsNaN(got.At(1, 0)) || got.At(2, 2) != 0 {
		t.Errorf("Apply = %v, %v, want NaN at (0,1) only and 0 on the diagonal", mat.Formatted(got), err)
	}
}

// TestLatenciesAreThoseOfRoutes: each is the sum over the links of the route, and the same back to the last digit.
func TestLatenciesAreThoseOfRoutes(t *testing.T) {
	for _, spec := range []string{"fattree:4 spread=20% routing=ecmp seed=1", "torus:3x4 spread=20% seed=2", "tree:[2,3]x2 spread=10%"} {
		c, err := Parse(spec)
		if err != nil {
			t.Fatal(err)
		}
		d, err := c.Latencies()
		if err != nil {
			t.Fatal(err)
		}
		routes, err := topology.NewRoutes(c.Graph, c.Choice)
		if err != nil {
			t.Fatal(err)
		}
		n := c.Graph.Hosts()
		for i := range n {
			for j := range n {
				want := 0.0
				if i != j {
					route, err := routes.AppendRoute(nil, i, j)
					if err != nil {
						t.Fatal(err)
					}
					for _, a := range route {
						want += c.Graph.Arcs()[a].Latency
					}
				}
				if got := d.At(i, j); math.Abs(got-want) > 1e-12*want {
					t.Errorf("%s: from %d to %d: %g, want %g", spec, i, j, got, want)
				}
				if there, back := d.At(i, j), d.At(j, i); there != back {
					t.Errorf("%s: %g from %d to %d and %g back: want the same", spec, there, i, j, back)
				}
			}
		}
	}
}

// TestLatenciesOfOneWay: a link that is slower one way alone is so in one direction of the matrix.
func TestLatenciesOfOneWay(t *testing.T) {
	arcs := topology.AppendLink(topology.AppendLink(nil, 0, 2, 1e-6, 1e9), 1, 2, 2e-6, 1e9)
	for i := range arcs {
		if arcs[i].From == 0 {
			arcs[i].Latency = 5e-6
		}
	}
	g, err := topology.NewGraph(2, 1, nil, arcs)
	if err != nil {
		t.Fatal(err)
	}
	d, err := (&Cluster{Graph: g}).Latencies()
	if err != nil {
		t.Fatal(err)
	}
	if there, back := d.At(0, 1), d.At(1, 0); math.Abs(there-7e-6) > 1e-18 || math.Abs(back-3e-6) > 1e-18 {
		t.Errorf("%g there and %g back, want 7e-06 and 3e-06", there, back)
	}
}
