package main

import (
	"fmt"

	"github.com/topocast/topocast/examples/internal/gridjob"
	"github.com/topocast/topocast/internal/cli"
	"github.com/topocast/topocast/model"
	"github.com/topocast/topocast/mpi"
	"github.com/topocast/topocast/mpi/collective"
	"github.com/topocast/topocast/reduce"
)

// A line is a line of the table, for one order of ranks and one kind of Allreduce.
type line struct {
	allreduce
	plate      *plate
	predicted  float64 // time of one exchange of edges in s; NaN: not known
	iterations int
}

// An allreduce adds the values of all ranks.
type allreduce struct {
	kind string
	sum  func(values []float64) error
}

// allreduces is collective: the library's own Allreduce, or a simple one where there is none, and ours.
func allreduces(c *collective.Comm, comm mpi.Communicator, view *model.Network) ([]allreduce, error) {
	kind := "messages" // of the simple algorithm
	if _, native := comm.(mpi.Collectives); native {
		kind = "native"
	}
	ours, err := reduce.New(comm, &reduce.Settings{Network: view})
	if err != nil {
		return nil, err
	}
	return []allreduce{
		{kind, func(values []float64) error { return collective.Allreduce(c, values, mpi.Sum) }},
		{"along the wiring", func(values []float64) error { return reduce.AllreduceSlice(ours, values, mpi.Sum) }},
	}, nil
}

// work is collective: it solves in both orders of ranks and with each kind of Allreduce, and rank 0 prints a table.
func work(comm mpi.Communicator, o *options) error {
	g, err := o.Shape(comm.Size())
	if err != nil {
		return err
	}
	if o.n < max(g.Rows, g.Cols) || o.Repeat < 1 || !(o.tolerance > 0) || !(o.Rate > 0) {
		return cli.BadInput("%d points, %d times, tolerance %g, %g flop/s: want at least %d, 1, and above 0", o.n, o.Repeat, o.tolerance, o.Rate, max(g.Rows, g.Cols))
	}
	if comm.Rank() == 0 && o.traffic != "" {
		if err := newPlate(0, o.n, g).writeTraffic(o.traffic); err != nil {
			return err
		}
	}
	view, err := o.Network(comm)
	if err != nil {
		return err
	}
	c := collective.New(comm)
	kinds, err := allreduces(c, comm, view)
	if err != nil {
		return err
	}
	var table []line
	for _, g := range g.Both() {
		p := newPlate(comm.Rank(), o.n, g)
		predicted, err := p.predict(view)
		if err != nil {
			return err
		}
		for _, kind := range kinds {
			table = append(table, line{allreduce: kind, plate: p, predicted: predicted})
		}
	}
	watch := gridjob.NewWatch(comm, o.Rate)
	medians, err := o.Measure(len(table), func(line int, _ bool) ([]float64, error) { return table[line].solve(c, watch, o.tolerance) })
	if err != nil || comm.Rank() != 0 {
		return err
	}
	var lines []gridjob.Line
	for k, m := range medians {
		l, edges, reduction := &table[k], m[2], m[3]
		lines = append(lines, gridjob.Line{
			Grid: l.plate.Grid, Name: l.kind, Cells: []any{l.iterations, m[0], edges, reduction, m[4]},
			// A rank waits for a slow neighbour when it exchanges edges, or in the next Allreduce.
			Communication: edges + reduction, Predicted: l.predicted * float64(l.iterations),
		})
	}
	return o.Table(fmt.Sprintf("Conjugate gradients, %d x %d points, %d x %d ranks", o.n, o.n, g.Rows, g.Cols),
		[]string{"ranks", "Allreduce", "iter.", "time", "edges", "Allreduce", "comput.", "predicted"}, lines,
		fmt.Sprintf(`The results are right. Time is that of the slowest rank, its shares are means,
and each is the median of %d. Predicted is that of the edges.`, o.Repeat))
}

// solve is collective: it does one run and checks the result. It returns the time of the slowest rank, the largest error, and the means of
// the shares.
func (l *line) solve(c *collective.Comm, watch *gridjob.Watch, tolerance float64) ([]float64, error) {
	s := &solver{comm: c, plate: l.plate, watch: watch, add: l.sum}
	total, off, iterations, err := s.solve(tolerance)
	if err != nil {
		return nil, err
	}
	shares, err := gridjob.Shares(c, l.plate.Rows*l.plate.Cols, []float64{total, off}, []float64{s.edges, s.reduction, s.computation})
	if err != nil {
		return nil, err
	}
	// The error is at most the residual over the least eigenvalue of A, which is 8 sin(pi/2(n+1))^2, and so at least 8/(n+1)^2. b is
	// at most 8 times the solution. The solution is at most 1/2 at each of n^2 points.
	n := float64(l.plate.n)
	if bound := tolerance * (n + 1) * (n + 1) * n / 2; !(shares[1] <= bound) {
		return nil, fmt.Errorf("the result is up to %g off, want at most %g", shares[1], bound)
	}
	l.iterations = iterations
	return shares, nil
}
