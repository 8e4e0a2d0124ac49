package readings

import (
	"errors"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"gonum.org/v1/gonum/mat"
)

var nan = math.NaN()

// opaque hides the memory of a matrix.
type opaque struct{ mat.Matrix }

// random makes matrices of n hosts with noise, gaps, zeros and readings below zero.
func random(rng *rand.Rand, n, repetitions int) []mat.Matrix {
	level := make([]float64, n*n)
	for i := range level {
		level[i] = 1e-6 * math.Exp(rng.NormFloat64())
	}
	faulty := rng.IntN(2) == 0
	matrices := make([]mat.Matrix, repetitions)
	for k := range matrices {
		d := mat.NewDense(n, n, nil)
		for i := range n {
			for j := range n {
				v := level[i*n+j] * (1 + 0.1*rng.ExpFloat64())
				if faulty {
					switch rng.IntN(20) {
					case 0:
						v = nan
					case 1:
						v = 0
					case 2:
						v = -v
					}
				}
				d.Set(i, j, v)
			}
			d.Set(i, i, math.Inf(1)) // not read
		}
		if matrices[k] = d; rng.IntN(2) == 0 {
			matrices[k] = opaque{d}
		}
	}
	return matrices
}

// known are the readings from i to j that are not NaN, ascending.
func known(matrices []mat.Matrix, i, j int) []float64 {
	var values []float64
	for _, m := range matrices {
		if v := m.At(i, j); !math.IsNaN(v) {
			values = append(values, v)
		}
	}
	slices.Sort(values)
	return values
}

func TestNewRefuses(t *testing.T) {
	for _, tt := range []struct {
		name     string
		matrices []mat.Matrix
		want     string
	}{
		{"nothing", nil, "x: no matrix given"},
		{"one that is not square", []mat.Matrix{mat.NewDense(2, 3, nil)}, "x: matrix 0 is 2 x 3: want square and as the first, 2 x 2"},
		{"one of another size", []mat.Matrix{mat.NewDense(2, 2, nil), mat.NewDense(3, 3, nil)}, "x: matrix 1 is 3 x 3: want square and as the first, 2 x 2"},
	} {
		if _, err := New("x", tt.matrices); err == nil || err.Error() != tt.want {
			t.Errorf("%s: error %v, want %q", tt.name, err, tt.want)
		}
	}
}

// An infinite reading, or one beyond float32, is refused wherever it stands, in both forms.
func TestInvalidReadingsAreRefused(t *testing.T) {
	for _, bad := range []float64{math.Inf(1), math.Inf(-1), 1e39, -1e39} {
		for repetitions := 1; repetitions <= 6; repetitions++ {
			for at := range repetitions {
				for _, gap := range []bool{false, true} {
					var matrices []mat.Matrix
					for k := range repetitions {
						m := mat.NewDense(3, 3, []float64{0, 1, 2, 1, 0, 2, 2, 2, 0})
						if k == at {
							m.Set(2, 1, bad)
							if gap {
								m.Set(1, 2, nan)
							}
						}
						matrices = append(matrices, m)
					}
					m, err := New("x", matrices)
					if err != nil {
						t.Fatal(err)
					}
					_, _, symmetric := m.Symmetric()
					_, directed := m.Directed(Smallest)
					for form, err := range map[string]error{"Symmetric": symmetric, "Directed": directed} {
						if err == nil || !strings.Contains(err.Error(), "hosts 1 and 2: latency from 2 is") {
							t.Errorf("%s of %g in repetition %d of %d: error %v", form, bad, at, repetitions, err)
						}
					}
				}
			}
		}
	}
}

// The definition: of either direction all, of five and more without the smallest; the mean of the lower
// half of them; half the smallest above zero for what is not above zero.
func TestSymmetricAgainstDefinition(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 1))
	for range 400 {
		n, repetitions := 2+rng.IntN(70), 1+rng.IntN(7)
		matrices := random(rng, n, repetitions)
		m, err := New("x", matrices)
		if err != nil {
			t.Fatal(err)
		}
		got, quality, err := m.Symmetric()
		if err != nil {
			if !errors.Is(err, ErrDisconnected) {
				t.Fatal(err)
			}
			continue
		}
		want := make([]float64, n*n)
		least := math.Inf(1)
		holes, zeros, negative := 0, 0, 0
		for i := range n {
			for j := range i {
				var all []float64
				for _, own := range [][]float64{known(matrices, i, j), known(matrices, j, i)} {
					if len(own) >= 5 {
						own = own[1:]
					}
					all = append(all, own...)
				}
				slices.Sort(all)
				sum, half := 0.0, (len(all)+1)/2
				for _, v := range all[:half] {
					sum += v
				}
				v := sum / float64(half)
				want[i*n+j] = v
				switch {
				case len(all) == 0:
					holes++
				case v < 0:
					negative++
					fallthrough
				case v == 0:
					zeros++
				default:
					least = min(least, float64(float32(v)))
				}
			}
		}
		if quality.Holes != holes || quality.Zeros != zeros || quality.Negative != negative {
			t.Fatalf("%+v, want %d holes, %d zeros, %d negative", *quality, holes, zeros, negative)
		}
		for i := range n {
			for j := range i {
				w := want[i*n+j]
				switch x := got.At(j, i); {
				case math.IsNaN(w) && !(x < 0), w <= 0 && x != float32(least/2), w > 0 && x != float32(w):
					t.Fatalf("n = %d, %d repetitions: At(%d, %d) = %g, want %g", n, repetitions, j, i, x, w)
				}
			}
		}
	}
}

