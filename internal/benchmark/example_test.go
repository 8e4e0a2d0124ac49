package benchmark_test

import (
	"context"
	"fmt"
	"log"
	"sync"

	"github.com/topocast/topocast/bcast"
	"github.com/topocast/topocast/bcast/schedule"
	"github.com/topocast/topocast/internal/benchmark"
	"github.com/topocast/topocast/measure"
	"github.com/topocast/topocast/model"
	"github.com/topocast/topocast/mpi"
	"github.com/topocast/topocast/mpi/simnet"
)

// Some algorithms side by side; with real MPI also the library's own, "native".
func ExampleRun() {
	cluster, network := racks()
	err := simnet.Run(cluster.Graph, nil, cluster.Settings(), func(comm mpi.Communicator) error {
		b, err := bcast.New(comm, &bcast.Settings{
			Network:    network,
			Algorithms: []schedule.Algorithm{schedule.Flat{}, schedule.Binomial{}, schedule.Chain{}, schedule.MultiLevel{}},
		})
		if err != nil {
			return err
		}
		report, err := benchmark.Run(context.Background(), comm, b, &benchmark.Settings{Sizes: []int{64 << 10}, Repetitions: 3})
		if err != nil || comm.Rank() != 0 {
			return err
		}
		for _, row := range report.Rows {
			fmt.Printf("%-10s %.2f ms, every byte right: %v\n", row.Variant, 1e3*row.Median, row.Verified)
		}
		return nil
	})
	if err != nil {
		log.Fatal(err)
	}
	// Output:
	// ours       0.12 ms, every byte right: true
	// flat       0.46 ms, every byte right: true
	// binomial   0.22 ms, every byte right: true
	// chain      0.12 ms, every byte right: true
	// multilevel 0.12 ms, every byte right: true
}

// racks is a simulated machine of two racks of four hosts, and its network as it
// is discovered there. That of your machine is model.Load of what topocast
// discover has written.
var racks = sync.OnceValues(func() (*simnet.Cluster, *model.Network) {
	cluster, err := simnet.ParseCluster("tree:2x4 latency=10us,2us rate=1GBps")
	if err != nil {
		log.Fatal(err)
	}
	var network *model.Network
	err = simnet.Run(cluster.Graph, nil, cluster.Settings(), func(comm mpi.Communicator) error {
		found, err := measure.Discover(context.Background(), comm, nil)
		if err == nil && comm.Rank() == 0 {
			network = found.Network
		}
		return err
	})
	if err != nil {
		log.Fatal(err)
	}
	return cluster, network
})
