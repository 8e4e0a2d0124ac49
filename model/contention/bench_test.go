package contention

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"
)

// BenchmarkSolveAll finds one rate vector of random flows over four channels
// each way.
func BenchmarkSolveAll(b *testing.B) {
	for _, n := range []int{57, 1000, 10000} {
		for _, sharing := range []Sharing{{}, {Coupling: 1, AckWeight: 0.05}} {
			b.Run(fmt.Sprintf("flows=%d/ack=%g", n, sharing.AckWeight), func(b *testing.B) {
				r := rand.New(rand.NewPCG(1, 5))
				flows := make([]testFlow, n)
				for i := range flows {
					f := testFlow{bound: math.Inf(1), share: 1}
					for _, c := range r.Perm(4096)[:6] {
						f.data = append(f.data, int32(c))
						f.reverse = append(f.reverse, int32(c^1))
					}
					flows[i] = f
				}
				capacity := make([]float64, 4096)
				for c := range capacity {
					capacity[c] = 117.5e6
				}
				s, err := NewSolver(capacity, &sharing)
				if err != nil {
					b.Fatal(err)
				}
				ids := make([]int, n)
				var changed []int
				b.ReportAllocs()
				for b.Loop() {
					for i, f := range flows {
						ids[i], _ = s.Add(f.data, f.reverse, f.bound, f.share)
					}
					changed = s.Solve(changed[:0])
					for _, id := range ids {
						s.Remove(id)
					}
				}
			})
		}
	}
}