// Nothing but zeros: all pairs are alike, and above zero.
func TestAllZeros(t *testing.T) {
	m, _ := New("x", []mat.Matrix{mat.NewDense(3, 3, nil)})
	s, q, err := m.Symmetric()
	if err != nil || q.Zeros != 3 || s.At(0, 1) != math.SmallestNonzeroFloat32 || s.At(1, 2) != s.At(0, 2) {
		t.Errorf("%v, %+v, %v", s, q, err)
	}
}

// Half of the least number there is is zero: it stays.
func TestLifted(t *testing.T) {
	if got := lifted(float32(math.SmallestNonzeroFloat32)); got != math.SmallestNonzeroFloat32 {
		t.Errorf("%g", got)
	}
	if got := lifted(3.0); got != 1.5 {
		t.Errorf("%g, want 1.5", got)
	}
}

// Hosts 0, 1 and 2, 3 on two switches. What is missing between them is estimated by the legs over their
// neighbours; two parts without a reading between them are an error.
func TestHolesAreEstimated(t *testing.T) {
	m, _ := New("x", []mat.Matrix{mat.NewDense(4, 4, []float64{
		0, 1, 5, nan,
		1, 0, 5, 5,
		5, 5, 0, 1,
		nan, 5, 1, 0,
	})})
	s, q, err := m.Symmetric()
	if err != nil || q.Holes != 1 || s.At(0, 3) != -5 || !math.IsNaN(s.Measured(3, 0)) || s.Measured(1, 0) != 1 {
		t.Errorf("%v, %+v, %v", s, q, err)
	}
	m, _ = New("x", []mat.Matrix{mat.NewDense(4, 4, []float64{
		0, 1, nan, nan,
		1, 0, nan, nan,
		nan, nan, 0, 1,
		nan, nan, 1, 0,
	})})
	if _, _, err := m.Symmetric(); !errors.Is(err, ErrDisconnected) || !strings.HasPrefix(err.Error(), "x: hosts 0 and 2: ") {
		t.Errorf("error %v", err)
	}
}

// The tick is the one that readings were rounded to. Rounded means of readings, exact latencies and
// readings without ticks have none.
func TestTick(t *testing.T) {
	const n = 16
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
				x := 1e-6
				if i/4 != j/4 {
					x = 2e-6
				}
				x *= 1 + tt.noise*rng.NormFloat64()
				if tt.tick > 0 {
					x = tt.tick * math.Round(x/tt.tick)
				}
				d.Set(i, j, x)
				if tt.mirrored && j < i {
					d.Set(i, j, d.At(j, i))
				}
			}
		}
		m, _ := New("x", []mat.Matrix{d})
		if got := m.tick(); math.Abs(got-tt.want) > 1e-6*tt.want {
			t.Errorf("%s: tick() = %g, want %g", tt.name, got, tt.want)
		}
	}
}

// Both forms find the noise of one reading from two repetitions, whatever outliers there are.
func TestNoise(t *testing.T) {
	const n, sigma = 200, 0.03
	rng := rand.New(rand.NewPCG(1, 5))
	matrices := []mat.Matrix{mat.NewDense(n, n, nil), mat.NewDense(n, n, nil)}
	for _, m := range matrices {
		for i := range n {
			for j := range n {
				v := math.Exp(sigma * rng.NormFloat64())
				if rng.IntN(50) == 0 {
					v *= 4
				}
				m.(*mat.Dense).Set(i, j, v)
			}
		}
	}
	m, _ := New("x", matrices)
	_, q, err := m.Symmetric()
	if err != nil {
		t.Fatal(err)
	}
	d, err := m.Directed(Smallest)
	if err != nil {
		t.Fatal(err)
	}
	for form, got := range map[string]float64{"Symmetric": q.Noise, "Directed": d.Noise()} {
		if math.Abs(got-sigma) > 0.1*sigma {
			t.Errorf("%s: noise %.4f, want %.4f within a tenth", form, got, sigma)
		}
	}
	m, _ = New("x", matrices[:1])
	if got := m.noise(); !math.IsNaN(got) {
		t.Errorf("noise of one repetition %g, want NaN", got)
	}
}

// What bytes make of matrices is refused, or gives readings that are numbers above zero in size and do not
// depend on which direction is which.
func FuzzReadings(f *testing.F) {
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
		d, errd := m.Directed(SecondOfMany)
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
			d = d.FromZero()
			for i, v := range d.Pairs() {
				if v < 0 || math.IsInf(v, 0) {
					t.Fatalf("cell %d is %g", i, v)
				}
			}
		}
	})
}
