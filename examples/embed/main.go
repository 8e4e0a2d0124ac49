// Command embed is an application in thirty lines that broadcasts along the
// wiring of its machine. Run it with or without MPI:
//
//	go run ./examples/embed network.json
//	CC=mpicc go build -tags mpi ./examples/embed && mpirun -n 4 ./embed network.json
package main

import (
	"errors"
	"fmt"
	"os"

	"github.com/topocast/topocast/bcast"
	"github.com/topocast/topocast/model"
	"github.com/topocast/topocast/mpi"
	"github.com/topocast/topocast/mpi/local"
)

func work(comm mpi.Communicator) error {
	settings := &bcast.Settings{}
	if comm.Rank() == 0 && len(os.Args) > 1 { // the file that topocast discover wrote
		network, err := model.Load(os.Args[1])
		if err != nil {
			return err
		}
		settings.Network = network
	}
	b, err := bcast.New(comm, settings)
	if err != nil {
		return err
	}
	values := make([]float64, 1<<17)
	if comm.Rank() == 0 {
		values[len(values)-1] = 42
	}
	if err := bcast.BcastSlice(b, values, 0); err != nil {
		return err
	}
	fmt.Printf("rank %d of %d has the last value: %g\n", comm.Rank(), comm.Size(), values[len(values)-1])
	return nil
}

func main() {
	err := mpi.Run(work)
	if errors.Is(err, mpi.ErrNotBuilt) { // ranks as goroutines instead
		err = local.Run(2, nil, work)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}
