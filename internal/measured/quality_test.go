package measured

import (
	"math"
	"math/rand/v2"
	"testing"

	"gonum.org/v1/gonum/mat"
)

// The tick is the one that measurements were rounded to. Rounded means of measurements, exact latencies and
// measurements without ticks have none.
func TestTick(t *testing.T) {
	const n = 16
	for _, tt := range []struct {
		name     string
		noise    float64
		tick     float64
		mirrored bool
		want     float64
	}{
		{"ticks of a twentieth", 0.05, 5e-8, false, 5e-8},
		{"ticks above the noise", 0.02, 1e-7, false, 1e-7},
		{"a clock of 25 MHz", 0.1, 4e-8, false, 4e-8},
		{"no ticks", 0.05, 0, false, 0},
		{"exact", 0, 0, false, 0},
		{"exact multiples of a link", 0, 5e-7, false, 0},
		{"one measurement of each pair", 0.05, 5e-8, true, 0},
	} {
		rng := rand.New(rand.NewPCG(1, 4))
		d := mat.NewDense(n, n, nil)
		for i := range n {
			for j := range n {
				x := 1e-6
				if i/4 != j/4 {
					x = 2e-6
				}
				x *= 1 + tt.noise*rng.NormFloat64()
				if tt.tick > 0 {
					x = tt.tick * math.Round(x/tt.tick)
				}
				d.Set(i, j, x)
				if tt.mirrored && j < i {
					d.Set(i, j, d.At(j, i))
				}
			}
		}
		m, _ := New("x", []mat.Matrix{d})
		if got := m.tick(); math.Abs(got-tt.want) > 1e-6*tt.want {
			t.Errorf("%s: tick() = %g, want %g", tt.name, got, tt.want)
		}
	}
}

// Both forms find the noise of one measurement from two repetitions, whatever outliers there are.
func TestNoise(t *testing.T) {
	const n, sigma = 200, 0.03
	rng := rand.New(rand.NewPCG(1, 5))
	matrices := []mat.Matrix{mat.NewDense(n, n, nil), mat.NewDense(n, n, nil)}
	for _, m := range matrices {
		for i := range n {
			for j := range n {
				v := math.Exp(sigma * rng.NormFloat64())
				if rng.IntN(50) == 0 {
					v *= 4
				}
				m.(*mat.Dense).Set(i, j, v)
			}
		}
	}
	m, _ := New("x", matrices)
	_, q, err := m.Symmetric()
	if err != nil {
		t.Fatal(err)
	}
	d, err := m.Directed()
	if err != nil {
		t.Fatal(err)
	}
	for form, got := range map[string]float64{"Symmetric": q.Noise, "Directed": d.Noise()} {
		if math.Abs(got-sigma) > 0.1*sigma {
			t.Errorf("%s: noise %.4f, want %.4f within a tenth", form, got, sigma)
		}
	}
	m, _ = New("x", matrices[:1])
	if got := m.noise(m.levels(false)); !math.IsNaN(got) {
		t.Errorf("noise of one repetition %g, want NaN", got)
	}
}
