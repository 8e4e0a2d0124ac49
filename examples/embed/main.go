// Command embed is an application in a few lines that broadcasts along the
// wiring of its machine. Run it with or without MPI, on as many ranks as you
// like; topocast discover writes the file:
//
//	go run ./examples/embed network.json
//	go build ./examples/embed && mpirun -n 4 ./embed network.json
package main

import (
	"fmt"
	"os"

	"github.com/topocast/topocast/bcast"
	"github.com/topocast/topocast/model"
	"github.com/topocast/topocast/mpi"
	"github.com/topocast/topocast/mpi/simnet/anywhere"
)

// work is what every rank does; file is what topocast discover wrote, or "".
func work(comm mpi.Communicator, file string) error {
	settings := &bcast.Settings{}
	if comm.Rank() == 0 && file != "" {
		network, err := model.Load(file)
		if err != nil {
			return err
		}
		settings.Network = network
	}
	b, err := bcast.New(comm, settings)
	if err != nil {
		return err
	}
	if comm.Rank() == 0 {
		for _, warning := range b.Warnings() { // the file is of other hosts, say
			fmt.Fprintln(os.Stderr, "warning:", warning)
		}
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
	file := ""
	if len(os.Args) > 1 {
		file = os.Args[1]
	}
	body := func(comm mpi.Communicator) error { return work(comm, file) }
	if err := anywhere.Run(&anywhere.Settings{Ranks: 2}, body); err != nil { // two ranks without MPI
		fmt.Fprintln(os.Stderr, err)
		mpi.Exit(1)
	}
}
