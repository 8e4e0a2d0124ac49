package bcast_test

import (
	"context"
	"fmt"
	"log"
	"sync"

	"github.com/topocast/topocast/bcast"
	"github.com/topocast/topocast/measure"
	"github.com/topocast/topocast/model"
	"github.com/topocast/topocast/mpi"
	"github.com/topocast/topocast/mpi/local"
	"github.com/topocast/topocast/mpi/simnet"
)

// Three ranks of one process; with real MPI, mpi.Run stands for local.Run.
func Example() {
	err := local.Run(3, nil, func(comm mpi.Communicator) error {
		b, err := bcast.New(comm, nil) // or with the Network of the ranks
		if err != nil {
			return err
		}
		temperatures := make([]float64, 4)
		if comm.Rank() == 1 {
			temperatures = []float64{20.5, 21, 19.5, 22}
		}
		if err := bcast.BcastSlice(b, temperatures, 1); err != nil {
			return err
		}
		if comm.Rank() == 2 {
			fmt.Println(temperatures)
		}
		return nil
	})
	if err != nil {
		log.Fatal(err)
	}
	// Output: [20.5 21 19.5 22]
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

// A panel of 4 MB takes 4 ms, and so does the work on the one before it: both together take hardly longer.
func ExampleBroadcaster_Ibcast() {
	cluster, err := simnet.ParseCluster("star:2 latency=5us rate=1GBps")
	if err != nil {
		log.Fatal(err)
	}
	err = simnet.Run(cluster.Graph, nil, cluster.Settings(), func(comm mpi.Communicator) error {
		b, err := bcast.New(comm, nil)
		if err != nil {
			return err
		}
		panel := make([]float64, 500_000)
		if err := bcast.BcastSlice(b, panel, 0); err != nil { // the first of its size, for which the plan is chosen
			return err
		}
		begin := comm.(mpi.Clock).Now()
		next, err := bcast.IbcastSlice(b, panel, 0)
		if err != nil {
			return err
		}
		for range 8 {
			comm.(*simnet.Comm).Sleep(0.5e-3) // s: a piece of the work
			if _, err := next.Test(); err != nil {
				return err
			}
		}
		if err := next.Wait(); err != nil { // now the panel is there
			return err
		}
		if comm.Rank() == 1 {
			fmt.Printf("%.0f ms\n", 1e3*(comm.(mpi.Clock).Now()-begin))
		}
		return b.Close()
	})
	if err != nil {
		log.Fatal(err)
	}
	// Output: 4 ms
}

// Where the ranks of this job run, to predict other transfers: the job got
// three of the hosts, in another order than they were measured in.
func ExampleLocations() {
	cluster, network := racks()
	err := simnet.Run(cluster.Graph, []int{7, 5, 0}, cluster.Settings(), func(comm mpi.Communicator) error {
		locations, err := bcast.Locations(comm) // collective
		if err != nil {
			return err
		}
		mine, err := network.View(locations)
		if err != nil {
			return err
		}
		if comm.Rank() == 0 {
			fmt.Printf("%s to %s: %.0f us\n", locations[0].Host, locations[1].Host, 1e6*mine.Time(0, 1, 0))
			fmt.Printf("%s to %s: %.0f us\n", locations[0].Host, locations[2].Host, 1e6*mine.Time(0, 2, 0))
		}
		return nil
	})
	if err != nil {
		log.Fatal(err)
	}
	// Output:
	// h7 to h5: 4 us
	// h7 to h0: 24 us
}

// Decide beforehand, so that the first broadcast is as fast as the next, and see
// how it is done.
func ExampleBroadcaster_Tune() {
	cluster, network := racks()
	err := simnet.Run(cluster.Graph, nil, cluster.Settings(), func(comm mpi.Communicator) error {
		b, err := bcast.New(comm, &bcast.Settings{Network: network})
		if err != nil {
			return err
		}
		if err := b.Tune([]int{0}, 8, 1<<20); err != nil { // collective
			return err
		}
		if comm.Rank() == 0 {
			plan, err := b.Plan(1<<20, 0)
			if err != nil {
				return err
			}
			fmt.Println(plan.Name(), "in segments of", plan.Segment, "bytes")
		}
		return b.Bcast(make([]byte, 1<<20), 0)
	})
	if err != nil {
		log.Fatal(err)
	}
	// Output: chain in segments of 4096 bytes
}
