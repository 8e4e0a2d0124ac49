package concurrent_test

import (
	"context"
	"fmt"
	"log"

	"github.com/topocast/topocast/measure/concurrent"
	"github.com/topocast/topocast/model"
	"github.com/topocast/topocast/mpi"
	"github.com/topocast/topocast/mpi/simnet"
)

// Two messages into rank 1 and one out of it, on hosts with links of 1 Gbit/s whose
// directions disturb each other as far as they can: the one out takes as long as those in.
// Without that it would take half the time.
func ExampleMeasure() {
	cluster, err := simnet.ParseCluster("star:4 rate=1Gbps")
	if err != nil {
		log.Fatal(err)
	}
	machine := cluster.Settings()
	machine.Sharing.Coupling = 1
	err = simnet.Run(cluster.Graph, nil, machine, func(comm mpi.Communicator) error {
		const size = 1_250_000 // B, 10 ms
		r, err := concurrent.Measure(context.Background(), comm, &concurrent.Settings{
			Patterns: [][]model.Transfer{{{Src: 0, Dst: 1, Bytes: size}, {Src: 2, Dst: 1, Bytes: size}, {Src: 1, Dst: 3, Bytes: size}}},
		})
		if err != nil || comm.Rank() != 0 {
			return err
		}
		for i, t := range r.Patterns[0].Times {
			fmt.Printf("%v: %.1f ms\n", r.Patterns[0].Transfers[i], t.Median*1e3)
		}
		return nil
	})
	if err != nil {
		log.Fatal(err)
	}
	// Output:
	// 0->1, 1250000 bytes: 20.0 ms
	// 2->1, 1250000 bytes: 20.0 ms
	// 1->3, 1250000 bytes: 20.0 ms
}
