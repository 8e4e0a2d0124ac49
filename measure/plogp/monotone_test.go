package plogp

import (
	"math/rand/v2"
	"slices"
	"testing"
)

func TestMonotone(t *testing.T) {
	for _, c := range []struct {
		gaps, want []float64
		falls      []int
	}{
		{nil, nil, nil},
		{[]float64{1, 2, 3}, []float64{1, 2, 3}, nil},
		{[]float64{1, 3, 2.5, 4}, []float64{1, 2.75, 2.75, 4}, nil},
		{[]float64{2, 1.75, 1.5}, []float64{1.75, 1.75, 1.75}, nil},
		{[]float64{1, 5, 3, 6}, []float64{1, 5, 3, 6}, []int{2}}, // 3 is below 0.8*5
		{[]float64{1, 5, 3, 2.5, 6}, []float64{1, 5, 2.75, 2.75, 6}, []int{2}},
		{[]float64{0, 0, 1}, []float64{0, 0, 1}, nil},
	} {
		got := slices.Clone(c.gaps)
		if falls := monotone(got); !slices.Equal(got, c.want) || !slices.Equal(falls, c.falls) {
			t.Errorf("monotone(%v) = %v, falls %v; want %v, %v", c.gaps, got, falls, c.want, c.falls)
		}
	}
}

// TestRiseIsTheNearest: of many rising sequences none is nearer than that of
// rise, which is what least squares say.
func TestRiseIsTheNearest(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	distance := func(a, b []float64) (sum float64) {
		for i := range a {
			sum += (a[i] - b[i]) * (a[i] - b[i])
		}
		return sum
	}
	for range 200 {
		values := make([]float64, 6)
		for i := range values {
			values[i] = rng.Float64()
		}
		risen := slices.Clone(values)
		rise(risen)
		if !slices.IsSorted(risen) {
			t.Fatalf("rise(%v) = %v", values, risen)
		}
		best := distance(values, risen)
		for range 200 {
			other := slices.Clone(risen)
			for i := range other {
				other[i] += 0.1 * rng.NormFloat64()
			}
			slices.Sort(other)
			if d := distance(values, other); d < best-1e-12 {
				t.Fatalf("%v is nearer to %v than %v: %g < %g", other, values, risen, d, best)
			}
		}
	}
}
