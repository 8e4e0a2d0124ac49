package main

import (
	"github.com/topocast/topocast/examples/internal/gridjob"
	"github.com/topocast/topocast/mpi/collective"
)

// A plate is this rank's part of a square of n x n points, whose edge has the value 0. Ranks are in a grid.
type plate struct {
	gridjob.Grid
	n             int
	row, col      int // of this rank
	top, left     int // of its first point
	height, width int // of its part

	// Vectors have a frame of one point, of which the neighbours have the values.
	stride int
	out    []float64 // a column, to send
	in     []float64
}

func newPlate(rank, n int, g gridjob.Grid) *plate {
	p := &plate{Grid: g, n: n}
	p.row, p.col = g.Place(rank)
	p.top, p.left = p.row*n/g.Rows, p.col*n/g.Cols
	p.height, p.width = (p.row+1)*n/g.Rows-p.top, (p.col+1)*n/g.Cols-p.left
	p.stride = p.width + 2
	p.out, p.in = make([]float64, p.height), make([]float64, p.height)
	return p
}

// rank is the one at a row and a column; None beyond the edge.
func (p *plate) rank(row, col int) int {
	if row < 0 || row >= p.Rows || col < 0 || col >= p.Cols {
		return collective.None
	}
	return p.Rank(row, col)
}

// vector is one of zeros, with its frame.
func (p *plate) vector() []float64 { return make([]float64, (p.height+2)*p.stride) }

// line is row i of this rank's points, from -1 (the frame) to height.
func (p *plate) line(v []float64, i int) []float64 {
	at := (i+1)*p.stride + 1
	return v[at : at+p.width]
}

const tag = 1

// exchange brings the frame of v up to date: lines go up and down, then columns left and right.
func (p *plate) exchange(c *collective.Comm, v []float64) error {
	above, below := p.rank(p.row-1, p.col), p.rank(p.row+1, p.col)
	if err := collective.Sendrecv(c, p.line(v, p.height), below, p.line(v, 0), above, tag); err != nil {
		return err
	}
	if err := collective.Sendrecv(c, p.line(v, -1), above, p.line(v, p.height-1), below, tag); err != nil {
		return err
	}
	left, right := p.rank(p.row, p.col-1), p.rank(p.row, p.col+1)
	if err := p.column(c, v, left, 1, right, p.width+1); err != nil {
		return err
	}
	return p.column(c, v, right, p.width, left, 0)
}

// column sends a column to one side and receives another from the other. Columns count from that of the frame.
func (p *plate) column(c *collective.Comm, v []float64, to, out, from, in int) error {
	for i := range p.out {
		p.out[i] = v[(i+1)*p.stride+out]
	}
	if err := collective.Sendrecv(c, p.in, from, p.out, to, tag); err != nil || from == collective.None {
		return err
	}
	for i, x := range p.in {
		v[(i+1)*p.stride+in] = x
	}
	return nil
}

// apply sets y to A x, where A is 4 at each point and -1 at its neighbours.
func (p *plate) apply(y, x []float64) {
	for i := range p.height {
		at := (i+1)*p.stride + 1
		for k := at; k < at+p.width; k++ {
			y[k] = 4*x[k] - x[k-1] - x[k+1] - x[k-p.stride] - x[k+p.stride]
		}
	}
}

// dot is this rank's part of a scalar product.
func (p *plate) dot(x, y []float64) float64 {
	sum := 0.0
	for i := range p.height {
		a, b := p.line(x, i), p.line(y, i)
		for k := range a {
			sum += a[k] * b[k]
		}
	}
	return sum
}

// add adds a multiple of x to y.
func (p *plate) add(y []float64, alpha float64, x []float64) {
	for i := range p.height {
		a, b := p.line(y, i), p.line(x, i)
		for k := range a {
			a[k] += alpha * b[k]
		}
	}
}
