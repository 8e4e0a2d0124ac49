package main

import (
	"cmp"
	"fmt"
	"slices"

	"gonum.org/v1/gonum/mat"

	"github.com/topocast/topocast/bcast"
	"github.com/topocast/topocast/bcast/schedule"
	"github.com/topocast/topocast/model"
	"github.com/topocast/topocast/model/placement"
	"github.com/topocast/topocast/mpi"
	"github.com/topocast/topocast/mpi/collective"
)

// work is what every rank does: it does the job in both orders of ranks, by each kind of broadcast, and
// rank 0 prints a table.
func work(comm mpi.Communicator, o *options) error {
	rows, cols, err := shape(comm.Size(), o.rows, o.cols)
	if err != nil {
		return err
	}
	if o.n < max(rows, cols) || o.panel < 1 || o.repeat < 1 || !(o.rate > 0) {
		return fmt.Errorf("summa: order %d, panel %d, %d times, %g flop/s: want at least %d, 1, 1 and above 0", o.n, o.panel, o.repeat, o.rate, max(rows, cols))
	}
	view, err := viewOf(comm, o.network)
	if err != nil {
		return err
	}
	var predicted *placement.Orientation
	settings := &collective.Settings{}
	if view != nil {
		settings.Groups = view.RankGroups(8)
		if predicted, err = orient(view, o, rows, cols); err != nil {
			return err
		}
	}
	c, err := collective.New(comm, settings)
	if err != nil {
		return err
	}
	var table []line
	for _, byRows := range []bool{true, false} {
		g, err := newGrid(comm, rows, cols, byRows)
		if err != nil {
			return err
		}
		lines, err := inOrder(newJob(comm, c, g, o), o)
		if err != nil {
			return err
		}
		table = append(table, lines...)
	}
	if comm.Rank() != 0 {
		return nil
	}
	return show(o, rows, cols, table, predicted)
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

// orient predicts what communication takes in both orders of ranks, in s for one run.
func orient(view *model.Network, o *options, rows, cols int) (*placement.Orientation, error) {
	const number = 8 // bytes
	shape := placement.Grid{
		Rows: rows, Cols: cols,
		RowBytes: int64(number * o.n / rows * o.panel), ColBytes: int64(number * o.n / cols * o.panel),
	}
	if o.trsm { // of U, what is not zero
		shape.ColBytes = shape.ColBytes * int64(cols+1) / int64(2*cols)
	}
	best, err := placement.Orient(view, shape)
	if err != nil {
		return nil, err
	}
	steps := float64(len((&grid{rows: rows, cols: cols}).steps(o.n, o.panel)))
	best.TimeByRows *= steps
	best.TimeByCols *= steps
	return &best, nil
}

// A line is one line of the table.
type line struct {
	byRows bool
	name   string
	split
}

const (
	byLibrary  = "native"
	blind      = "binomial" // where there is no native one: of ranks that know nothing of the wiring
	alongWires = "along the wiring"
	overlapped = "the same, overlapped"
)

// inOrder is collective: it times and checks all kinds of broadcasts on a grid.
func inOrder(j *job, o *options) ([]line, error) {
	g := j.grid
	type way struct {
		name     string
		row, col caster
		overlap  bool
	}
	var ways []way
	if row, col := newNative(g.alongRow), newNative(g.alongCol); row != nil && col != nil {
		ways = append(ways, way{byLibrary, row, col, false})
	}
	names := []string{alongWires}
	if ways == nil {
		names = []string{blind, alongWires}
	}
	for _, name := range names {
		settings := &bcast.Settings{Network: o.network, Budget: o.budget}
		if name == blind {
			settings = &bcast.Settings{ModelOnly: true, Algorithms: []schedule.Algorithm{schedule.Binomial{}}}
		}
		row, err := bcast.New(g.alongRow, settings)
		if err != nil {
			return nil, err
		}
		col, err := bcast.New(g.alongCol, settings)
		if err != nil {
			return nil, err
		}
		ways = append(ways, way{name, along{row}, along{col}, false})
		if name == alongWires && !o.trsm {
			ways = append(ways, way{overlapped, along{row}, along{col}, true})
		}
	}
	var lines []line
	for _, w := range ways {
		j.row, j.col, j.overlap = w.row, w.col, w.overlap
		var times []split
		for i := range 1 + o.repeat { // the first to warm up, and to choose
			s, err := j.once(o, i == o.repeat)
			if err != nil {
				return nil, err
			}
			if i > 0 {
				times = append(times, s)
			}
		}
		slices.SortFunc(times, func(a, b split) int { return cmp.Compare(a.total, b.total) })
		lines = append(lines, line{g.byRows, w.name, times[len(times)/2]})
	}
	return lines, nil
}

// once is collective: it runs the work, checks the result if asked to, and returns the times of all ranks.
func (j *job) once(o *options, check bool) (split, error) {
	var work func() error
	var result block
	var want func() *mat.Dense
	if o.trsm {
		u := newBlock(j.grid, j.n, elementU)
		result = newBlock(j.grid, j.n, elementB)
		work = func() error { return j.solve(u, result) }
		want = func() *mat.Dense {
			// X U = B is U' X' = B'.
			var x mat.Dense
			if err := x.Solve(dense(j.n, elementU).T(), dense(j.n, elementB).T()); err != nil {
				panic(err) // of a strong diagonal
			}
			return mat.DenseCopyOf(x.T())
		}
	} else {
		a, b := newBlock(j.grid, j.n, elementA), newBlock(j.grid, j.n, elementB)
		result = newBlock(j.grid, j.n, nil)
		work = func() error { return j.multiply(a, b, result) }
		want = func() *mat.Dense {
			var c mat.Dense
			c.Mul(dense(j.n, elementA), dense(j.n, elementB))
			return &c
		}
	}
	s, err := j.run(work)
	if err != nil {
		return s, err
	}
	// Shares of the time are means, so that they add up to nearly the time of the slowest.
	slowest, mean := []float64{s.total}, []float64{s.communication, s.synchronisation, s.computation, s.predicted}
	if err := collective.Allreduce(j.comm, slowest, mpi.Max); err != nil {
		return s, err
	}
	if err := collective.Allreduce(j.comm, mean, mpi.Sum); err != nil {
		return s, err
	}
	for i := range mean {
		mean[i] /= float64(j.comm.Size())
	}
	s = split{slowest[0], mean[0], mean[1], mean[2], mean[3]}
	if !check {
		return s, nil
	}
	got, err := whole(j.comm, j.grid, j.n, result)
	if err != nil || got == nil {
		return s, err
	}
	return s, agree(got, want())
}
