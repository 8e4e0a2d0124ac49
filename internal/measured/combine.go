package measured

import (
	"math"

	"gonum.org/v1/gonum/floats"
)

// Symmetric brings repetitions to one level (see levels) and combines all samples of a pair, of the repetitions
// and of both directions, by Combine.
//
// A measurement of zero (a coarse timer) or below (an overhead subtracted) becomes half the
// smallest above zero. Pairs measured in no repetition are estimated, see Symmetric; ErrDisconnected
// is returned if they leave the hosts in parts. O(n^2) for scattered holes.
func (m *Repetitions) Symmetric() (*Symmetric, *Quality, error) {
	n := m.n
	s := newSymmetric(n)
	q := &Quality{}
	smallest := float32(math.Inf(1))
	levels := m.levels(false)
	t := newTiles(m.sources, levels) // both triangles are read: keep the columns in cache
	for i0 := 0; i0 < n; i0 += tile {
		i1 := min(i0+tile, n)
		for j0 := 0; j0 <= i0; j0 += tile {
			j1 := min(j0+tile, n)
			t.read(i0, i1, j0, j1)
			for i := i0; i < i1; i++ {
				row := s.Row(i)
				for j := j0; j < min(j1, i); j++ {
					a, b, v, ok := t.pair(i-i0, j-j0)
					if !ok {
						return nil, nil, m.refuse(i, j)
					}
					if (a > AsymmetryTolerance*b || b > AsymmetryTolerance*a) && a > 0 && b > 0 {
						q.Asymmetry.add(max(a, b), min(a, b), j, i)
					}
					switch f := float32(v); {
					case math.IsNaN(v):
						q.Holes++
						row[j] = float32(math.NaN())
					case f <= 0:
						q.Zeros++
						if v < 0 {
							q.Negative++
						}
						row[j] = 0
					default:
						row[j] = f
						smallest = min(smallest, f)
					}
				}
			}
		}
	}
	if q.Zeros > 0 {
		s.liftZeros(smallest)
	}
	q.Noise, q.Tick = m.noise(levels), m.tick()
	if q.Holes > 0 {
		if err := s.fill(m.by); err != nil {
			return nil, nil, err
		}
	}
	return s, q, nil
}

// liftZeros replaces measurements of zero. Where there is nothing else all pairs are alike.
func (s *Symmetric) liftZeros(smallest float32) {
	half := float32(math.SmallestNonzeroFloat32)
	if !math.IsInf(float64(smallest), 1) {
		half = lifted(smallest)
	}
	for k, v := range s.d {
		if v == 0 {
			s.d[k] = half
		}
	}
}

// tile is the side of the squares of cells that are combined together: two of them for each of
// two repetitions, of float64, fit into 32 KiB.
const tile = 32

// tiles makes one measurement of the repetitions of each pair, square by square.
type tiles struct {
	sources     []source
	levels      []float64   // factors of the sources; nil: 1
	there, back [][]float64 // by source: cells of a square, and those across the diagonal
	values      []float64   // scratch
}

func newTiles(sources []source, levels []float64) *tiles {
	t := &tiles{sources: sources, levels: levels, values: make([]float64, 0, 2*len(sources))}
	for range sources {
		t.there = append(t.there, make([]float64, tile*tile))
		t.back = append(t.back, make([]float64, tile*tile))
	}
	return t
}

// read takes in the cells of the given rows and columns, and those across the diagonal.
func (t *tiles) read(i0, i1, j0, j1 int) {
	for k := range t.sources {
		t.sources[k].tile(t.there[k], i0, i1, j0, j1)
		t.sources[k].tile(t.back[k], j0, j1, i0, i1)
		if t.levels != nil {
			floats.Scale(t.levels[k], t.there[k])
			floats.Scale(t.levels[k], t.back[k])
		}
	}
}

// tile writes the cells of the given rows and columns into dst, row by row.
func (s *source) tile(dst []float64, i0, i1, j0, j1 int) {
	for i := i0; i < i1; i++ {
		row := dst[(i-i0)*tile:][:j1-j0]
		if s.data != nil {
			copy(row, s.data[i*s.stride+j0:])
			continue
		}
		for j := j0; j < j1; j++ {
			if i != j {
				row[j-j0] = s.m.At(i, j)
			}
		}
	}
}

// pair is the smallest sample from row i to column j of the square, the smallest back, and the measurement
// of the pair; NaN if never measured. It is not ok if one is not valid. Which of two is the smaller is an
// even chance, so for up to two repetitions without gaps it is found without a branch.
func (t *tiles) pair(i, j int) (there, back, both float64, ok bool) {
	x, y := i*tile+j, j*tile+i
	switch len(t.sources) {
	case 1:
		there, back = t.there[0][x], t.back[0][y]
		if math.Abs(there)+math.Abs(back) <= math.MaxFloat32 {
			return there, back, min(there, back), true
		}
	case 2:
		a, b := t.there[0][x], t.there[1][x]
		c, d := t.back[0][y], t.back[1][y]
		if math.Abs(a)+math.Abs(b)+math.Abs(c)+math.Abs(d) <= math.MaxFloat32 {
			there, back = min(a, b), min(c, d)
			return there, back, (min(there, back) + min(max(there, back), max(a, b), max(c, d))) / 2, true
		}
	}
	// Some is not a number or huge, or there are more.
	t.values = t.values[:0]
	there, one := t.direction(t.there, x)
	back, other := t.direction(t.back, y)
	ok = one+other <= math.MaxFloat32 || allValid(t.there, x) && allValid(t.back, y)
	return there, back, Combine(t.values), ok
}

// direction appends cell x of each square to the values. It returns the smallest one, NaN if there is none, and
// the sum of the sizes of all.
func (t *tiles) direction(squares [][]float64, x int) (least, sizes float64) {
	least = math.Inf(1)
	for _, square := range squares {
		if v := square[x]; v == v {
			sizes += math.Abs(v)
			t.values = append(t.values, v)
			least = min(least, v)
		}
	}
	if math.IsInf(least, 1) {
		least = math.NaN()
	}
	return least, sizes
}

// allValid tells whether cell x of each square is valid or not measured.
func allValid(squares [][]float64, x int) bool {
	for _, square := range squares {
		if v := square[x]; v == v && !valid(v) {
			return false
		}
	}
	return true
}
