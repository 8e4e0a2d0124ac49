package linkage

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/topocast/topocast/internal/readings"
)

// Noise that was put in comes out again, however many mates a host has: on switches of two, three,
// nine and seventeen hosts, and with outliers and gaps.
func TestWhiteNoise(t *testing.T) {
	for _, tt := range []struct {
		name     string
		size     int // hosts per switch
		sigma    float64
		outliers float64
		missing  float64
	}{
		{"exact", 4, 0, 0, 0},
		{"one mate each", 2, 0.05, 0, 0},
		{"two mates", 3, 0.05, 0, 0},
		{"three mates", 4, 0.05, 0, 0},
		{"eight mates", 9, 0.05, 0, 0},
		{"sixteen mates", 17, 0.02, 0, 0},
		{"outliers", 9, 0.05, 0.02, 0},
		{"gaps", 9, 0.05, 0, 0.1},
	} {
		const n = 153
		rng := rand.New(rand.NewPCG(1, 8))
		r := readings.NewSymmetric(n, func(i, j int) float32 {
			x := 30.0
			if i/tt.size == j/tt.size {
				x = 10
			}
			x *= math.Exp(tt.sigma * rng.NormFloat64())
			if rng.Float64() < tt.outliers {
				x *= 3
			}
			if rng.Float64() < tt.missing {
				x = -1
			}
			return float32(x)
		})
		if got := newVicinity(r).whiteNoise(r.ByMean()); math.Abs(got-tt.sigma) > 0.07*tt.sigma {
			t.Errorf("%s: whiteNoise() = %.4f, want %.4f", tt.name, got, tt.sigma)
		}
	}
	// All are mates of each other: nobody is left to be compared.
	if got := newVicinity(readings.NewSymmetric(3, func(i, j int) float32 { return 1 })).whiteNoise([]int32{0, 1, 2}); !math.IsNaN(got) {
		t.Errorf("three hosts: whiteNoise() = %g, want NaN", got)
	}
}

// What a pair has for good, as between virtual machines, counts as noise; that the mates of a
// host are nearer to one host than to others does not.
func TestWhiteNoiseIsWithoutStructure(t *testing.T) {
	const n = 120
	ring := readings.NewSymmetric(n, func(i, j int) float32 { return float32(10 * min(i-j, n-i+j)) })
	levels := readings.NewSymmetric(n, func(i, j int) float32 {
		x := float32(10)
		for size := 3; size < n && i/size != j/size; size *= 3 {
			x *= 2
		}
		return x
	})
	// The mates in a ring are a hop nearer and farther: their middle is right but around the opposite host.
	for name, r := range map[string]*readings.Symmetric{"ring": ring, "levels": levels} {
		if got := newVicinity(r).whiteNoise(r.ByMean()); got > 1e-6 {
			t.Errorf("%s: whiteNoise() = %g, want 0", name, got)
		}
	}
}
