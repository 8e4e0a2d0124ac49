package main

import (
	"gonum.org/v1/gonum/mat"

	"github.com/topocast/topocast/bcast"
	"github.com/topocast/topocast/bcast/schedule"
	"github.com/topocast/topocast/examples/internal/gridjob"
	"github.com/topocast/topocast/model"
	"github.com/topocast/topocast/model/placement"
	"github.com/topocast/topocast/mpi"
	"github.com/topocast/topocast/mpi/collective"
)

// work is collective: it does the job in both orders of ranks and by each kind of broadcast, and rank 0 prints a table.
func work(comm mpi.Communicator, o *options) error {
	shape, err := o.Shape(comm.Size())
	if err != nil {
		return err
	}
	if least := max(shape.Rows, shape.Cols); o.n < least || o.panel < 1 || o.Repeat < 1 || !(o.Rate > 0) {
		return gridjob.Wrongf("order %d, panel %d, %d times, %g flop/s: want at least %d, 1, 1 and above 0", o.n, o.panel, o.Repeat, o.Rate, least)
	}
	view, err := o.Network(comm)
	if err != nil {
		return err
	}
	var predicted *placement.Orientation
	if view != nil {
		if predicted, err = orient(view, o, shape); err != nil {
			return err
		}
	}
	c := collective.New(comm)
	watch := gridjob.NewWatch(comm, o.Rate)
	var table []*line
	for _, shape := range shape.Both() {
		g, err := newGrid(comm, shape)
		if err != nil {
			return err
		}
		lines, err := ways(g, view, o)
		if err != nil {
			return err
		}
		for _, l := range lines {
			l.comm, l.grid, l.n, l.panel, l.watch = c, g, o.n, o.panel, watch
		}
		table = append(table, lines...)
	}
	medians, err := o.Measure(len(table), func(line int, isLast bool) ([]float64, error) { return table[line].time(o, isLast) })
	if err != nil || comm.Rank() != 0 {
		return err
	}
	for i, m := range medians {
		table[i].split = split{m[0], m[1], m[2], m[3], m[4]}
	}
	return show(o, shape, table, predicted)
}

// orient predicts the time of communication of one run in both orders of ranks. In each step, all rows broadcast at once, and then
// all columns.
func orient(view *model.Network, o *options, shape gridjob.Grid) (*placement.Orientation, error) {
	const number = 8 // bytes
	sum := &placement.Orientation{}
	for _, s := range (&grid{Grid: shape}).steps(o.n, o.panel) {
		width := s.to - s.from
		cols := o.n // of B, or of U as far as it is not 0
		if o.trsm {
			cols -= s.from
		}
		one, err := placement.Orient(view, placement.Grid{
			Rows: shape.Rows, Cols: shape.Cols,
			RowBytes: int64(number * width * o.n / shape.Rows), ColBytes: int64(number * width * cols / shape.Cols),
		})
		if err != nil {
			return nil, err
		}
		sum.TimeByRows += one.TimeByRows
		sum.TimeByCols += one.TimeByCols
	}
	sum.ByRows = sum.TimeByRows <= sum.TimeByCols
	return sum, nil
}

// A line is one line of the table: a grid and a kind of broadcast.
type line struct {
	job
	name string
}

const (
	byLibrary  = "native"
	blind      = "binomial" // where there is no native broadcast: one that does not know the topology
	alongWires = "along the wiring"
	overlapped = ", overlap"
)

// ways is collective: it returns a line for each kind of broadcast on a grid, with and without overlap.
func ways(g *grid, network *model.Network, o *options) ([]*line, error) {
	var all []*line
	add := func(name string, row, col caster, overlaps bool) {
		all = append(all, &line{name: name, job: job{row: row, col: col}})
		if overlaps && !o.trsm {
			all = append(all, &line{name: name + overlapped, job: job{row: row, col: col, overlap: true}})
		}
	}
	ours := func(settings *bcast.Settings) (row, col along, err error) {
		if row.Broadcaster, err = bcast.New(g.alongRow, settings); err == nil {
			col.Broadcaster, err = bcast.New(g.alongCol, settings)
		}
		return row, col, err
	}
	wiredRow, wiredCol, err := ours(&bcast.Settings{Network: network, Budget: o.budget})
	if err != nil {
		return nil, err
	}
	if row, col := newNative(g.alongRow, wiredRow), newNative(g.alongCol, wiredCol); row != nil && col != nil {
		add(byLibrary, row, col, row.begun != nil && col.begun != nil)
	} else {
		row, col, err := ours(&bcast.Settings{ModelOnly: true, Algorithms: []schedule.Algorithm{schedule.Binomial{}}})
		if err != nil {
			return nil, err
		}
		add(blind, row, col, false)
	}
	add(alongWires, wiredRow, wiredCol, true)
	return all, nil
}

// time is collective: it runs the work twice. The first run gives the time of the slowest rank. The second one has a barrier before each
// broadcast and gives the shares, which are means over the ranks. So they add up to nearly the time of the slowest rank of that run. With
// check, the result is compared with gonum's.
func (l *line) time(o *options, check bool) ([]float64, error) {
	alone, err := l.once(o, false, check)
	if err != nil {
		return nil, err
	}
	shares, err := l.once(o, true, false)
	if err != nil {
		return nil, err
	}
	means := []float64{shares.communication, shares.synchronisation, shares.computation, shares.predicted}
	return gridjob.Shares(l.comm, l.grid.Rows*l.grid.Cols, []float64{alone.total}, means)
}

// once is collective: it runs the work, and with check compares the result with gonum's.
func (j *job) once(o *options, meets, check bool) (split, error) {
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
	s, err := j.run(meets, work)
	if err != nil || !check {
		return s, err
	}
	got, err := whole(j.comm, j.grid, j.n, result)
	if err != nil || got == nil {
		return s, err
	}
	return s, agree(got, want())
}
