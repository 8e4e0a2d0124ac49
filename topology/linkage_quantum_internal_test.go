package topology

import (
	"math"
	"math/rand/v2"
	"testing"

	"gonum.org/v1/gonum/mat"
)

// The tick is the one that readings were rounded to. Rounded means of readings, exact latencies and
// readings without ticks have none.
func TestQuantum(t *testing.T) {
	n, exact := nested([]int{4, 4}, []float64{1e-6, 2e-6})
	for _, tt := range []struct {
		name     string
		noise    float64
		tick     float64
		mirrored bool
		want     float64
	}{
		{"ticks of a twentieth", 0.05, 5e-8, false, 5e-8},
		{"ticks above the noise", 0.02, 1e-7, false, 1e-7},
		{"a clock of 25 MHz", 0.1, 4e-8, false, 4e-8},
		{"no ticks", 0.05, 0, false, 0},
		{"exact", 0, 0, false, 0},
		{"exact multiples of a link", 0, 5e-7, false, 0},
		{"one reading of each pair", 0.05, 5e-8, true, 0},
	} {
		rng := rand.New(rand.NewPCG(1, 4))
		d := mat.NewDense(n, n, nil)
		for i := range n {
			for j := range n {
				x := exact[i*n+j] * (1 + tt.noise*rng.NormFloat64())
				if tt.tick > 0 {
					x = tt.tick * math.Round(x/tt.tick)
				}
				d.Set(i, j, x)
				if tt.mirrored && j < i {
					d.Set(i, j, d.At(j, i))
				}
			}
		}
		raw := d.RawMatrix()
		got := quantum([]source{{data: raw.Data, stride: raw.Stride}}, n)
		if math.Abs(got-tt.want) > 1e-6*tt.want {
			t.Errorf("%s: quantum() = %g, want %g", tt.name, got, tt.want)
		}
	}
}
