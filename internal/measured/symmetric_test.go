package measured

import (
	"slices"
	"testing"
)

// pairs of five hosts: 10 i + j, host 3 not measured to host 1.
func five() *Symmetric {
	return NewSymmetric(5, func(i, j int) float32 {
		if i == 3 && j == 1 {
			return -31
		}
		return float32(10*i + j)
	})
}

func TestSymmetricByHand(t *testing.T) {
	s := five()
	host := make([]float32, 5)
	if s.Host(host, 1); !slices.Equal(host, []float32{10, -1, 21, -31, 41}) {
		t.Errorf("Host(1) = %v", host)
	}
	if got := s.Row(3); !slices.Equal(got, []float32{30, -31, 32}) {
		t.Errorf("Row(3) = %v", got)
	}
	dense := s.Dense()
	for i := range 5 {
		for j := range 5 {
			want := nan
			if i != j {
				want = s.Measured(i, j)
			}
			if got := float64(dense[5*i+j]); !same(got, want) {
				t.Errorf("Dense() has %g at (%d, %d), want %g", got, i, j, want)
			}
		}
	}
	order := []int32{4, 0, 3, 1, 2}
	scratch := make([]float32, 11)
	o := s.InOrder(order, scratch)
	for p, i := range order {
		for q, j := range order[:p] {
			if o.At(p, q) != s.At(int(i), int(j)) {
				t.Errorf("InOrder has %g of hosts %d and %d, want %g", o.At(p, q), i, j, s.At(int(i), int(j)))
			}
		}
	}
	if scratch[0] != 40 {
		t.Error("InOrder leaves scratch alone that has room")
	}
	// Means by hand: (10+20+30+40)/4, (10+21+31+41)/4, (20+21+32+42)/4, (30+31+32+43)/4, (40+41+42+43)/4.
	if got, want := s.Means(), []float64{25, 25.75, 28.75, 34, 41.5}; !slices.Equal(got, want) {
		t.Errorf("Means() = %v, want %v", got, want)
	}
	if got := s.InOrder([]int32{4, 2, 0, 3, 1}, nil).ByMean(); !slices.Equal(got, []int32{2, 4, 1, 3, 0}) {
		t.Errorf("ByMean() = %v", got)
	}
	want := [][]int32{{1, 2}, {0, 2}, {0, 1}, {0, 2}, {0, 1}}
	if got := s.AllNearest(2); !slices.EqualFunc(got, want, slices.Equal) {
		t.Errorf("AllNearest(2) = %v, want %v", got, want)
	}
}
