package readings

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"gonum.org/v1/gonum/mat"
)

func TestDirectedAgainstDefinition(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	for range 200 {
		n, repetitions := 1+rng.IntN(20), 1+rng.IntN(7)
		matrices := random(rng, n, repetitions)
		m, err := New("x", matrices)
		if err != nil {
			t.Fatal(err)
		}
		smallest, err := m.Directed(Smallest)
		if err != nil {
			t.Fatal(err)
		}
		second, err := m.Directed(SecondOfMany)
		if err != nil {
			t.Fatal(err)
		}
		for i := range n {
			for j := range n {
				var a, b float64 // of the diagonal
				if i != j {
					a, b = nan, nan
					if all := known(matrices, i, j); len(all) >= 5 {
						a, b = all[0], all[1]
					} else if len(all) > 0 {
						a, b = all[0], all[0]
					}
				}
				if !same(smallest.At(i, j), a) || !same(second.At(i, j), b) || !same(second.FromZero().At(i, j), max(b, 0)) {
					t.Fatalf("cell (%d, %d) of %d repetitions: %g and %g, want %g and %g", i, j, repetitions, smallest.At(i, j), second.At(i, j), a, b)
				}
			}
		}
	}
}

func same(a, b float64) bool { return a == b || a != a && b != b }

func TestDirectedByHand(t *testing.T) {
	d, err := DirectedOf("x", []mat.Matrix{mat.NewDense(4, 4, []float64{
		9, 4, nan, 0,
		2, 9, nan, -1,
		3, nan, 9, 1,
		0, 2, 1.2, 9,
	})})
	if err != nil {
		t.Fatal(err)
	}
	want := []float64{
		0, 2, 3, 0.5, // half of 1
		2, 0, nan, 0.5,
		3, nan, 0, 1,
		0.5, 0.5, 1, 0,
	}
	if got := d.Pairs(); !slices.EqualFunc(got, want, same) {
		t.Errorf("Pairs() = %v, want %v", got, want)
	}
	if d.At(1, 3) != 0 || !math.IsNaN(d.At(1, 2)) || d.N() != 4 || !math.IsNaN(d.Noise()) {
		t.Errorf("cells %v", d.Cells())
	}
	// From 3 to 1 it takes 2 against none, which tells less than 4 against 2.
	if got, want := d.Asymmetry(), (Asymmetry{Pairs: 2, Worst: [2]int{0, 1}, Ratio: 2}); got != want {
		t.Errorf("Asymmetry() = %+v, want %+v", got, want)
	}
	texts := []string{"1 readings are below zero and were taken as zero", "3 of 12 readings were not measured"}
	if got := d.Warnings(); !slices.Equal(got, texts) {
		t.Errorf("Warnings() = %q, want %q", got, texts)
	}
}

// Where there is nothing but a direction of zero its pair is named.
func TestAsymmetryOfZero(t *testing.T) {
	d, err := DirectedOf("x", []mat.Matrix{mat.NewDense(3, 3, []float64{0, 1, 1, 1, 0, 0, 1, 1, 0})})
	if err != nil {
		t.Fatal(err)
	}
	if got, want := d.Asymmetry(), (Asymmetry{Pairs: 1, Worst: [2]int{2, 1}, Ratio: math.Inf(1)}); got != want {
		t.Errorf("Asymmetry() = %+v, want %+v", got, want)
	}
}

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
	if got := s.Nearest(2); !slices.EqualFunc(got, want, slices.Equal) {
		t.Errorf("Nearest(2) = %v, want %v", got, want)
	}
}

// By hand: sums 1 and 2 and a factor of 2 on host 1, then offsets. Of the pair (1, 0) 10 becomes
// (10-1-2)/2 = 3.5, then 3; more than 95 % is not taken away; an estimate stays one.
func TestCorrectedByHand(t *testing.T) {
	s := five()
	quick := Correct(s).Quicker([]float64{1, 2, 0, 0, 0}, []float64{1, 2, 1, 1, 1})
	c := quick.Without([]float64{0.5, 0, 0, 0, 100})
	for _, tt := range []struct {
		name       string
		of         *Corrected
		i, j       int
		corrected  float32
		unmeasured bool
	}{
		{"as it was", Correct(s), 0, 1, 10, false},
		{"sums and factor", quick, 0, 1, 3.5, false},
		{"then offsets", c, 1, 0, 3, false},
		{"a twentieth is left", c, 4, 2, 2.1, false},
		{"an estimate", c, 3, 1, -14.5, true},
	} {
		if got := tt.of.At(tt.i, tt.j); got != tt.corrected {
			t.Errorf("%s: %g, want %g", tt.name, got, tt.corrected)
		}
		if got := tt.of.Symmetric().Measured(tt.i, tt.j); math.IsNaN(got) != tt.unmeasured {
			t.Errorf("%s: measured %g", tt.name, got)
		}
	}
	if Correct(s).Symmetric() != s {
		t.Error("nothing is taken out, yet the readings are copied")
	}
	if s.At(1, 0) != 10 || quick.At(1, 0) != 3.5 {
		t.Error("a correction changed what it was made of")
	}
}

// All ways of reading corrected readings agree, bit by bit.
func TestCorrectedIsReadAlike(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 3))
	some := func(n int, scale float64) []float64 {
		x := make([]float64, n)
		for i := range x {
			x[i] = scale * rng.NormFloat64()
		}
		return x
	}
	for range 50 {
		n := 3 + rng.IntN(30)
		c := Correct(NewSymmetric(n, func(i, j int) float32 { return float32(1 + rng.Float64() - 2*float64(rng.IntN(10)/9)) }))
		for range rng.IntN(4) {
			if rng.IntN(2) == 0 {
				c = c.Without(some(n, 0.2))
			} else {
				factor := some(n, 0.1)
				for i := range factor {
					factor[i]++
				}
				c = c.Quicker(some(n, 0.2), factor)
			}
		}
		s := c.Symmetric()
		order := make([]int32, n)
		for p, i := range rng.Perm(n) {
			order[p] = int32(i)
		}
		o := c.InOrder(order, nil)
		for p, i := range order {
			for q, j := range order[:p] {
				if a, b := o.At(p, q), c.At(int(i), int(j)); a != b || b != s.At(int(i), int(j)) {
					t.Fatalf("hosts %d and %d: %g in order, %g, %g copied", i, j, a, b, s.At(int(i), int(j)))
				}
			}
		}
		for i := range n {
			from := rng.IntN(i + 1)
			upto := from + rng.IntN(i-from+1)
			if part := c.Part(nil, i, from, upto); !slices.Equal(part, s.Row(i)[from:upto]) {
				t.Fatalf("Part(%d, %d, %d) = %v, want %v", i, from, upto, part, s.Row(i)[from:upto])
			}
		}
	}
}
