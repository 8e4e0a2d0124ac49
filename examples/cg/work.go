package main

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	"github.com/topocast/topocast/model"
	"github.com/topocast/topocast/mpi"
	"github.com/topocast/topocast/mpi/collective"
)

// A line is one line of the table.
type line struct {
	byRows    bool
	name      string
	predicted float64 // s, of exchanging edges; NaN if it is not known
	split
}

const (
	byLibrary  = "native"
	blind      = "messages"
	alongWires = "along the wiring"
)

// work is what every rank does: it solves in both orders of ranks, with each kind of Allreduce, and rank 0
// prints a table.
func work(comm mpi.Communicator, o *options) error {
	rows, cols, err := shape(comm.Size(), o.rows, o.cols)
	if err != nil {
		return err
	}
	if o.n < max(rows, cols) || o.repeat < 1 || !(o.tolerance > 0) || !(o.rate > 0) {
		return fmt.Errorf("cg: %d points, %d times, tolerance %g, %g flop/s: want at least %d, 1, and above 0", o.n, o.repeat, o.tolerance, o.rate, max(rows, cols))
	}
	view, err := viewOf(comm, o.network)
	if err != nil {
		return err
	}
	ways := map[string]*collective.Settings{blind: {Messages: true}}
	names := []string{blind}
	if _, ok := comm.(mpi.NativeReduce); ok {
		ways[byLibrary], names = &collective.Settings{}, []string{byLibrary, blind}
	}
	if view != nil {
		if groups := view.RankGroups(8); groups != nil {
			ways[alongWires] = &collective.Settings{Messages: true, Groups: groups}
			names = append(names, alongWires)
		}
	}
	var table []line
	for _, byRows := range []bool{true, false} {
		p := newPlate(comm.Rank(), o.n, rows, cols, byRows)
		predicted, err := p.predict(view)
		if err != nil {
			return err
		}
		for _, name := range names {
			c, err := collective.New(comm, ways[name])
			if err != nil {
				return err
			}
			l, err := timed(comm, c, p, o)
			if err != nil {
				return err
			}
			l.byRows, l.name, l.predicted = byRows, name, predicted*float64(l.iterations)
			table = append(table, l)
		}
	}
	if comm.Rank() != 0 {
		return nil
	}
	return show(o, rows, cols, table)
}

// viewOf is collective: the network of the ranks of comm, nil if none is known.
func viewOf(comm mpi.Communicator, network *model.Network) (*model.Network, error) {
	places, err := mpi.Places(comm)
	if err != nil || network == nil {
		return nil, err
	}
	at := make([]model.Location, len(places))
	for i, p := range places {
		at[i] = model.Location{Host: p.Host, Core: p.Core}
	}
	return network.ViewTypical(at)
}

// timed is collective: the median of several runs, with results that are checked.
func timed(comm mpi.Communicator, c *collective.Comm, p *plate, o *options) (line, error) {
	begin := time.Now()
	s := &solver{comm: c, plate: p, rate: o.rate, now: func() float64 { return time.Since(begin).Seconds() }}
	if clock, ok := comm.(mpi.Clock); ok {
		s.now = clock.Now
	}
	if simulated, ok := comm.(interface{ Sleep(seconds float64) }); ok { // where computation takes no time by itself
		s.sleep = simulated.Sleep
	}
	var times []split
	for i := range 1 + o.repeat { // the first to warm up
		one, off, err := s.solve(o.tolerance)
		if err != nil {
			return line{}, err
		}
		slowest, mean := []float64{one.total, off}, []float64{one.edges, one.allreduce, one.computation}
		if err := collective.Allreduce(c, slowest, mpi.Max); err != nil {
			return line{}, err
		}
		if err := collective.Allreduce(c, mean, mpi.Sum); err != nil {
			return line{}, err
		}
		// The error is at most the residual over the least eigenvalue of A, 8 sin(pi/2(n+1))^2 or at least 8/(n+1)^2, and
		// b at most 8 times the solution, which is at most 1/2 at each of n^2 points.
		n := float64(p.n)
		if bound := o.tolerance * (n + 1) * (n + 1) * n / 2; !(slowest[1] <= bound) {
			return line{}, fmt.Errorf("cg: the result is up to %g off, want at most %g", slowest[1], bound)
		}
		if i > 0 {
			ranks := float64(c.Size())
			times = append(times, split{slowest[0], mean[0] / ranks, mean[1] / ranks, mean[2] / ranks, one.iterations})
		}
	}
	slices.SortFunc(times, func(a, b split) int { return cmp.Compare(a.total, b.total) })
	return line{split: times[len(times)/2]}, nil
}
