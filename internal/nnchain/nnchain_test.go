package nnchain

import (
	"math"
	"math/rand/v2"
	"testing"
)

// naive joins the closest pair of clusters n-1 times, with the distances taken
// from all pairs of leaves anew: the definition, in O(n^4).
func naive(d *Square, rule Rule) []float64 {
	n := d.N()
	clusters := make([][]int, n)
	for i := range clusters {
		clusters[i] = []int{i}
	}
	between := func(a, b []int) float64 {
		var sum, most float64
		for _, i := range a {
			for _, j := range b {
				v := float64(d.Row(i)[j])
				sum, most = sum+v, max(most, v)
			}
		}
		if rule == Complete {
			return most
		}
		return sum / float64(len(a)*len(b))
	}
	var heights []float64
	for len(clusters) > 1 {
		bi, bj, best := 0, 1, math.Inf(1)
		for i := range clusters {
			for j := i + 1; j < len(clusters); j++ {
				if v := between(clusters[i], clusters[j]); v < best {
					bi, bj, best = i, j, v
				}
			}
		}
		heights = append(heights, best)
		clusters[bi] = append(clusters[bi], clusters[bj]...)
		clusters = append(clusters[:bj], clusters[bj+1:]...)
	}
	return heights
}

func TestMergesAgainstDefinition(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 4))
	for _, rule := range []Rule{Average, Complete} {
		for n := 2; n <= 24; n++ {
			d := random(rng, n)
			want := naive(d, rule)
			got := Merges(d, rule)
			for k, m := range got {
				if math.Abs(float64(m.Height)-want[k]) > 1e-5*want[k] {
					t.Fatalf("rule %d, n = %d: height of merge %d = %g, want %g", rule, n, k, m.Height, want[k])
				}
				if int(m.B) >= n+k || m.A >= m.B {
					t.Fatalf("rule %d, n = %d: merge %d joins %d and %d", rule, n, k, m.A, m.B)
				}
			}
			if got[n-2].Size != int32(n) {
				t.Fatalf("the last cluster has %d of %d leaves", got[n-2].Size, n)
			}
		}
	}
}

func random(rng *rand.Rand, n int) *Square {
	d := NewSquare(n)
	for i := range n {
		for j := range i {
			v := 1 + rng.Float32()
			d.SetPair(i, j, v)
		}
	}
	return d
}

func TestMergesOfTiesEnds(t *testing.T) {
	for _, n := range []int{0, 1, 2, 3, 50} {
		d := NewSquare(n)
		for i := range n {
			for j := range i {
				d.SetPair(i, j, 1)
			}
		}
		if got := len(Merges(d, Average)); got != max(0, n-1) {
			t.Errorf("n = %d: %d merges", n, got)
		}
	}
}

func BenchmarkMerges4096(b *testing.B) {
	const n = 4096
	d := random(rand.New(rand.NewPCG(1, 1)), n)
	work := NewSquare(n)
	for b.Loop() {
		copy(work.Scratch(), d.Scratch())
		Merges(work, Average)
	}
}
