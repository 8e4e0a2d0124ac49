package measure_test

import (
	"context"
	"fmt"

	"github.com/topocast/topocast/measure"
	"github.com/topocast/topocast/mpi"
	"github.com/topocast/topocast/mpi/local"
)

// The ranks are goroutines here; under MPI the same function is given to mpi.Run.
func ExampleRun() {
	work := func(c mpi.Communicator) error {
		result, err := measure.Run(context.Background(), c, &measure.Settings{Repetitions: 2})
		if err != nil {
			return err
		}
		if c.Rank() == 0 {
			latencies := result.Matrices() // for a topology.Reconstructor
			rows, _ := latencies[0].Dims()
			fmt.Println(len(latencies), "repetitions between", rows, "ranks in", result.Rounds, "rounds")
		}
		return nil
	}
	if err := local.Run(4, nil, work); err != nil {
		fmt.Println(err)
	}
	// Output: 2 repetitions between 4 ranks in 6 rounds
}
