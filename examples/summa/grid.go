package main

import (
	"errors"
	"fmt"

	"github.com/topocast/topocast/mpi"
)

// A grid arranges ranks in rows and columns: in the order of rows, rank i*cols + j is at row i and column j,
// in the order of columns j*rows + i.
type grid struct {
	rows, cols int
	byRows     bool
	row, col   int              // of this rank
	alongRow   mpi.Communicator // of the ranks of this rank's row, in the order of columns
	alongCol   mpi.Communicator
}

// newGrid is collective.
func newGrid(comm mpi.Communicator, rows, cols int, byRows bool) (*grid, error) {
	splitter, ok := comm.(mpi.Splitter)
	if !ok {
		return nil, errors.New("summa: the communicator cannot be split")
	}
	g := &grid{rows: rows, cols: cols, byRows: byRows}
	g.row, g.col = g.place(comm.Rank())
	var err error
	if g.alongRow, err = splitter.Split(g.row, g.col); err == nil {
		g.alongCol, err = splitter.Split(g.col, g.row)
	}
	return g, err
}

// place is the row and the column of a rank.
func (g *grid) place(rank int) (row, col int) {
	if g.byRows {
		return rank / g.cols, rank % g.cols
	}
	return rank % g.rows, rank / g.rows
}

// shape is that of a grid of so many ranks, of which the user may have said something.
func shape(ranks, rows, cols int) (int, int, error) {
	if rows == 0 {
		for rows = 1; (rows+1)*(rows+1) <= ranks; rows++ {
		}
		for ranks%rows != 0 {
			rows--
		}
		cols = ranks / rows
	}
	if rows*cols != ranks {
		return 0, 0, fmt.Errorf("summa: grid of %d x %d: want one of %d ranks", rows, cols, ranks)
	}
	return rows, cols, nil
}

// begin is where part i of n rows or columns begins, of so many parts.
func begin(i, parts, n int) int { return i * n / parts }

// owner is the part that element k is in.
func owner(k, parts, n int) int {
	i := k * parts / n
	for begin(i+1, parts, n) <= k {
		i++
	}
	return i
}

// A step is a range of columns of one matrix and rows of the other that lies in one column and one row of the
// grid.
type step struct {
	from, to int
	row, col int // of the grid
}

// steps cut n columns and rows in steps of at most so many.
func (g *grid) steps(n, panel int) []step {
	var all []step
	for k := 0; k < n; {
		s := step{from: k, row: owner(k, g.rows, n), col: owner(k, g.cols, n)}
		s.to = min(k+panel, begin(s.row+1, g.rows, n), begin(s.col+1, g.cols, n))
		all = append(all, s)
		k = s.to
	}
	return all
}
