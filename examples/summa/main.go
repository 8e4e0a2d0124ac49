// Command summa multiplies two matrices that are spread over the ranks of a job, with the panels of
// SUMMA (van de Geijn, Watts 1997) broadcast along the wiring of the machine, and prints what that gains over
// the library's own broadcast, and whether the order of ranks that was predicted to be better is.
// With -trsm it solves X U = B for an upper triangular U, as Servet's section 6.1 does (Gonzalez-Dominguez et al.
// 2013). It runs with or without MPI, or on a simulated cluster; topocast discover writes the network's file:
//
//	go build ./examples/summa && mpirun -n 16 ./summa -n 2048 -network network.json
//	go run ./examples/summa -cluster "tree:4x4 latency=20us,2us rate=1Gbps,10Gbps"
package main

import (
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"time"

	"github.com/topocast/topocast/model"
	"github.com/topocast/topocast/mpi"
	"github.com/topocast/topocast/mpi/local"
	"github.com/topocast/topocast/mpi/simnet"
)

// options are what the user wants; equal on all ranks.
type options struct {
	n, panel   int
	rows, cols int // 0: as square as it gets
	trsm       bool
	repeat     int
	budget     time.Duration  // of the choice between broadcasts, for each size and root
	rate       float64        // flop/s of a simulated rank
	network    *model.Network // of rank 0; nil: not known
	out        io.Writer      // of rank 0
}

func main() {
	o := options{out: os.Stdout}
	var grid, file, cluster string
	var ranks int
	flag.IntVar(&o.n, "n", 512, "order of the matrices")
	flag.IntVar(&o.panel, "panel", 64, "columns and rows that are broadcast at once")
	flag.StringVar(&grid, "grid", "", "rows and columns of the grid of ranks, such as 2x8; default: as square as it gets")
	flag.BoolVar(&o.trsm, "trsm", false, "solve X U = B instead of multiplying")
	flag.IntVar(&o.repeat, "repeat", 3, "times that each is run; the median counts")
	flag.Float64Var(&o.rate, "rate", 5e9, "floating-point operations per second of a simulated rank")
	flag.DurationVar(&o.budget, "budget", 200*time.Millisecond, "time to choose the broadcast of each size and root")
	flag.StringVar(&file, "network", "", "file that topocast discover has written")
	flag.StringVar(&cluster, "cluster", "", "run on this simulated cluster, such as \"tree:2x4 rate=1Gbps\"")
	flag.IntVar(&ranks, "ranks", 4, "ranks where there is no MPI")
	flag.Parse()
	if err := start(&o, grid, file, cluster, ranks); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

// start runs the work on the ranks of a simulated cluster, of an MPI job, or of this process.
func start(o *options, grid, file, cluster string, ranks int) error {
	if grid != "" {
		if _, err := fmt.Sscanf(grid, "%dx%d", &o.rows, &o.cols); err != nil || o.rows < 1 || o.cols < 1 {
			return fmt.Errorf("summa: grid %q: want rows and columns, such as 2x8", grid)
		}
	}
	if file != "" && cluster != "" {
		return errors.New("summa: -network and -cluster: want one of them, as a simulated cluster is known")
	}
	if file != "" {
		var err error
		if o.network, err = model.Load(file); err != nil {
			return err
		}
	}
	body := func(comm mpi.Communicator) error { return work(comm, o) }
	if cluster != "" {
		c, err := simnet.ParseCluster(cluster)
		if err != nil {
			return err
		}
		if o.network, err = c.Network(); err != nil {
			return err
		}
		s := c.Settings()
		s.Send, s.Recv = simnet.Overhead{Seconds: 3e-7}, simnet.Overhead{Seconds: 3e-7}
		return simnet.Run(c.Graph, nil, s, body)
	}
	err := mpi.Run(body)
	if errors.Is(err, mpi.ErrNoLauncher) {
		err = local.Run(ranks, nil, body)
	}
	return err
}
