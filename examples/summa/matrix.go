package main

import (
	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas64"

	"github.com/topocast/topocast/examples/internal/gridjob"
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
	b.General = blas64.General{Rows: rows, Cols: cols, Stride: max(1, cols), Data: make([]float64, rows*cols)}
	for i := 0; i < rows && element != nil; i++ {
		for j := range cols {
			b.Data[i*b.Stride+j] = element(b.row+i, b.col+j)
		}
	}
	return b
}

// product returns what BLAS says of the part of this rank of the product of two matrices, from whole rows and columns of them.
func product(g *grid, n int, left, right func(i, j int) float64) block {
	c := newBlock(g, n, nil)
	rows := newBlock(&grid{Grid: gridjob.Grid{Rows: g.Rows, Cols: 1}, row: g.row}, n, left)
	cols := newBlock(&grid{Grid: gridjob.Grid{Rows: 1, Cols: g.Cols}, col: g.col}, n, right)
	blas64.Gemm(blas.NoTrans, blas.NoTrans, 1, rows.General, cols.General, 0, c.General)
	return c
}

// tolerance is how far elements may be off: sums of n products of numbers up to 4 are rounded n times at most (Higham 2002,
// section 3.1).
func tolerance(n int) float64 { return 16 * float64(n) * float64(n) * 0x1p-53 }

// part returns a view of rows and columns of a matrix.
func part(m blas64.General, rows, cols, fromRow, fromCol int) blas64.General {
	v := blas64.General{Rows: rows, Cols: cols, Stride: m.Stride}
	if rows > 0 && cols > 0 {
		v.Data = m.Data[fromRow*m.Stride+fromCol:]
	}
	return v
}

// pack copies a matrix to buf, without gaps.
func pack(buf []float64, m blas64.General) {
	for i := range m.Rows {
		copy(buf[i*m.Cols:(i+1)*m.Cols], m.Data[i*m.Stride:])
	}
}

// packed is a matrix that pack has made.
func packed(rows, cols int, data []float64) blas64.General {
	return blas64.General{Rows: rows, Cols: cols, Stride: max(1, cols), Data: data[:rows*cols]}
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
