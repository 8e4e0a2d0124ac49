package main

import (
	"errors"

	"github.com/topocast/topocast/examples/internal/gridjob"
	"github.com/topocast/topocast/mpi"
)

// A grid has the ranks in rows and columns, and a communicator of each row and each column.
type grid struct {
	gridjob.Grid
	row, col int              // of this rank
	alongRow mpi.Communicator // ranks of the row of this rank, in the order of columns
	alongCol mpi.Communicator
}

// newGrid is collective: it makes the communicators.
func newGrid(comm mpi.Communicator, shape gridjob.Grid) (*grid, error) {
	splitter, ok := comm.(mpi.Splitter)
	if !ok {
		return nil, errors.New("the communicator cannot be split")
	}
	g := &grid{Grid: shape}
	g.row, g.col = g.Place(comm.Rank())
	var err error
	if g.alongRow, err = splitter.Split(g.row, g.col); err == nil {
		g.alongCol, err = splitter.Split(g.col, g.row)
	}
	return g, err
}

// begin returns where part i begins if n rows or columns are cut into parts.
func begin(i, parts, n int) int { return i * n / parts }

// owner returns the part that element k is in.
func owner(k, parts, n int) int {
	i := k * parts / n
	for begin(i+1, parts, n) <= k {
		i++
	}
	return i
}

// A step is a range of columns of one matrix, and of rows of the other. The columns lie in one column of the grid, and the rows in one row.
type step struct {
	from, to int
	row, col int // of the grid
}

// steps cuts n columns and rows into steps of at most panel.
func (g *grid) steps(n, panel int) []step {
	var all []step
	for k := 0; k < n; {
		s := step{from: k, row: owner(k, g.Rows, n), col: owner(k, g.Cols, n)}
		s.to = min(k+panel, begin(s.row+1, g.Rows, n), begin(s.col+1, g.Cols, n))
		all = append(all, s)
		k = s.to
	}
	return all
}
