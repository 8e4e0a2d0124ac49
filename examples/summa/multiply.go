package main

// multiply is collective: it adds A B to C, of which each rank has a block (van de Geijn, Watts 1997). In every step, some columns of A are
// broadcast along the rows of the grid, and as many rows of B along its columns.
func (j *job) multiply(a, b, c block) error {
	steps := j.grid.steps(j.n, j.panel)
	var panels [2]struct{ a, b []float64 } // two, for overlap
	for i := range panels {
		panels[i].a, panels[i].b = make([]float64, a.Rows*j.panel), make([]float64, j.panel*b.Cols)
	}
	send := func(i int) error {
		s, to := steps[i], panels[i%2]
		width := s.to - s.from
		if j.grid.col == s.col {
			pack(to.a, part(a.General, a.Rows, width, 0, s.from-a.col))
		}
		if j.grid.row == s.row {
			pack(to.b, part(b.General, width, b.Cols, s.from-b.row, 0))
		}
		if err := j.meet(); err != nil {
			return err
		}
		if err := j.cast(j.row, to.a[:a.Rows*width], s.col); err != nil {
			return err
		}
		return j.cast(j.col, to.b[:width*b.Cols], s.row)
	}
	next := 0 // the first step that is not sent
	for i, s := range steps {
		if next == i {
			if err := send(next); err != nil {
				return err
			}
			next++
		}
		if err := j.arrive(); err != nil {
			return err
		}
		if j.overlap && next < len(steps) {
			if err := send(next); err != nil {
				return err
			}
			next++
		}
		width, have := s.to-s.from, panels[i%2]
		if err := j.add(1, packed(a.Rows, width, have.a), packed(width, b.Cols, have.b), c.General); err != nil {
			return err
		}
	}
	return nil
}
