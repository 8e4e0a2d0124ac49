package main

import (
	"fmt"
	"math"

	"github.com/topocast/topocast/bcast"
	"github.com/topocast/topocast/bcast/schedule"
	"github.com/topocast/topocast/examples/internal/gridjob"
	"github.com/topocast/topocast/internal/cli"
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
		return cli.BadInput("order %d, panel %d, %d times, %g flop/s: want at least %d, 1, 1 and above 0", o.n, o.panel, o.Repeat, o.Rate, least)
	}
	view, err := o.Network(comm)
	if err != nil {
		return err
	}
	binomial, err := orient(view, o, shape)
	if err != nil {
		return err
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
	medians, err := o.Measure(len(table), func(line int, _ bool) ([]float64, error) { return table[line].time(o) })
	if err != nil || comm.Rank() != 0 {
		return err
	}
	var lines []gridjob.Line
	for i, m := range medians {
		l := table[i]
		found := gridjob.Line{Grid: l.grid.Grid, Name: l.name, Cells: []any{m[0], m[2], m[3], m[4]}, Communication: m[2], Predicted: m[5]}
		if !l.isWired && l.grid.ByRows {
			found.Predicted = binomial.TimeByRows
		} else if !l.isWired {
			found.Predicted = binomial.TimeByCols
		}
		if l.overlap {
			found.Communication = math.NaN() // most of it is hidden
		}
		lines = append(lines, found)
	}
	what := "C = A B by SUMMA"
	if o.trsm {
		what = "X U = B"
	}
	return o.Table(fmt.Sprintf("%s, %d x %d in panels of %d, %d x %d ranks", what, o.n, o.n, o.panel, shape.Rows, shape.Cols),
		[]string{"ranks", "broadcast", "time", "communi.", "synchro.", "comput.", "predicted"}, lines,
		fmt.Sprintf(`The results are those of BLAS. Time is that of the slowest rank. Its shares are
those of another run, with a barrier before each broadcast that is not
overlapped, and are means; each is the median of %d. Predicted is communication:
what the network says of our plans, each alone; of others, binomial trees along
all rows, then all columns at once.`, o.Repeat))
}

// orient predicts the time of communication of one run in both orders of ranks. In each step, all rows broadcast at once, and then
// all columns. Times are NaN without a network.
func orient(view *model.Network, o *options, shape gridjob.Grid) (sum placement.Orientation, err error) {
	if view == nil {
		return placement.Orientation{TimeByRows: math.NaN(), TimeByCols: math.NaN()}, nil
	}
	const number = 8 // bytes
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
			return sum, err
		}
		sum.TimeByRows += one.TimeByRows
		sum.TimeByCols += one.TimeByCols
	}
	return sum, nil
}

// A line is one line of the table: a grid and a kind of broadcast.
type line struct {
	job
	name    string
	isWired bool // topology-aware
}

// ways is collective: it returns a line for each kind of broadcast on a grid, topology-aware ones also with overlap.
func ways(g *grid, network *model.Network, o *options) ([]*line, error) {
	ours := func(settings *bcast.Settings) (row, col along, err error) {
		if row.Broadcaster, err = bcast.New(g.alongRow, settings); err == nil {
			col.Broadcaster, err = bcast.New(g.alongCol, settings)
		}
		return row, col, err
	}
	row, col, err := ours(&bcast.Settings{Network: network, Budget: o.budget})
	if err != nil {
		return nil, err
	}
	other := &line{name: "native"}
	nativeRow, has := g.alongRow.(mpi.NativeBcast)
	if nativeCol, also := g.alongCol.(mpi.NativeBcast); has && also {
		other.row, other.col = native{nativeRow}, native{nativeCol}
	} else { // one that does not know the topology
		other.name = "binomial"
		if other.row, other.col, err = ours(&bcast.Settings{ModelOnly: true, Algorithms: []schedule.Algorithm{schedule.Binomial{}}}); err != nil {
			return nil, err
		}
	}
	all := []*line{other, {name: "along the wiring", isWired: true, job: job{row: row, col: col}}}
	if !o.trsm {
		all = append(all, &line{name: "along the wiring, overlap", isWired: true, job: job{row: row, col: col, overlap: true}})
	}
	return all, nil
}

// time is collective: it runs the work twice. The first run gives the time of the slowest rank, and its result is compared with that
// of BLAS. The second one has a barrier before each broadcast and gives the shares, which are means over the ranks. So they add up
// to nearly the time of the slowest rank of that run.
func (l *line) time(o *options) ([]float64, error) {
	alone, off, err := l.once(o.trsm, false)
	if err != nil {
		return nil, err
	}
	shares, _, err := l.once(o.trsm, true)
	if err != nil {
		return nil, err
	}
	means := []float64{shares.communication, shares.synchronisation, shares.computation, shares.predicted}
	all, err := gridjob.Shares(l.comm, l.grid.Rows*l.grid.Cols, []float64{alone.total, off}, means)
	if err == nil && !(all[1] <= tolerance(l.n)) {
		err = fmt.Errorf("elements are up to %g off, want at most %g", all[1], tolerance(l.n))
	}
	return all, err
}

// once is collective: it runs the work, and returns how far elements of the result are off.
func (j *job) once(trsm, meets bool) (split, float64, error) {
	result, want := newBlock(j.grid, j.n, nil), product(j.grid, j.n, elementA, elementB)
	a, b := newBlock(j.grid, j.n, elementA), newBlock(j.grid, j.n, elementB)
	work := func() error { return j.multiply(a, b, result) }
	if trsm { // of a product, whose left side comes out again
		u := newBlock(j.grid, j.n, elementU)
		result, want = product(j.grid, j.n, elementA, elementU), a
		work = func() error { return j.solve(u, result) }
	}
	s, err := j.run(meets, work)
	return s, gridjob.Farthest(result.Data, want.Data), err
}
