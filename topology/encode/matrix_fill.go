package encode

import (
	"errors"
	"fmt"
	"math"
)

// fill puts the latencies into their places and checks them.
func (t *table) fill(s *shape) ([]float64, error) {
	body := t.body(s)
	cells := t.cells[:0] // a full matrix moves to the front, which it has not left
	if s.form != full {
		cells = make([]float64, 0, s.n*s.n)
	}
	if s.form != full {
		for range s.n * s.n {
			cells = append(cells, math.NaN())
		}
	}
	if !t.own && t.isSLIT(s, body) {
		return nil, unitError{errors.New("line 1: distances between NUMA nodes, as numactl prints ACPI's SLIT (10 to itself), are no times: measure them by topocast measure")}
	}
	for i, r := range body {
		from, to := s.at(i)
		for k := range s.width(r) {
			at := r.start + s.index + k
			v := t.cells[at]
			column := at - r.start + 1
			switch {
			case i == 0 && !s.header && t.first[column-1].word, column == 1 && r.head.word:
				word := r.head.text
				if i == 0 && !s.header {
					word = t.first[column-1].text
				}
				return nil, t.notANumber(r.line, column, []byte(word))
			case from == to+k:
				v = math.NaN()
			case math.IsInf(v, 0):
				return nil, fmt.Errorf("line %d, column %d: %g is not finite", r.line, column, v)
			case v < 0:
				return nil, fmt.Errorf("line %d, column %d: latency %g is negative", r.line, column, v/float64(t.unit))
			}
			if s.form == full {
				cells = append(cells, v)
			} else {
				cells[from*s.n+to+k] = v
			}
		}
	}
	return cells, nil
}

// isSLIT tells whether a table is the System Locality Information Table of ACPI: whole numbers from 10 to 255, relative to the 10 that
// each node is from itself.
func (t *table) isSLIT(s *shape, body []row) bool {
	if s.form != full || s.n < 2 {
		return false
	}
	for i, r := range body {
		for k := range s.n {
			x := t.cells[r.start+s.index+k] / float64(t.unit)
			if !isWhole(x) || x < 9.5 || x > 255.5 || (i == k) != (math.Round(x) == 10) {
				return false
			}
		}
	}
	return true
}

// mirror copies a lone triangle into the other.
func mirror(cells []float64, n int) {
	var upper, lower bool
	for i := range n {
		for j := range i {
			lower = lower || !math.IsNaN(cells[i*n+j])
			upper = upper || !math.IsNaN(cells[j*n+i])
		}
	}
	if upper == lower {
		return
	}
	for i := range n {
		for j := range i {
			if upper {
				cells[i*n+j] = cells[j*n+i]
			} else {
				cells[j*n+i] = cells[i*n+j]
			}
		}
	}
}
