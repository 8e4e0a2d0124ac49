package measured

import (
	"errors"
	"math"
	"testing"

	"gonum.org/v1/gonum/mat"
)

// What bytes make of matrices is refused, or gives measurements that are numbers above zero in size and do not
// depend on which direction is which.
func FuzzMeasurements(f *testing.F) {
	f.Add([]byte{1, 2, 3, 4, 5, 6, 7, 8, 9}, uint8(1))
	f.Add([]byte{0, 255, 254, 1, 253, 252, 8, 8, 0, 3, 3, 251, 3, 3, 255, 3}, uint8(2))
	f.Fuzz(func(t *testing.T, data []byte, repetitions uint8) {
		matrices := make([]mat.Matrix, repetitions%8)
		back := make([]mat.Matrix, len(matrices))
		n := min(24, int(math.Sqrt(float64(len(data))/float64(max(1, len(matrices))))))
		if n == 0 {
			return
		}
		special := map[byte]float64{255: nan, 254: math.Inf(1), 253: math.Inf(-1), 252: -1, 251: 1e-320, 250: math.MaxFloat64, 249: math.MaxFloat32, 248: math.SmallestNonzeroFloat32}
		for k := range matrices {
			d := mat.NewDense(n, n, nil)
			for i := range n {
				for j := range n {
					b := data[k*n*n+i*n+j]
					v, ok := special[b]
					if !ok {
						v = float64(b) * 1e-7
					}
					d.Set(i, j, v)
				}
			}
			matrices[k], back[k] = d, d.T()
		}
		m, err := New("x", matrices)
		if err != nil {
			if len(matrices) > 0 {
				t.Fatal(err)
			}
			return
		}
		s, _, err := m.Symmetric()
		mb, _ := New("x", back)
		sb, _, errb := mb.Symmetric()
		d, errd := m.Directed()
		if (err == nil) != (errb == nil) || err == nil && errd != nil || err != nil && errd == nil && !errors.Is(err, ErrDisconnected) {
			t.Fatalf("errors %v, transposed %v, directed %v", err, errb, errd)
		}
		if err == nil {
			for i := range n {
				for j := range i {
					if x := s.At(i, j); x == 0 || x != x || math.IsInf(float64(x), 0) || x != sb.At(i, j) {
						t.Fatalf("At(%d, %d) = %g, transposed %g", i, j, x, sb.At(i, j))
					}
				}
			}
		}
		if errd == nil {
			d.fromZero()
			for i, v := range d.Pairs() {
				if v < 0 || math.IsInf(v, 0) {
					t.Fatalf("cell %d is %g", i, v)
				}
			}
		}
	})
}
