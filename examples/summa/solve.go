package main

import (
	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas64"
)

// solve is collective: it replaces x, which is B at first, by the solution of X U = B (Servet 3.0, section 6.1). Each step has four parts:
//   - Some rows of U are broadcast along the columns of the grid, as far as they are not 0.
//   - The column of the grid that has these columns of X solves for them.
//   - The columns of X are broadcast along the rows of the grid.
//   - All ranks subtract what belongs to them from the rest of B.
func (j *job) solve(u, x block) error {
	vertical, horizontal := make([]float64, j.panel*u.Cols), make([]float64, x.Rows*j.panel)
	for _, s := range j.grid.steps(j.n, j.panel) {
		width := s.to - s.from
		first := max(s.from, u.col) // of the columns of U of this rank; all before are done
		cols := u.col + u.Cols - first
		if err := j.meet(); err != nil {
			return err
		}
		if cols > 0 {
			if j.grid.row == s.row {
				pack(vertical, part(u.General, width, cols, s.from-u.row, first-u.col))
			}
			if err := j.cast(j.col, vertical[:width*cols], s.row); err != nil {
				return err
			}
		}
		rows := packed(width, max(0, cols), vertical)
		if j.grid.col == s.col {
			solved := part(x.General, x.Rows, width, 0, s.from-x.col)
			if x.Rows > 0 {
				blas64.Trsm(blas.Right, blas.NoTrans, 1, blas64.Triangular{Uplo: blas.Upper, Diag: blas.NonUnit, N: width, Stride: rows.Stride, Data: rows.Data}, solved)
			}
			j.watch.Computed(float64(width * width * x.Rows))
			pack(horizontal, solved)
		}
		if err := j.meet(); err != nil {
			return err
		}
		if err := j.cast(j.row, horizontal[:x.Rows*width], s.col); err != nil {
			return err
		}
		done := 0 // columns among the broadcast ones that are solved
		if j.grid.col == s.col {
			done = width
		}
		if left := cols - done; left > 0 {
			err := j.add(-1, packed(x.Rows, width, horizontal), part(rows, width, left, 0, done), part(x.General, x.Rows, left, 0, first+done-x.col))
			if err != nil {
				return err
			}
		}
	}
	return nil
}
