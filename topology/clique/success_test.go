package clique_test

import (
	"math"
	"math/rand/v2"
	"testing"

	"gonum.org/v1/gonum/mat"

	"github.com/topocast/topocast/internal/gen"
	"github.com/topocast/topocast/internal/topotest"
	"github.com/topocast/topocast/topology/clique"
)

// TestPrecisionOfNormalNoise: with a spread of 3 %, a measurement is within 6 % of the median with the
// probability that a normal value is within two sigmas, 95.4 %; so all 66 pairs of 12 hosts are in 4.6 % of runs.
func TestPrecisionOfNormalNoise(t *testing.T) {
	_, d := topotest.Generate(t, "star:12 latency=1us")
	rng := rand.New(rand.NewPCG(1, 2))
	var repetitions []mat.Matrix
	for range 40 {
		m, err := gen.Noise{Sigma: 0.03}.Apply(rng, d)
		if err != nil {
			t.Fatal(err)
		}
		repetitions = append(repetitions, m)
	}
	p, of, err := (&clique.Switches{Epsilon: 0.06}).Precision(repetitions...)
	if err != nil {
		t.Fatal(err)
	}
	if want := math.Erf(2 / math.Sqrt2); math.Abs(p-want) > 0.01 || of < 40*66 || of > 40*132 {
		t.Errorf("Precision() = %.4f of %d measurements, want %.4f of %d to %d", p, of, want, 40*66, 40*132)
	}
}

// TestPrecisionOfLittle: one repetition says nothing, whether its triangles are alike or not; of two, the pairs
// that one of them lacks do not count.
func TestPrecisionOfLittle(t *testing.T) {
	nan := math.NaN()
	one := mat.NewDense(3, 3, []float64{nan, 1, 1, 1, nan, 1, 1, 3, nan})
	p, of, err := (&clique.Switches{}).Precision(one)
	if err != nil || of != 0 || !math.IsNaN(p) {
		t.Errorf("of one repetition: %g of %d, %v: want NaN of 0", p, of, err)
	}
	// Pair 0-1: 1, 1. Pair 1-2: not in the second. Pair 0-2: 1, 1.3, whose median is 1.15: 14 % off.
	two := mat.NewDense(3, 3, []float64{nan, 1, 1.3, 1, nan, nan, 1.3, nan, nan})
	if p, of, err := (&clique.Switches{}).Precision(one, two); err != nil || of != 4 || p != 0.5 {
		t.Errorf("of two repetitions: %g of %d, %v: want 0.5 of 4", p, of, err)
	}
	if _, _, err := (&clique.Switches{Epsilon: 2}).Precision(one); err == nil {
		t.Error("Epsilon 2: no error")
	}
	if _, _, err := (&clique.Switches{}).Precision(one, mat.NewDense(2, 2, nil)); err == nil {
		t.Error("matrices of two sizes: no error")
	}
}

// NeededPrecision is the inverse of SuccessProbability, as in the first row of table 3.10 of Bufe 2014.
func TestNeededPrecision(t *testing.T) {
	for _, n := range []int{2, 12, 32, 128} {
		for _, p := range []float64{0, 0.5, 0.99, 1} {
			if got := clique.NeededPrecision(clique.SuccessProbability(p, n), n); math.Abs(got-p) > 1e-9 && clique.SuccessProbability(p, n) > 0 {
				t.Errorf("NeededPrecision(SuccessProbability(%g, %d)) = %g", p, n, got)
			}
		}
	}
	if got := clique.NeededPrecision(0.515, 12); math.Abs(got-0.99) > 1e-4 {
		t.Errorf("NeededPrecision(0.515, 12) = %g, want 0.99", got)
	}
	for _, bad := range []float64{clique.NeededPrecision(-1, 3), clique.NeededPrecision(0.5, 1), clique.NeededPrecision(math.NaN(), 3)} {
		if !math.IsNaN(bad) {
			t.Errorf("of what cannot be: %g, want NaN", bad)
		}
	}
}
