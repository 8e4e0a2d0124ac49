// Command summa multiplies two matrices that are spread over the ranks of a job by SUMMA (van de Geijn, Watts 1997). Topology-aware
// broadcasts carry the panels. The program prints what they gain over the MPI library's broadcast (native), and whether the order of
// ranks that was predicted to be better is. With -trsm it solves X U = B for an upper triangular U, as section 6.1 of Servet
// does (Gonzalez-Dominguez et al. 2013). It runs with or without MPI, or on a simulated cluster. topocast discover writes the
// network's file:
//
//	go build ./examples/summa && mpirun -n 16 ./summa -n 2048 -network network.json
//	go run ./examples/summa -sim "tree:4x4 latency=20us,2us rate=1Gbps,10Gbps"
package main

import (
	"flag"
	"os"
	"time"

	"github.com/topocast/topocast/examples/internal/gridjob"
	"github.com/topocast/topocast/mpi"
)

// options are the settings of the user, equal on all ranks.
type options struct {
	gridjob.Options
	n, panel int
	trsm     bool
	budget   time.Duration // of the choice between broadcasts, for each size and root
}

func main() {
	o := options{Options: gridjob.Options{Repeat: 3, Rate: 5e9, Ranks: 4, Out: os.Stdout}}
	flag.IntVar(&o.n, "n", 512, "order of the matrices")
	flag.IntVar(&o.panel, "panel", 64, "columns and rows that are broadcast at once")
	flag.BoolVar(&o.trsm, "trsm", false, "solve X U = B instead of multiplying")
	flag.DurationVar(&o.budget, "budget", 0, "time to choose the broadcast of each size and root; default: as long as it takes")
	gridjob.Main("summa", &o.Options, o.start)
}

func (o *options) start() error {
	return o.Run(func(comm mpi.Communicator) error { return work(comm, o) })
}
