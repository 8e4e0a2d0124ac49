package nnchain

import (
	"math/rand/v2"
	"testing"
)

// Ties and rounding must not break the tree: every cluster is joined once.
func TestMergesWithTiesMakeATree(t *testing.T) {
	rng := rand.New(rand.NewPCG(8, 9))
	for range 1000 {
		n := 2 + rng.IntN(60)
		values := 1 + rng.IntN(4)
		d := NewSquare(n)
		for i := range n {
			for j := range i {
				v := float32(0.1) * float32(1+rng.IntN(values))
				if rng.IntN(4) == 0 {
					v *= 1 + 1.2e-7*float32(rng.IntN(3))
				}
				d.SetPair(i, j, v)
			}
		}
		joined := make([]bool, 2*n)
		for _, m := range Merges(d, Average) {
			for _, c := range []int32{m.A, m.B} {
				if joined[c] {
					t.Fatalf("n=%d: cluster %d is joined twice", n, c)
				}
				joined[c] = true
			}
		}
	}
}
