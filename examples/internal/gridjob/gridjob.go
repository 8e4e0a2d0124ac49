// Package gridjob is what examples/summa and examples/cg have in common: ranks in a grid, on MPI, simulated or in one
// process, what is known of their wiring, and where their time goes.
package gridjob

import (
	"errors"
	"flag"
	"fmt"
	"io"

	"github.com/topocast/topocast/model"
	"github.com/topocast/topocast/mpi"
	"github.com/topocast/topocast/mpi/local"
	"github.com/topocast/topocast/mpi/simnet"
)

// Options are what the user wants; equal on all ranks.
type Options struct {
	Grid    string // rows and columns, such as 2x8; "": as square as it gets
	Repeat  int
	Rate    float64 // flop/s of a simulated rank
	File    string  // of a network; that of rank 0 counts
	Cluster string  // to simulate
	Ranks   int     // where there is no MPI
	Out     io.Writer

	simulated *model.Network // of Cluster
	flags     *flag.FlagSet
}

// Flags adds the options, with these values as defaults, to a command line.
func (o *Options) Flags(f *flag.FlagSet) {
	o.flags = f
	f.StringVar(&o.Grid, "grid", o.Grid, "rows and columns of the grid of ranks, such as 2x8; default: as square as it gets")
	f.IntVar(&o.Repeat, "repeat", o.Repeat, "times that each is run, in turn; the median counts")
	f.Float64Var(&o.Rate, "rate", o.Rate, "floating-point operations per second of a simulated rank")
	f.StringVar(&o.File, "network", o.File, "file that topocast discover has written; that of rank 0 counts")
	f.StringVar(&o.Cluster, "cluster", o.Cluster, "run on this simulated cluster, such as \"tree:2x4 rate=1Gbps\"")
	f.IntVar(&o.Ranks, "ranks", o.Ranks, "ranks where there is no MPI")
}

// Run runs work on the ranks of a simulated cluster, of an MPI job, or of this process. Its error begins with the name of the
// program.
func (o *Options) Run(name string, work func(mpi.Communicator) error) error {
	err := o.run(work)
	if found := (*wrong)(nil); errors.As(err, &found) {
		err = found // without the rank: all found it
	}
	if err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	return nil
}

func (o *Options) run(work func(mpi.Communicator) error) error {
	if o.flags != nil && o.flags.NArg() > 0 {
		return Wrongf("%q: want flags only", o.flags.Arg(0))
	}
	if o.Cluster != "" {
		switch {
		case o.File != "":
			return Wrongf("-network and -cluster: want one of them, as a simulated cluster is known")
		case mpi.Launched() >= 0:
			return Wrongf("-cluster: one process simulates all ranks: want no launcher")
		}
		c, err := simnet.ParseCluster(o.Cluster)
		if err != nil {
			return err
		}
		if o.simulated, err = networkOf(c); err != nil {
			return err
		}
		s := c.Settings()
		s.Send, s.Recv = simnet.Overhead{Seconds: 3e-7}, simnet.Overhead{Seconds: 3e-7}
		return simnet.Run(c.Graph, nil, s, work)
	}
	var found *wrong
	err := mpi.Run(func(comm mpi.Communicator) error {
		err := work(comm)
		if errors.As(err, &found) {
			return nil
		}
		return err
	})
	switch {
	case found != nil:
		return found
	case errors.Is(err, mpi.ErrNoLauncher):
		return local.Run(o.Ranks, nil, work)
	}
	return err
}

// Shape is the grid of so many ranks, in the order of rows.
func (o *Options) Shape(ranks int) (Grid, error) {
	g := Grid{ByRows: true}
	if o.Grid != "" {
		if _, err := fmt.Sscanf(o.Grid, "%dx%d", &g.Rows, &g.Cols); err != nil || g.Rows < 1 || g.Cols < 1 {
			return g, Wrongf("grid %q: want rows and columns, such as 2x8", o.Grid)
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
		return g, Wrongf("grid of %d x %d: want one of %d ranks", g.Rows, g.Cols, ranks)
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
