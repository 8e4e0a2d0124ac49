package measured

import (
	"fmt"
	"math"

	"gonum.org/v1/gonum/mat"
)

// Repetitions are square matrices of the same latencies, in s, measured one after another.
type Repetitions struct {
	by      string // who asks, for errors: "linkage"
	n       int
	sources []source
}

// New checks that there is a matrix, and that all are square and of one size. Errors,
// those of the methods too, begin with by. The matrices must not change while they are in use; what
// is made of them keeps nothing of theirs.
func New(by string, matrices []mat.Matrix) (*Repetitions, error) {
	if len(matrices) == 0 {
		return nil, fmt.Errorf("%s: no matrix given", by)
	}
	n, _ := matrices[0].Dims()
	m := &Repetitions{by: by, n: n, sources: make([]source, len(matrices))}
	for k, matrix := range matrices {
		rows, columns := matrix.Dims()
		if rows != columns || rows != n {
			return nil, fmt.Errorf("%s: matrix %d is %d x %d: want square and as the first, %d x %d", by, k, rows, columns, n, n)
		}
		m.sources[k] = newSource(matrix)
	}
	return m, nil
}

// valid tells whether a measurement may be one: float32 holds it, and its square is finite.
// NaN is none.
func valid(v float64) bool { return v >= -math.MaxFloat32 && v <= math.MaxFloat32 }

// refuse is the error of the pair of hosts of which a measurement is not valid.
func (m *Repetitions) refuse(i, j int) error {
	for k := range m.sources {
		for _, c := range [2][2]int{{i, j}, {j, i}} {
			if v := m.sources[k].at(c[0], c[1]); !valid(v) && v == v {
				return fmt.Errorf("%s: matrix %d: hosts %d and %d: latency from %d is %g s: want at most %.2g in size, or NaN", m.by, k, min(i, j), max(i, j), c[0], v, math.MaxFloat32)
			}
		}
	}
	panic(fmt.Sprintf("measurements: hosts %d and %d: all measurements are valid", i, j))
}

// source reads cells of a matrix, without an interface call where the matrix
// gives its memory away.
type source struct {
	data   []float64
	stride int
	m      mat.Matrix
}

func newSource(m mat.Matrix) source {
	s := source{m: m}
	if raw, ok := m.(mat.RawMatrixer); ok {
		s.data, s.stride = raw.RawMatrix().Data, raw.RawMatrix().Stride
	}
	return s
}

func (s *source) at(i, j int) float64 {
	if s.data != nil {
		return s.data[i*s.stride+j]
	}
	return s.m.At(i, j)
}

// pair is the cell of i and j, or the one across the diagonal where only that was measured.
func (s *source) pair(i, j int) float64 {
	if v := s.at(i, j); v == v {
		return v
	}
	return s.at(j, i)
}

// samplePairs calls with up to sampled pairs of n hosts, spread evenly, i > j.
func samplePairs(n int, with func(i, j int)) {
	const sampled = 1 << 14 // the median is right within one in a hundred
	pairs := n * (n - 1) / 2
	if pairs == 0 {
		return
	}
	stride := (pairs-1)/sampled + 1
	i, j := 1, 0
	for range (pairs-1)/stride + 1 {
		with(i, j)
		for j += stride; j >= i; {
			j -= i
			i++
		}
	}
}
