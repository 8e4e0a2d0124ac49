package measured

import (
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"gonum.org/v1/gonum/mat"
)

var nan = math.NaN()

// opaque hides the memory of a matrix.
type opaque struct{ mat.Matrix }

// random makes matrices of n hosts with noise, gaps, zeros and measurements below zero.
func random(rng *rand.Rand, n, repetitions int) []mat.Matrix {
	level := make([]float64, n*n)
	for i := range level {
		level[i] = 1e-6 * math.Exp(rng.NormFloat64())
	}
	faulty := rng.IntN(2) == 0
	matrices := make([]mat.Matrix, repetitions)
	for k := range matrices {
		d := mat.NewDense(n, n, nil)
		for i := range n {
			for j := range n {
				v := level[i*n+j] * (1 + 0.1*rng.ExpFloat64())
				if faulty {
					switch rng.IntN(20) {
					case 0:
						v = nan
					case 1:
						v = 0
					case 2:
						v = -v
					}
				}
				d.Set(i, j, v)
			}
			d.Set(i, i, math.Inf(1)) // not read
		}
		if matrices[k] = d; rng.IntN(2) == 0 {
			matrices[k] = opaque{d}
		}
	}
	return matrices
}

// known are the measurements from i to j that are not NaN, ascending.
func known(matrices []mat.Matrix, i, j int) []float64 {
	var values []float64
	for _, m := range matrices {
		if v := m.At(i, j); !math.IsNaN(v) {
			values = append(values, v)
		}
	}
	slices.Sort(values)
	return values
}

func same(a, b float64) bool { return a == b || a != a && b != b }

func TestNewRefuses(t *testing.T) {
	for _, tt := range []struct {
		name     string
		matrices []mat.Matrix
		want     string
	}{
		{"nothing", nil, "x: no matrix given"},
		{"one that is not square", []mat.Matrix{mat.NewDense(2, 3, nil)}, "x: matrix 0 is 2 x 3: want square and as the first, 2 x 2"},
		{"one of another size", []mat.Matrix{mat.NewDense(2, 2, nil), mat.NewDense(3, 3, nil)}, "x: matrix 1 is 3 x 3: want square and as the first, 2 x 2"},
	} {
		if _, err := New("x", tt.matrices); err == nil || err.Error() != tt.want {
			t.Errorf("%s: error %v, want %q", tt.name, err, tt.want)
		}
	}
}

// An infinite measurement, or one beyond float32, is refused wherever it stands, in both forms.
func TestInvalidMeasurementsAreRefused(t *testing.T) {
	for _, bad := range []float64{math.Inf(1), math.Inf(-1), 1e39, -1e39} {
		for repetitions := 1; repetitions <= 6; repetitions++ {
			for at := range repetitions {
				for _, gap := range []bool{false, true} {
					var matrices []mat.Matrix
					for k := range repetitions {
						m := mat.NewDense(3, 3, []float64{0, 1, 2, 1, 0, 2, 2, 2, 0})
						if k == at {
							m.Set(2, 1, bad)
							if gap {
								m.Set(1, 2, nan)
							}
						}
						matrices = append(matrices, m)
					}
					m, err := New("x", matrices)
					if err != nil {
						t.Fatal(err)
					}
					_, _, symmetric := m.Symmetric()
					_, directed := m.Directed()
					for form, err := range map[string]error{"Symmetric": symmetric, "Directed": directed} {
						if err == nil || !strings.Contains(err.Error(), "hosts 1 and 2: latency from 2 is") {
							t.Errorf("%s of %g in repetition %d of %d: error %v", form, bad, at, repetitions, err)
						}
					}
				}
			}
		}
	}
}
