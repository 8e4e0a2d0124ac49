package main

import (
	"cmp"
	"fmt"
	"math"

	"github.com/topocast/topocast/examples/internal/gridjob"
	"github.com/topocast/topocast/mpi/collective"
)

// A solver solves A x = b on the ranks of comm.
type solver struct {
	comm  *collective.Comm
	plate *plate
	watch *gridjob.Watch
	add   func(values []float64) error // the Allreduce
	sum   [1]float64
	split
}

// split has the shares of the time of a rank, in s.
type split struct {
	total, edges, reduction, computation float64

	iterations int
}

// computed ends a piece of work of flops operations per point.
func (s *solver) computed(flops int) {
	s.watch.Computed(float64(flops * s.plate.height * s.plate.width))
	s.watch.Lap(&s.computation)
}

// dot is collective: a scalar product over all ranks. Its bits are the same on all ranks, so that all stop together.
func (s *solver) dot(x, y []float64) (float64, error) {
	s.sum[0] = s.plate.dot(x, y)
	s.computed(2)
	err := s.add(s.sum[:])
	s.watch.Lap(&s.reduction)
	return s.sum[0], err
}

// exact is the solution at a point. b is A times the solution.
func exact(n, i, j int) float64 {
	x, y := float64(i+1)/float64(n+1), float64(j+1)/float64(n+1)
	return x * (1 - x) * math.Sin(math.Pi*y) * (1 + x*y)
}

// solve is collective: it solves from x = 0 for a known solution (Hestenes, Stiefel 1952). It returns the times, and the largest
// error of the result at the points of this rank.
func (s *solver) solve(tolerance float64) (split, float64, error) {
	p := s.plate
	known, x, q := p.vector(), p.vector(), p.vector()
	r, d := p.vector(), p.vector()
	for i := range p.height {
		for j, line := 0, p.line(known, i); j < p.width; j++ {
			line[j] = exact(p.n, p.top+i, p.left+j)
		}
	}
	if err := p.exchange(s.comm, known); err != nil {
		return split{}, 0, err
	}
	p.apply(r, known) // b, which is the residual of 0
	copy(d, r)
	if err := collective.Barrier(s.comm); err != nil {
		return split{}, 0, err
	}
	s.split = split{}
	begin := s.watch.Start()
	rr, err := s.dot(r, r)
	enough := tolerance * tolerance * rr
	for limit := 10 * p.n; err == nil && rr > enough && s.iterations < limit; s.iterations++ {
		err = p.exchange(s.comm, d)
		s.watch.Lap(&s.edges)
		if err != nil {
			break
		}
		p.apply(q, d)
		s.computed(5)
		var dq, next float64
		if dq, err = s.dot(d, q); err != nil {
			break
		}
		p.add(x, rr/dq, d)
		p.add(r, -rr/dq, q)
		s.computed(4)
		if next, err = s.dot(r, r); err != nil {
			break
		}
		for i := range p.height {
			line, residual := p.line(d, i), p.line(r, i)
			for k := range line {
				line[k] = residual[k] + next/rr*line[k]
			}
		}
		s.computed(2)
		rr = next
	}
	if err != nil {
		return split{}, 0, err
	}
	s.total = s.watch.Lap(&s.computation) - begin
	if rr > enough {
		return split{}, 0, fmt.Errorf("no solution after %d iterations", s.iterations)
	}
	taken := s.split
	if err := s.isTrue(r, rr, x, known, q, d); err != nil {
		return split{}, 0, err
	}
	worst := 0.0
	for i := range p.height {
		a, b := p.line(x, i), p.line(known, i)
		for k := range a {
			worst = max(worst, math.Abs(a[k]-b[k]))
		}
	}
	return taken, worst, nil
}

// isTrue is collective: it compares the residual r of the iteration, whose square is rr, with the residual of the result, b - A x.
// Rounding makes them differ by little (Greenbaum 1997, theorem 2.2, where A has norm 8 and 5 entries in a row). b and ax are scratch
// memory.
func (s *solver) isTrue(r []float64, rr float64, x, known, b, ax []float64) error {
	p := s.plate
	if err := cmp.Or(p.exchange(s.comm, x), p.exchange(s.comm, known)); err != nil {
		return err
	}
	p.apply(ax, x)
	p.apply(b, known)
	p.add(b, -1, ax)
	p.add(b, -1, r)
	gap, err := s.dot(b, b)
	if err != nil {
		return err
	}
	size, err := s.dot(x, x)
	if err != nil {
		return err
	}
	const norm, row, eps = 8, 5, 0x1p-53
	bound := eps * norm * math.Sqrt(size) * float64(s.iterations+1) * (row + 5*math.Sqrt(row))
	if gap = math.Sqrt(gap); !(gap <= bound) {
		return fmt.Errorf("the residual that was kept, %g, is %g off that of the result, want at most %g", math.Sqrt(rr), gap, bound)
	}
	return nil
}
