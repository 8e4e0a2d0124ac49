package witness_test

import (
	"math/rand/v2"
	"testing"

	"github.com/topocast/topocast/internal/witness"
)

// TestNoiseBesideASlowLink: messages of a 4x4 torus go along shortest paths, by the lowest hosts, and cross the link of hosts 0
// and 1, which is twice as long, although other paths are not. What they take longer is no noise.
func TestNoiseBesideASlowLink(t *testing.T) {
	const n, side, noise = 16, 4, 0.004
	hops := func(a, b int) int {
		x, y := (a%side-b%side+side)%side, (a/side-b/side+side)%side
		return min(x, side-x) + min(y, side-y)
	}
	exact := make([]float64, n*n) // us
	for from := range n {
		for to := range n {
			us := 0.6 // that every message pays at its ends
			for at := from; at != to; {
				next := 0
				for hops(at, next) != 1 || hops(next, to) >= hops(at, to) {
					next++
				}
				if us++; at+next == 1 {
					us++
				}
				at = next
			}
			exact[from*n+to] = us
		}
	}
	for seed := range uint64(1000) {
		rng := rand.New(rand.NewPCG(seed, 1))
		m := make([]float64, n*n)
		for i := range n {
			for j := range i {
				m[i*n+j] = (exact[i*n+j] + exact[j*n+i]) / 2 * (1 + noise*rng.NormFloat64())
				m[j*n+i] = m[i*n+j]
			}
		}
		if got := witness.Noise(n, m, m); !(got > noise/4 && got < 4*noise) {
			t.Errorf("seed %d: noise %.4f, want %.4f", seed, got, noise)
		}
	}
}
