package main

import (
	"gonum.org/v1/gonum/floats"

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
	stride  int
	out, in []float64 // an edge to send, and one that comes
}

func newPlate(rank, n int, g gridjob.Grid) *plate {
	p := &plate{Grid: g, n: n}
	p.row, p.col = g.Place(rank)
	p.top, p.left = p.row*n/g.Rows, p.col*n/g.Cols
	p.height, p.width = (p.row+1)*n/g.Rows-p.top, (p.col+1)*n/g.Cols-p.left
	p.stride = p.width + 2
	p.out, p.in = make([]float64, max(p.height, p.width)), make([]float64, max(p.height, p.width))
	return p
}

// vector returns a vector of zeros with its frame.
func (p *plate) vector() []float64 { return make([]float64, (p.height+2)*p.stride) }

// line returns row i of the points of this rank. Rows -1 and height are the frame.
func (p *plate) line(v []float64, i int) []float64 {
	at := (i+1)*p.stride + 1
	return v[at : at+p.width]
}

// A direction is where the edges go in one step of an exchange.
type direction struct{ down, right int }

// directions are the steps of an exchange: up, down, left and right, one after the other.
func directions() []direction { return []direction{{-1, 0}, {1, 0}, {0, -1}, {0, 1}} }

// neighbour returns the rank beside that of a row and a column of the grid, or None beyond the edge of the grid.
func (p *plate) neighbour(row, col int, d direction) int {
	row, col = row+d.down, col+d.right
	if row < 0 || row >= p.Rows || col < 0 || col >= p.Cols {
		return collective.None
	}
	return p.Rank(row, col)
}

// edge returns where the points of an edge are in a vector: those that go in a direction, and those of the frame that come from
// the other side. Both have the same number of points, as far apart.
func (p *plate) edge(d direction) (out, in, step, points int) {
	first := p.stride + 1
	bottom, end := first+(p.height-1)*p.stride, first+p.width-1
	switch d {
	case direction{-1, 0}:
		return first, bottom + p.stride, 1, p.width
	case direction{1, 0}:
		return bottom, first - p.stride, 1, p.width
	case direction{0, -1}:
		return first, end + 1, p.stride, p.height
	}
	return end, first - 1, p.stride, p.height
}

// exchange is collective: it updates the frame of v.
func (p *plate) exchange(c *collective.Comm, v []float64) error {
	const tag = 1
	for _, d := range directions() {
		out, in, step, points := p.edge(d)
		for i := range points {
			p.out[i] = v[out+i*step]
		}
		to, from := p.neighbour(p.row, p.col, d), p.neighbour(p.row, p.col, direction{-d.down, -d.right})
		if err := collective.Sendrecv(c, p.in[:points], from, p.out[:points], to, tag); err != nil {
			return err
		}
		for i := 0; i < points && from != collective.None; i++ {
			v[in+i*step] = p.in[i]
		}
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
		sum += floats.Dot(p.line(x, i), p.line(y, i))
	}
	return sum
}
