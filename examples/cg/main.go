// Command cg solves the equations of a heated plate by conjugate gradients on a grid of ranks. Such a program lives from short
// Allreduces, two per iteration, and from exchanging edges with neighbours. It prints how long these take with ranks numbered by
// rows and by columns, with the library's own Allreduce and with that of package reduce. It tells whether the order that was
// predicted to be better is. The program runs with or without MPI, or on a simulated cluster. topocast discover writes the
// network's file:
//
//	go build ./examples/cg && mpirun -n 16 ./cg -network network.json
//	go run ./examples/cg -sim "tree:4x4 latency=20us,2us rate=1Gbps,10Gbps"
package main

import (
	"flag"
	"os"

	"github.com/topocast/topocast/examples/internal/gridjob"
	"github.com/topocast/topocast/mpi"
)

// options are the settings of the user, equal on all ranks.
type options struct {
	gridjob.Options
	n         int // points along each side of the plate
	tolerance float64
	traffic   string // file to write; "": none
}

func main() {
	o := options{Options: gridjob.Options{Repeat: 3, Rate: 1e9, Ranks: 4, Out: os.Stdout}}
	flag.IntVar(&o.n, "n", 128, "points along each side of the plate")
	flag.Float64Var(&o.tolerance, "tolerance", 1e-8, "residual, relative to the right side, at which to stop")
	flag.StringVar(&o.traffic, "traffic", "", "write the bytes between ranks in one iteration, by rows, to this file, for topocast place")
	gridjob.Main("cg", &o.Options, o.start)
}

func (o *options) start() error {
	return o.Run(func(comm mpi.Communicator) error { return work(comm, o) })
}
