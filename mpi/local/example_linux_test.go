package local_test

import (
	"context"
	"fmt"

	"github.com/topocast/topocast/measure"
	"github.com/topocast/topocast/mpi"
	"github.com/topocast/topocast/mpi/local"
)

// The latencies between two cores of this machine, without MPI.
func ExampleRun_pinned() {
	err := local.Run(2, &local.Settings{Mode: local.Pinned}, func(c mpi.Communicator) error {
		result, err := measure.Run(context.Background(), c, nil)
		if err != nil || c.Rank() != 0 {
			return err
		}
		latencies, err := result.Matrix(func(x *measure.Measurement) float64 { return x.Median }, 0, 0) // s
		if err != nil {
			return err
		}
		fmt.Println("there and back takes time:", latencies.At(0, 1) > 0, latencies.At(1, 0) > 0)
		return nil
	})
	if err != nil {
		fmt.Println(err)
	}
	// Output: there and back takes time: true true
}
