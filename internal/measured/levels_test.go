package measured

import (
	"math"
	"math/rand/v2"
	"testing"

	"gonum.org/v1/gonum/mat"
)

// Repetitions of other days are on the level of the fastest, whichever pairs each of them has. The factors are by construction.
func TestRepetitionsHaveOneLevel(t *testing.T) {
	const n = 24
	low, high := func(i, j int) bool { return max(i, j) < n/2 }, func(i, j int) bool { return min(i, j) >= n/2 }
	whole, upper := func(_, _ int) bool { return true }, func(i, j int) bool { return i < j }
	type run struct {
		has    func(i, j int) bool
		factor float64
	}
	slowed := func(i, j int) bool { return (i+j)%7 == 0 } // in the first run
	for _, c := range []struct {
		name string
		runs []run
		want []float64 // nil: they are on one level
	}{
		{"one run", []run{{whole, 1}}, nil},
		{"two like runs", []run{{whole, 1}, {whole, 1}}, nil},
		{"two days", []run{{whole, 1.15}, {whole, 1}}, []float64{1 / 1.15, 1}},
		{"half of the hosts again", []run{{whole, 1.15}, {low, 0.9}}, []float64{0.9 / 1.15, 1}},
		{"two halves and all", []run{{low, 1.3}, {whole, 1}, {high, 1.2}}, []float64{1 / 1.3, 1, 1 / 1.2}},
		{"one direction alone", []run{{upper, 1.3}, {upper, 1}, {upper, 1}}, []float64{1 / 1.3, 1, 1}},
		{"pairs again that had been slow", []run{{whole, 1}, {whole, 1}, {whole, 1}, {slowed, 1}}, nil},
	} {
		rng := rand.New(rand.NewPCG(1, 1))
		var matrices []mat.Matrix
		for k, run := range c.runs {
			m := mat.NewDense(n, n, nil)
			for i := range n {
				for j := range n {
					v := math.NaN()
					if run.has(i, j) {
						v = run.factor * 1e-6 * float64(1+(i*j)%3) * (1 + 0.01*rng.NormFloat64())
						if c.name == "pairs again that had been slow" && k == 0 && slowed(i, j) {
							v *= 1.5
						}
					}
					m.Set(i, j, v)
				}
			}
			matrices = append(matrices, m)
		}
		r, err := New("test", matrices)
		if err != nil {
			t.Fatal(err)
		}
		got := r.levels(false)
		if (got == nil) != (c.want == nil) {
			t.Errorf("%s: levels %v, want %v", c.name, got, c.want)
			continue
		}
		for k, want := range c.want {
			if math.Abs(got[k]-want) > 0.01 {
				t.Errorf("%s: levels %v, want %v", c.name, got, c.want)
				break
			}
		}
	}
}

// The noise of measurements that were taken in one direction only is known, too.
func TestNoiseOfOneDirection(t *testing.T) {
	const n, sigma = 40, 0.05
	rng := rand.New(rand.NewPCG(2, 1))
	var matrices []mat.Matrix
	for range 2 {
		m := mat.NewDense(n, n, nil)
		for i := range n {
			for j := range n {
				m.Set(i, j, math.NaN())
				if i < j {
					m.Set(i, j, 1e-6*(1+sigma*rng.NormFloat64()))
				}
			}
		}
		matrices = append(matrices, m)
	}
	r, err := New("test", matrices)
	if err != nil {
		t.Fatal(err)
	}
	if got := r.noise(r.levels(false)); !(math.Abs(got-sigma) < 0.2*sigma) {
		t.Errorf("noise %g, want %g", got, sigma)
	}
}
