package main

import (
	"fmt"
	"math"

	"gonum.org/v1/gonum/floats"

	"github.com/topocast/topocast/examples/internal/gridjob"
	"github.com/topocast/topocast/mpi/collective"
)

// A solver solves A x = b on the ranks of comm.
type solver struct {
	comm  *collective.Comm
	plate *plate
	watch *gridjob.Watch
	add   func(values []float64) error // the Allreduce

	x, r, d, q []float64 // the result, the residual, the direction of search, and A d
	sum        [1]float64

	// Shares of the time of this rank, in s.
	edges, reduction, computation float64
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

// solve is collective: it solves from x = 0 for a known solution (Hestenes, Stiefel 1952). It returns the time in s, the largest
// error of the result at the points of this rank, and the number of iterations.
func (s *solver) solve(tolerance float64) (total, worst float64, iterations int, err error) {
	p := s.plate
	known := p.vector()
	s.x, s.r, s.d, s.q = p.vector(), p.vector(), p.vector(), p.vector()
	for i := range p.height {
		for j, line := 0, p.line(known, i); j < p.width; j++ {
			line[j] = exact(p.n, p.top+i, p.left+j)
		}
	}
	if err := p.exchange(s.comm, known); err != nil {
		return 0, 0, 0, err
	}
	p.apply(s.r, known) // b, which is the residual of 0
	copy(s.d, s.r)
	if err := collective.Barrier(s.comm); err != nil {
		return 0, 0, 0, err
	}
	begin := s.watch.Start()
	rr, err := s.dot(s.r, s.r)
	enough := tolerance * tolerance * rr
	for limit := 10 * p.n; err == nil && rr > enough && iterations < limit; iterations++ {
		rr, err = s.iterate(rr)
	}
	total = s.watch.Lap(&s.computation) - begin
	if err == nil && rr > enough {
		err = fmt.Errorf("no solution after %d iterations", iterations)
	}
	for i := range p.height {
		worst = max(worst, gridjob.Farthest(p.line(s.x, i), p.line(known, i)))
	}
	return total, worst, iterations, err
}

// iterate is collective: it takes one step from a residual whose square is rr, and returns the next square.
func (s *solver) iterate(rr float64) (float64, error) {
	if err := s.plate.exchange(s.comm, s.d); err != nil {
		return 0, err
	}
	s.watch.Lap(&s.edges)
	s.plate.apply(s.q, s.d)
	s.computed(5)
	dq, err := s.dot(s.d, s.q)
	if err != nil {
		return 0, err
	}
	floats.AddScaled(s.x, rr/dq, s.d)
	floats.AddScaled(s.r, -rr/dq, s.q)
	s.computed(4)
	next, err := s.dot(s.r, s.r)
	floats.AddScaledTo(s.d, s.r, next/rr, s.d)
	s.computed(2)
	return next, err
}
