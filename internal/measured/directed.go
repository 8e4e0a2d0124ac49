package measured

import (
	"fmt"
	"math"
	"slices"

	"github.com/topocast/topocast/internal/stats"
	"gonum.org/v1/gonum/mat"
)

// Directed holds one latency in s per ordered pair of hosts, for methods that do not assume that both
// directions are alike.
type Directed struct {
	n        int
	d        []float64 // n*n row by row; NaN: not measured; the diagonal is 0
	noise    float64
	negative int // cells below zero that became zero
}

// DirectedOf is what methods take that do not assume nested groups: matrices, checked as by New,
// combined, without values below zero.
func DirectedOf(by string, matrices []mat.Matrix) (*Directed, error) {
	m, err := New(by, matrices)
	if err != nil {
		return nil, err
	}
	d, err := m.Directed()
	if err != nil {
		return nil, err
	}
	d.fromZero()
	return d, nil
}

// Directed combines the samples of each ordered pair by Combine, when the repetitions are on one level. O(n^2) for each
// repetition.
func (m *Repetitions) Directed() (*Directed, error) {
	n := m.n
	d := &Directed{n: n, d: make([]float64, n*n)}
	values := make([]float64, 0, len(m.sources))
	levels := m.levels(true)
	var apart stats.Differences
	for i := range n {
		row := d.d[i*n : (i+1)*n]
		for j := range row {
			if i == j {
				continue
			}
			values = values[:0]
			for k := range m.sources {
				if v := m.sources[k].at(i, j); v == v {
					if !valid(v) {
						return nil, m.refuse(i, j)
					}
					if levels != nil {
						v *= levels[k]
					}
					values = append(values, v)
				}
			}
			if len(values) >= 2 {
				apart.Add(values[0], values[1])
			}
			row[j] = Combine(values)
		}
	}
	d.noise = stats.SigmaOfOne(apart)
	return d, nil
}

// fromZero takes measurements below zero, of which an overhead was subtracted, as zero.
func (d *Directed) fromZero() {
	for i, v := range d.d {
		if v < 0 {
			d.negative++
			d.d[i] = 0
		}
	}
}

// N is the number of hosts.
func (d *Directed) N() int { return d.n }

// At is the measurement from host i to host j; NaN: not measured; 0 for i = j.
func (d *Directed) At(i, j int) float64 { return d.d[i*d.n+j] }

// Cells are all measurements, row by row. They must not be changed.
func (d *Directed) Cells() []float64 { return d.d }

// Noise is the relative standard deviation of one measurement, from how the first two repetitions of each cell
// differ; NaN if no cell has two.
func (d *Directed) Noise() float64 { return d.noise }

// Pairs copies the measurements into a symmetric matrix, row by row, of the smaller, or only,
// measurement of both directions. Zeros become half the smallest above zero. O(n^2).
func (d *Directed) Pairs() []float64 {
	s := slices.Clone(d.d)
	least := math.Inf(1)
	for i := range d.n {
		for j := range i {
			a, b := d.d[i*d.n+j], d.d[j*d.n+i]
			if b < a || math.IsNaN(a) {
				a = b
			}
			s[i*d.n+j], s[j*d.n+i] = a, a
			if a > 0 && a < least {
				least = a
			}
		}
	}
	if math.IsInf(least, 1) {
		return s // nothing but zeros
	}
	for i, v := range s {
		if v == 0 && i%(d.n+1) != 0 {
			s[i] = lifted(least)
		}
	}
	return s
}

// Asymmetry tells of the pairs whose directions differ, from the slower end of the worst. O(n^2).
func (d *Directed) Asymmetry() Asymmetry {
	var a Asymmetry
	for i := range d.n {
		for j := range d.n {
			a.add(d.At(i, j), d.At(j, i), i, j)
		}
	}
	return a
}

// Warnings names what is uncertain in the measurements.
func (d *Directed) Warnings() []string {
	var w []string
	if d.negative > 0 {
		w = append(w, fmt.Sprintf("%d measurements are below zero and were taken as zero", d.negative))
	}
	missing := 0
	for _, v := range d.d {
		if math.IsNaN(v) {
			missing++
		}
	}
	if missing > 0 {
		w = append(w, fmt.Sprintf("%d of %d measurements were not measured", missing, d.n*(d.n-1)))
	}
	return w
}
