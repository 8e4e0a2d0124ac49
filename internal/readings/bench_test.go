package readings

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"gonum.org/v1/gonum/mat"
)

func BenchmarkSymmetric(b *testing.B) {
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
		b.Run(fmt.Sprintf("R=%d", repetitions), func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				m, err := New("x", matrices)
				if err != nil {
					b.Fatal(err)
				}
				if _, _, err := m.Symmetric(); err != nil {
					b.Fatal(err)
				}
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/(n*(n-1)/2), "ns/pair")
		})
	}
}
