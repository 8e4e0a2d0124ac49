// Package gridjob is what examples/summa and examples/cg have in common: ranks in a grid, on MPI, simulated or in one
// process, what is known of their wiring, and where their time goes.
package gridjob

import (
	"flag"
	"fmt"
	"io"
	"os"

	"github.com/topocast/topocast/internal/cli"
	"github.com/topocast/topocast/mpi"
)

// Options are what the user wants; equal on all ranks.
type Options struct {
	Grid   string // rows and columns, such as 2x8; "": as square as it gets
	Repeat int
	Rate   float64 // flop/s of a simulated rank
	File   string  // of a network; that of rank 0 counts
	Sim    string  // cluster to simulate
	Ranks  int     // where there is no MPI
	Out    io.Writer
}

// Flags adds the options, with these values as defaults, to a command line.
func (o *Options) Flags(f *flag.FlagSet) {
	f.StringVar(&o.Grid, "grid", o.Grid, "rows and columns of the grid of ranks, such as 2x8; default: as square as it gets")
	f.IntVar(&o.Repeat, "repeat", o.Repeat, "times that each is run, in turn; the median counts")
	f.Float64Var(&o.Rate, "rate", o.Rate, "floating-point operations per second of a simulated rank")
	f.StringVar(&o.File, "network", o.File, "file that topocast discover has written; that of rank 0 counts")
	f.StringVar(&o.Sim, "sim", o.Sim, "run on this simulated cluster, such as \"tree:2x4 rate=1Gbps\"")
	f.StringVar(&o.Sim, "cluster", o.Sim, "the same as -sim")
	f.IntVar(&o.Ranks, "ranks", o.Ranks, "ranks where there is no MPI")
}

// Main reads the command line, runs a program, and ends the process.
func Main(name string, o *Options, run func() error) {
	o.Flags(flag.CommandLine)
	flag.Parse()
	var err error
	if flag.NArg() > 0 {
		err = cli.BadInput("%q: want flags only", flag.Arg(0))
	} else {
		err = run()
	}
	if err != nil {
		mpi.Exit(cli.Report(os.Stderr, name, err))
	}
}

// Run runs work on the ranks of a simulated cluster, of an MPI job, or of this process. If work returns a mistake of the user
// (cli.BadInput), it does so on all ranks at the same point, and one of them tells it.
func (o *Options) Run(work func(mpi.Communicator) error) error {
	if o.Sim != "" {
		run, _, err := cli.Simulator(os.Stderr, o.Sim, "block", cli.DefaultOverhead, 0)
		if err != nil {
			return err
		}
		return run(0, work) // a rank on each host
	}
	if mpi.Launched() >= 0 {
		return cli.RunJob(0, work) // as many as the launcher has started
	}
	return cli.RunJob(o.Ranks, work)
}

// Shape is the grid of so many ranks, in the order of rows.
func (o *Options) Shape(ranks int) (Grid, error) {
	g := Grid{ByRows: true}
	if o.Grid != "" {
		if _, err := fmt.Sscanf(o.Grid, "%dx%d", &g.Rows, &g.Cols); err != nil || g.Rows < 1 || g.Cols < 1 {
			return g, cli.BadInput("grid %q: want rows and columns, such as 2x8", o.Grid)
		}
	} else {
		for g.Rows = 1; (g.Rows+1)*(g.Rows+1) <= ranks; g.Rows++ {
		}
		for ranks%g.Rows != 0 {
			g.Rows--
		}
		g.Cols = ranks / g.Rows
	}
	if g.Rows*g.Cols != ranks {
		return g, cli.BadInput("grid of %d x %d: want one of %d ranks", g.Rows, g.Cols, ranks)
	}
	return g, nil
}

// A Grid arranges ranks in rows and columns.
type Grid struct {
	Rows, Cols int
	ByRows     bool // rank i*Cols + j is at row i and column j; else j*Rows + i
}

// Place is the row and the column of a rank.
func (g Grid) Place(rank int) (row, col int) {
	if g.ByRows {
		return rank / g.Cols, rank % g.Cols
	}
	return rank % g.Rows, rank / g.Rows
}

// Rank is the one at a row and a column.
func (g Grid) Rank(row, col int) int {
	if g.ByRows {
		return row*g.Cols + col
	}
	return col*g.Rows + row
}

// Order is how its ranks are numbered.
func (g Grid) Order() string {
	if g.ByRows {
		return "by rows"
	}
	return "by cols"
}

// Both are the grid in both orders.
func (g Grid) Both() []Grid { return []Grid{{g.Rows, g.Cols, true}, {g.Rows, g.Cols, false}} }
