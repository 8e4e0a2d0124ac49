package linkage

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/topocast/topocast/internal/measured"
	"github.com/topocast/topocast/internal/nnchain"
)

// Noise that was put in comes out again, however many hosts a switch has, and with outliers and gaps.
func TestSpread(t *testing.T) {
	for _, tt := range []struct {
		name     string
		size     int // hosts per switch
		sigma    float64
		outliers float64
		missing  float64
	}{
		{"exact", 4, 0, 0, 0},
		{"two hosts each", 2, 0.05, 0, 0},
		{"three hosts", 3, 0.05, 0, 0},
		{"four hosts", 4, 0.05, 0, 0},
		{"nine hosts", 9, 0.05, 0, 0},
		{"seventeen hosts", 17, 0.02, 0, 0},
		{"outliers", 9, 0.05, 0.02, 0},
		{"gaps", 9, 0.05, 0, 0.1},
	} {
		const n = 153
		rng := rand.New(rand.NewPCG(1, 8))
		r := measured.NewSymmetric(n, func(i, j int) float32 {
			x := 30.0
			if i/tt.size == j/tt.size {
				x = 10
			}
			x *= math.Exp(tt.sigma * rng.NormFloat64())
			if rng.Float64() < tt.outliers {
				x *= 3
			}
			if rng.Float64() < tt.missing {
				x = -x // estimated
			}
			return float32(x)
		})
		want := max(noiseFloor, tt.sigma)
		if got := noiseOf(r); math.Abs(got-want) > 0.08*want {
			t.Errorf("%s: spread() = %.4f, want %.4f", tt.name, got, want)
		}
	}
}

func noiseOf(r *measured.Symmetric) float64 {
	w := nnchain.NewSquare(r.N())
	square(w, r.At)
	return spread(w)
}
