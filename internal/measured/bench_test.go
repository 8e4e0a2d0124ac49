package measured

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"gonum.org/v1/gonum/mat"
)

// Both forms of 1024 hosts, whose matrices are read in place.
func BenchmarkForms(b *testing.B) {
	const n = 1024
	for _, repetitions := range []int{1, 2, 5} {
		rng := rand.New(rand.NewPCG(1, 6))
		matrices := make([]mat.Matrix, repetitions)
		for k := range matrices {
			d := make([]float64, n*n)
			for i := range d {
				d[i] = 1e-6 * (1 + rng.Float64())
			}
			matrices[k] = mat.NewDense(n, n, d)
		}
		for _, form := range []struct {
			name string
			of   func(*Repetitions) error
		}{
			{"symmetric", func(m *Repetitions) error { _, _, err := m.Symmetric(); return err }},
			{"directed", func(m *Repetitions) error { _, err := m.Directed(); return err }},
		} {
			b.Run(fmt.Sprintf("%s/R=%d", form.name, repetitions), func(b *testing.B) {
				b.ReportAllocs()
				for b.Loop() {
					m, err := New("x", matrices)
					if err != nil {
						b.Fatal(err)
					}
					if err := form.of(m); err != nil {
						b.Fatal(err)
					}
				}
				b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/(n*(n-1)), "ns/cell")
			})
		}
	}
}
