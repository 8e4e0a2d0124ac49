package readings

import "math"

// Symmetric brings repetitions to one level (see levels) and combines all samples of a pair, of the repetitions
// and of both directions, by Combine.
//
// A reading of zero (a coarse timer) or below (an overhead subtracted) becomes half the
// smallest above zero. Pairs measured in no repetition are estimated, see Symmetric; ErrDisconnected
// is returned if they leave the hosts in parts. O(n^2) for scattered holes.
func (m *Repetitions) Symmetric() (*Symmetric, *Quality, error) {
	n := m.n
	s := newSymmetric(n)
	q := &Quality{}
	smallest := float32(math.Inf(1))
	p := &pairs{sources: m.sources, levels: m.levels()}
	for i0 := 0; i0 < n; i0 += tile {
		for j0 := 0; j0 <= i0; j0 += tile {
			for i := i0; i < min(i0+tile, n); i++ {
				row := s.Row(i)
				for j := j0; j < min(j0+tile, i); j++ {
					there, back, v, ok := p.combine(i, j)
					if !ok {
						return nil, nil, m.refuse(i, j)
					}
					if there > 0 && back > 0 {
						q.Asymmetry.add(max(there, back), min(there, back), j, i)
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
	q.Noise, q.Tick = m.noise(p.levels), m.tick()
	if q.Holes > 0 {
		if err := s.fill(m.by); err != nil {
			return nil, nil, err
		}
	}
	return s, q, nil
}

// liftZeros replaces readings of zero. Where there is nothing else all pairs are alike.
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

// tile is the side of the squares of cells that are combined one after the other: the cells of a square, and those
// across the diagonal, stay in the cache.
const tile = 32

// pairs makes one measurement of the samples of each pair.
type pairs struct {
	sources []source
	levels  []float64 // factors of the sources; nil: 1
	values  []float64 // scratch
}

// combine returns the smallest sample from host i to host j, the smallest back, and the measurement of the pair; NaN if
// there is none. It is not ok if a sample is not valid.
func (p *pairs) combine(i, j int) (there, back, both float64, ok bool) {
	p.values = p.values[:0]
	there, back = math.NaN(), math.NaN()
	for k := range p.sources {
		a, b := p.sources[k].at(i, j), p.sources[k].at(j, i)
		if p.levels != nil {
			a, b = p.levels[k]*a, p.levels[k]*b
		}
		if a == a {
			p.values = append(p.values, a)
			there = lesser(there, a)
		}
		if b == b {
			p.values = append(p.values, b)
			back = lesser(back, b)
		}
	}
	for _, v := range p.values {
		if !valid(v) {
			return 0, 0, 0, false
		}
	}
	return there, back, Combine(p.values), true
}

// lesser is the smaller of a value, or NaN, and a sample.
func lesser(value, sample float64) float64 {
	if value < sample {
		return value
	}
	return sample
}
