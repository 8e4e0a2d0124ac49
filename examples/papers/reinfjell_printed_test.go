package main

import (
	"math"
	"testing"

	"github.com/topocast/topocast/measure/plogp"
	"github.com/topocast/topocast/model"
)

// TestEquation36, by hand: three ranks with latencies of 1 between 0 and 1, and of 3 to rank 2. V is (0 1 3), (1 0 3) and
// (3 3 0), so that the distances are the roots of 2 and of 22.
func TestEquation36(t *testing.T) {
	r := &plogp.Result{Ranks: 3}
	for _, p := range []struct {
		src, dst int
		latency  float64
	}{{0, 1, 1}, {1, 0, 1}, {0, 2, 3}, {2, 0, 3}, {1, 2, 3}, {2, 1, 3}} {
		r.Pairs = append(r.Pairs, plogp.Params{PairParams: model.PairParams{Src: p.src, Dst: p.dst, PLogP: model.PLogP{Latency: p.latency, Sizes: []int64{0}, Gap: []float64{0}, Send: []float64{0}, Recv: []float64{0}}}})
	}
	d := equation36(r)
	for _, c := range []struct {
		i, j int
		want float64
	}{{0, 1, math.Sqrt(1 + 1)}, {0, 2, math.Sqrt(9 + 4 + 9)}, {1, 2, math.Sqrt(4 + 9 + 9)}} {
		if got := d.At(c.i, c.j); math.Abs(got-c.want) > 1e-12 {
			t.Errorf("distance of %d and %d = %g, want %g", c.i, c.j, got, c.want)
		}
	}
}
