package main

import (
	"errors"
	"fmt"
	"math"

	"gonum.org/v1/gonum/blas/blas64"
	"gonum.org/v1/gonum/mat"

	"github.com/topocast/topocast/mpi/collective"
)

// A block is the part of an n x n matrix that a rank has.
type block struct {
	blas64.General
	row, col int // of the matrix, of its first element
}

// newBlock returns the part of this rank. element gives the elements by their place; nil means 0.
func newBlock(g *grid, n int, element func(i, j int) float64) block {
	b := block{row: begin(g.row, g.Rows, n), col: begin(g.col, g.Cols, n)}
	rows, cols := begin(g.row+1, g.Rows, n)-b.row, begin(g.col+1, g.Cols, n)-b.col
	b.General = blas64.General{Rows: rows, Cols: cols, Stride: cols, Data: make([]float64, rows*cols)}
	if element != nil {
		for i := range rows {
			for j := range cols {
				b.Data[i*cols+j] = element(b.row+i, b.col+j)
			}
		}
	}
	return b
}

// part returns a view of rows and columns of a matrix.
func part(m blas64.General, rows, cols, fromRow, fromCol int) blas64.General {
	v := blas64.General{Rows: rows, Cols: cols, Stride: m.Stride}
	if rows > 0 && cols > 0 {
		v.Data = m.Data[fromRow*m.Stride+fromCol:]
	}
	return v
}

// pack copies a matrix to buf, without gaps.
func pack(buf []float64, m blas64.General) blas64.General {
	for i := range m.Rows {
		copy(buf[i*m.Cols:(i+1)*m.Cols], m.Data[i*m.Stride:])
	}
	return blas64.General{Rows: m.Rows, Cols: m.Cols, Stride: max(1, m.Cols), Data: buf[:m.Rows*m.Cols]}
}

// whole is collective: it returns the matrix that has the blocks b on rank 0, and nil on other ranks.
func whole(c *collective.Comm, g *grid, n int, b block) (*mat.Dense, error) {
	counts := make([]int, g.Rows*g.Cols)
	at := make([]block, len(counts))
	for rank := range counts {
		other := *g
		other.row, other.col = g.Place(rank)
		at[rank] = block{row: begin(other.row, g.Rows, n), col: begin(other.col, g.Cols, n)}
		at[rank].Rows, at[rank].Cols = begin(other.row+1, g.Rows, n)-at[rank].row, begin(other.col+1, g.Cols, n)-at[rank].col
		counts[rank] = at[rank].Rows * at[rank].Cols
	}
	var all []float64
	isRoot := g.Rank(g.row, g.col) == 0
	if isRoot {
		all = make([]float64, n*n)
	}
	if err := collective.Gatherv(c, all, counts, b.Data, 0); err != nil || !isRoot {
		return nil, err
	}
	m := mat.NewDense(n, n, nil)
	for _, p := range at {
		for i := range p.Rows {
			copy(m.RawRowView(p.row + i)[p.col:p.col+p.Cols], all[i*p.Cols:])
		}
		all = all[p.Rows*p.Cols:]
	}
	return m, nil
}

// The elements of the matrices, which every rank knows.

func elementA(i, j int) float64 { return float64((3*i+5*j)%17)/17 - 0.5 }
func elementB(i, j int) float64 { return float64((7*i+2*j)%13)/13 - 0.5 }

// elementU is upper triangular with a strong diagonal, so that errors do not grow.
func elementU(i, j int) float64 {
	switch {
	case i > j:
		return 0
	case i == j:
		return 4
	}
	return elementA(i, j) / float64(1+j-i)
}

func dense(n int, element func(i, j int) float64) *mat.Dense {
	m := mat.NewDense(n, n, nil)
	for i := range n {
		for j := range n {
			m.Set(i, j, element(i, j))
		}
	}
	return m
}

// agree compares a matrix with the result of gonum.
func agree(got, want *mat.Dense) error {
	n, _ := got.Dims()
	var difference mat.Dense
	difference.Sub(got, want)
	if math.IsNaN(mat.Sum(&difference)) { // which Max and Min pass over
		return errors.New("there are elements that are no numbers")
	}
	// Sums of n products of numbers up to 4 are rounded n times at most (Higham 2002, section 3.1).
	bound := 16 * float64(n) * float64(n) * 0x1p-53
	if worst := math.Max(mat.Max(&difference), -mat.Min(&difference)); !(worst <= bound) {
		return fmt.Errorf("elements are up to %g away from gonum's, want at most %g", worst, bound)
	}
	return nil
}
