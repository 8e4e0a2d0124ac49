package measured

import (
	"errors"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"gonum.org/v1/gonum/mat"
)

// The definition: of all samples of both directions, of ten and more without the smallest, the mean of the lower
// half; half the smallest above zero for what is not above zero.
func TestSymmetricAgainstDefinition(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 1))
	for range 400 {
		n, repetitions := 2+rng.IntN(70), 1+rng.IntN(7)
		matrices := random(rng, n, repetitions)
		m, err := New("x", matrices)
		if err != nil {
			t.Fatal(err)
		}
		got, quality, err := m.Symmetric()
		if err != nil {
			if !errors.Is(err, ErrDisconnected) {
				t.Fatal(err)
			}
			continue
		}
		want := make([]float64, n*n)
		least := math.Inf(1)
		holes, zeros, negative := 0, 0, 0
		for i := range n {
			for j := range i {
				var all []float64
				for _, own := range [][]float64{known(matrices, i, j), known(matrices, j, i)} {
					all = append(all, own...)
				}
				v := combined(all)
				want[i*n+j] = v
				switch {
				case len(all) == 0:
					holes++
				case v < 0:
					negative++
					fallthrough
				case v == 0:
					zeros++
				default:
					least = min(least, float64(float32(v)))
				}
			}
		}
		if quality.Holes != holes || quality.Zeros != zeros || quality.Negative != negative {
			t.Fatalf("%+v, want %d holes, %d zeros, %d negative", *quality, holes, zeros, negative)
		}
		for i := range n {
			for j := range i {
				w := want[i*n+j]
				switch x := got.At(j, i); {
				case math.IsNaN(w) && !(x < 0), w <= 0 && x != float32(least/2), w > 0 && x != float32(w):
					t.Fatalf("n = %d, %d repetitions: At(%d, %d) = %g, want %g", n, repetitions, j, i, x, w)
				}
			}
		}
	}
}

// combined is the definition of Combine.
func combined(all []float64) float64 {
	slices.Sort(all)
	if len(all) >= 10 {
		all = all[1:]
	}
	sum, half := 0.0, len(all)/2
	if len(all) == 1 {
		half = 1
	}
	for _, v := range all[:half] {
		sum += v
	}
	return sum / float64(half)
}

// Nothing but zeros: all pairs are alike, and above zero.
func TestAllZeros(t *testing.T) {
	m, _ := New("x", []mat.Matrix{mat.NewDense(3, 3, nil)})
	s, q, err := m.Symmetric()
	if err != nil || q.Zeros != 3 || s.At(0, 1) != math.SmallestNonzeroFloat32 || s.At(1, 2) != s.At(0, 2) {
		t.Errorf("%v, %+v, %v", s, q, err)
	}
}

// Half of the least number there is is zero: it stays.
func TestLifted(t *testing.T) {
	if got := lifted(float32(math.SmallestNonzeroFloat32)); got != math.SmallestNonzeroFloat32 {
		t.Errorf("%g", got)
	}
	if got := lifted(3.0); got != 1.5 {
		t.Errorf("%g, want 1.5", got)
	}
}

// Hosts 0, 1 and 2, 3 on two switches. What is missing between them is estimated by the legs over their
// neighbours; two parts without a measurement between them are an error.
func TestHolesAreEstimated(t *testing.T) {
	m, _ := New("x", []mat.Matrix{mat.NewDense(4, 4, []float64{
		0, 1, 5, nan,
		1, 0, 5, 5,
		5, 5, 0, 1,
		nan, 5, 1, 0,
	})})
	s, q, err := m.Symmetric()
	if err != nil || q.Holes != 1 || s.At(0, 3) != -5 || !math.IsNaN(s.Measured(3, 0)) || s.Measured(1, 0) != 1 {
		t.Errorf("%v, %+v, %v", s, q, err)
	}
	m, _ = New("x", []mat.Matrix{mat.NewDense(4, 4, []float64{
		0, 1, nan, nan,
		1, 0, nan, nan,
		nan, nan, 0, 1,
		nan, nan, 1, 0,
	})})
	if _, _, err := m.Symmetric(); !errors.Is(err, ErrDisconnected) || !strings.HasPrefix(err.Error(), "x: hosts 0 and 2: ") {
		t.Errorf("error %v", err)
	}
}
