package main

import "gonum.org/v1/gonum/blas/blas64"

// multiply is collective: it adds A B to C, of which each rank has a block (van de Geijn, Watts 1997). In every step, some columns of A are
// broadcast along the rows of the grid, and as many rows of B along its columns.
func (j *job) multiply(a, b, c block) error {
	steps := j.grid.steps(j.n, j.panel)
	var panels [2]struct{ a, b []float64 } // two, for overlap
	for i := range panels {
		panels[i].a, panels[i].b = make([]float64, a.Rows*j.panel), make([]float64, j.panel*b.Cols)
	}
	packed := func(i int) (step, []float64, []float64) {
		s, to := steps[i], panels[i%2]
		width := s.to - s.from
		if j.grid.col == s.col {
			pack(to.a, part(a.General, a.Rows, width, 0, s.from-a.col))
		}
		if j.grid.row == s.row {
			pack(to.b, part(b.General, width, b.Cols, s.from-b.row, 0))
		}
		return s, to.a[:a.Rows*width], to.b[:width*b.Cols]
	}
	var next [2]pending
	start := func(i int) error {
		s, a, b := packed(i)
		var err error
		if next[0], err = j.start(j.row, a, s.col); err == nil {
			next[1], err = j.start(j.col, b, s.row)
		}
		return err
	}
	arrive := func(i int) error {
		if !j.overlap {
			s, a, b := packed(i)
			if err := j.meet(); err != nil {
				return err
			}
			if err := j.cast(j.row, a, s.col); err != nil {
				return err
			}
			return j.cast(j.col, b, s.row)
		}
		if i == 0 {
			if err := start(i); err != nil {
				return err
			}
		}
		for _, p := range next {
			if err := j.wait(p); err != nil {
				return err
			}
		}
		next = [2]pending{}
		if i+1 < len(steps) {
			return start(i + 1)
		}
		return nil
	}
	for i, s := range steps {
		if err := arrive(i); err != nil {
			return err
		}
		width, have := s.to-s.from, panels[i%2]
		if err := j.add(1, tight(a.Rows, width, have.a), tight(width, b.Cols, have.b), c.General, next[:]...); err != nil {
			return err
		}
	}
	return nil
}

// tight is a matrix that pack has made.
func tight(rows, cols int, data []float64) blas64.General {
	return blas64.General{Rows: rows, Cols: cols, Stride: max(1, cols), Data: data[:rows*cols]}
}
