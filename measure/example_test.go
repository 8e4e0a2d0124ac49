package measure_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log"
	"os"
	"path/filepath"

	"github.com/topocast/topocast/measure"
	"github.com/topocast/topocast/measure/record"
	"github.com/topocast/topocast/mpi"
	"github.com/topocast/topocast/mpi/local"
	"github.com/topocast/topocast/mpi/simnet"
	"github.com/topocast/topocast/topology/encode"
)

// The ranks are goroutines here; under MPI the same function is given to mpi.Run.
func ExampleRun() {
	work := func(c mpi.Communicator) error {
		result, err := measure.Run(context.Background(), c, &measure.Settings{Sampling: measure.Sampling{Repetitions: 2}})
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

// From a job to its network: two racks of four hosts, simulated. 1 MiB takes
// 1.05 ms at 1 GB/s, and three times the 24 us of the way: for the request, the
// consent and the message.
func ExampleDiscover() {
	cluster, err := simnet.ParseCluster("tree:2x4 latency=10us,2us rate=1GBps")
	if err != nil {
		log.Fatal(err)
	}
	err = simnet.Run(cluster.Graph, nil, cluster.Settings(), func(c mpi.Communicator) error {
		found, err := measure.Discover(context.Background(), c, nil)
		if err != nil || c.Rank() != 0 {
			return err
		}
		for _, rack := range found.Topology.Hierarchy.Groups()[1:] {
			fmt.Printf("%v confidence %.2f\n", rack.Hosts, rack.Confidence)
		}
		fmt.Printf("1 MiB across: %.2f ms\n", 1e3*found.Network.Time(0, 7, 1<<20))
		return nil // or found.Network.Save("network.json")
	})
	if err != nil {
		log.Fatal(err)
	}
	// Output:
	// [0 1 2 3] confidence 1.00
	// [4 5 6 7] confidence 1.00
	// 1 MiB across: 1.12 ms
}

// Keep what was measured, together with its conditions, and read it again.
func ExampleResult_WriteFile() {
	folder, err := os.MkdirTemp("", "")
	if err != nil {
		log.Fatal(err)
	}
	defer os.RemoveAll(folder)
	path := filepath.Join(folder, "readings.json")
	err = local.Run(2, nil, func(c mpi.Communicator) error {
		result, err := measure.Run(context.Background(), c, nil)
		if err != nil || c.Rank() != 0 {
			return err
		}
		return result.WriteFile(path)
	})
	if err != nil {
		log.Fatal(err)
	}
	result, err := measure.ReadFile(path)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(result.Ranks, "ranks,", result.Repetitions, "repetitions of", result.Samples, "samples")
	// Output: 2 ranks, 3 repetitions of 20 samples
}

// A file that is no measurement may be a matrix of latencies.
func ExampleReadResult() {
	file := []byte(",5\n5,\n")
	_, err := measure.ReadResult(bytes.NewReader(file))
	if errors.Is(err, record.ErrFormat) {
		latencies, err := encode.ReadMatrix(bytes.NewReader(file), encode.Microsecond)
		if err != nil {
			log.Fatal(err)
		}
		fmt.Println("a matrix:", latencies.Matrix.At(0, 1), "s")
	}
	// Output: a matrix: 5e-06 s
}
