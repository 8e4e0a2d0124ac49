package main

import (
	"github.com/topocast/topocast/examples/internal/gridjob"
	"github.com/topocast/topocast/mpi/collective"
)

// A plate is the part of this rank of a square of n x n points. The edge of the square has the value 0.
type plate struct {
	gridjob.Grid
	n             int
	row, col      int // of this rank
	top, left     int // of its first point
	height, width int // of its part

	// A vector has a frame of one point around the part. Neighbours own the values of the frame.
	stride int
	out    []float64 // a column to send
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

// rank returns the rank at a row and a column of the grid, or None beyond its edge.
func (p *plate) rank(row, col int) int {
	if row < 0 || row >= p.Rows || col < 0 || col >= p.Cols {
		return collective.None
	}
	return p.Rank(row, col)
}

// vector returns a vector of zeros with its frame.
func (p *plate) vector() []float64 { return make([]float64, (p.height+2)*p.stride) }

// line returns row i of the points of this rank. Rows -1 and height are the frame.
func (p *plate) line(v []float64, i int) []float64 {
	at := (i+1)*p.stride + 1
	return v[at : at+p.width]
}

const tag = 1

// exchange is collective: it updates the frame of v. Lines go up and down, then columns left and right.
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

// column sends column out to rank to, and receives column in from rank from. Column 0 is the frame.
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

// apply sets y to A x. A has 4 at each point and -1 at its neighbours.
func (p *plate) apply(y, x []float64) {
	for i := range p.height {
		at := (i+1)*p.stride + 1
		for k := at; k < at+p.width; k++ {
			y[k] = 4*x[k] - x[k-1] - x[k+1] - x[k-p.stride] - x[k+p.stride]
		}
	}
}

// dot returns the part of this rank of a scalar product.
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
