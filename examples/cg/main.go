// Command cg solves the equations of a plate that is heated, by conjugate gradients on a grid of ranks: a program that lives from
// short Allreduces, two per iteration, and from exchanging edges with neighbours. It prints how long these take by
// the library's own Allreduce, by one that knows nothing of the wiring, and by one along its
// groups, and whether the order of ranks in the grid that was predicted to be better is. It runs with or without
// MPI, or on a simulated cluster; topocast discover writes the network's file:
//
//	CC=mpicc go build -tags mpi ./examples/cg && mpirun -n 16 ./cg -network network.json
//	go run ./examples/cg -cluster "tree:4x4 latency=20us,2us rate=1Gbps,10Gbps"
package main

import (
	"errors"
	"flag"
	"fmt"
	"io"
	"os"

	"github.com/topocast/topocast/model"
	"github.com/topocast/topocast/mpi"
	"github.com/topocast/topocast/mpi/local"
	"github.com/topocast/topocast/mpi/simnet"
)

// options are what the user wants; equal on all ranks.
type options struct {
	n          int // points along each side of the plate
	rows, cols int // of ranks; 0: as square as it gets
	tolerance  float64
	repeat     int
	rate       float64        // flop/s of a simulated rank
	network    *model.Network // nil: not known
	out        io.Writer      // of rank 0
}

func main() {
	o := options{out: os.Stdout}
	var grid, file, cluster string
	var ranks int
	flag.IntVar(&o.n, "n", 128, "points along each side of the plate")
	flag.StringVar(&grid, "grid", "", "rows and columns of the grid of ranks, such as 2x8; default: as square as it gets")
	flag.Float64Var(&o.tolerance, "tolerance", 1e-8, "residual, relative to the right side, at which to stop")
	flag.IntVar(&o.repeat, "repeat", 3, "times that each is run; the median counts")
	flag.Float64Var(&o.rate, "rate", 1e9, "floating-point operations per second of a simulated rank")
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
			return fmt.Errorf("cg: grid %q: want rows and columns, such as 2x8", grid)
		}
	}
	if file != "" && cluster != "" {
		return errors.New("cg: -network and -cluster: want one of them, as a simulated cluster is known")
	}
	body := func(comm mpi.Communicator) error { return work(comm, o) }
	var err error
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
	if file != "" {
		if o.network, err = model.Load(file); err != nil {
			return err
		}
	}
	if err = mpi.Run(body); errors.Is(err, mpi.ErrNoLauncher) {
		err = local.Run(ranks, nil, body)
	}
	return err
}
