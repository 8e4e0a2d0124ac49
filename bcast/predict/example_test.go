package predict_test

import (
	"context"
	"fmt"
	"log"

	"github.com/topocast/topocast/bcast/predict"
	"github.com/topocast/topocast/bcast/schedule"
	"github.com/topocast/topocast/measure"
	"github.com/topocast/topocast/model"
	"github.com/topocast/topocast/mpi"
	"github.com/topocast/topocast/mpi/simnet"
)

// racksNetwork is the network of two racks of four hosts, as it is discovered
// on a simulated machine. That of your machine is model.Load of what topocast
// discover has written.
func racksNetwork() *model.Network {
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
	return network
}

// What is best for a message, without any communicator. Segment 0 is the whole
// message.
func ExamplePlans() {
	network := racksNetwork()
	for _, bytes := range []int{8, 1 << 20} {
		plans, err := predict.Plans(network, nil, bytes, 0)
		if err != nil {
			log.Fatal(err)
		}
		fmt.Printf("%d bytes: %s in segments of %d\n", bytes, plans[0].Name(), plans[0].Segment)
	}
	// Output:
	// 8 bytes: flat in segments of 0
	// 1048576 bytes: chain in segments of 4096
}

// How long one algorithm would take. Each rank of a chain has sent its 1 MiB
// before the next one begins, unless it goes in segments.
func ExamplePredict() {
	network := racksNetwork()
	for _, segment := range []int{0, 16 << 10} {
		seconds, err := predict.Predict(network, schedule.Chain{}, schedule.Problem{
			Ranks: network.Ranks(), Bytes: 1 << 20, Segment: segment, Tree: network.Hierarchy(),
		})
		if err != nil {
			log.Fatal(err)
		}
		fmt.Printf("segment %d: %.1f ms\n", segment, 1e3*seconds)
	}
	// Output:
	// segment 0: 7.5 ms
	// segment 16384: 1.2 ms
}
