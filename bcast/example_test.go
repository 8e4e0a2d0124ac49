package bcast_test

import (
	"context"
	"fmt"
	"log"

	"github.com/topocast/topocast/bcast"
	"github.com/topocast/topocast/measure"
	"github.com/topocast/topocast/model"
	"github.com/topocast/topocast/mpi"
	"github.com/topocast/topocast/mpi/local"
	"github.com/topocast/topocast/mpi/simnet"
	"github.com/topocast/topocast/topology"
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

// Who sends to whom, with racks {0,1,2} and {3,4,5}: the chain goes through
// the root's own rack first, and enters the other one once.
func ExampleAlgorithm() {
	racks, err := topology.NewHierarchy(6, []topology.Level{{Name: "rack"}}, []topology.Group{
		{Hosts: []int{0, 1, 2}, Support: 1},
		{Hosts: []int{3, 4, 5}, Support: 1},
	}, 50e-6)
	if err != nil {
		log.Fatal(err)
	}
	p := bcast.Problem{Ranks: 6, Root: 4, Bytes: 10, Segment: 5, Tree: racks}
	if err := bcast.Check(bcast.Chain{}, p); err != nil {
		log.Fatal(err)
	}
	for rank := range p.Ranks {
		fmt.Println(rank, bcast.Chain{}.Ops(nil, p, rank))
	}
	// Output:
	// 0 [recv [0, 5) peer 5 send [0, 5) peer 1 recv [5, 10) peer 5 send [5, 10) peer 1]
	// 1 [recv [0, 5) peer 0 send [0, 5) peer 2 recv [5, 10) peer 0 send [5, 10) peer 2]
	// 2 [recv [0, 5) peer 1 recv [5, 10) peer 1]
	// 3 [recv [0, 5) peer 4 send [0, 5) peer 5 recv [5, 10) peer 4 send [5, 10) peer 5]
	// 4 [send [0, 5) peer 3 send [5, 10) peer 3]
	// 5 [recv [0, 5) peer 3 send [0, 5) peer 0 recv [5, 10) peer 3 send [5, 10) peer 0]
}

// racks is a simulated machine of two racks of four hosts, and its network as it
// is discovered there. That of your machine is model.Load of what topocast
// discover has written.
func racks() (*simnet.Cluster, *model.Network) {
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
}

// What is best for a message, without any communicator. Segment 0 is the whole
// message.
func ExamplePlans() {
	_, network := racks()
	for _, bytes := range []int{8, 1 << 20} {
		plans, err := bcast.Plans(network, bytes, 0)
		if err != nil {
			log.Fatal(err)
		}
		fmt.Printf("%d bytes: %s in segments of %d\n", bytes, plans[0].Name(), plans[0].Segment)
	}
	// Output:
	// 8 bytes: flat in segments of 0
	// 1048576 bytes: chain in segments of 8192
}

// How long one algorithm would take. Each rank of a chain has sent its 1 MiB
// before the next one begins, unless it goes in segments.
func ExamplePredict() {
	_, network := racks()
	for _, segment := range []int{0, 16 << 10} {
		seconds, err := bcast.Predict(network, bcast.Chain{}, bcast.Problem{
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

// Each algorithm is right for 100 ranks and any root.
func ExampleCheck() {
	for _, a := range bcast.Algorithms() {
		for root := range 100 {
			if err := bcast.Check(a, bcast.Problem{Ranks: 100, Root: root, Bytes: 1000, Segment: 300}); err != nil {
				log.Fatal(err)
			}
		}
		fmt.Println(a.Name())
	}
	// Output:
	// flat
	// binomial
	// chain
	// multilevel
}

// Where the ranks of this job run, for predictions of one's own: the job got
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
		if err := b.Tune(0, 8, 1<<20); err != nil { // collective
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
	// Output: chain in segments of 8192 bytes
}

// All variants side by side; with real MPI also the library's own, "native".
func ExampleBenchmark() {
	cluster, network := racks()
	err := simnet.Run(cluster.Graph, nil, cluster.Settings(), func(comm mpi.Communicator) error {
		b, err := bcast.New(comm, &bcast.Settings{Network: network})
		if err != nil {
			return err
		}
		report, err := bcast.Benchmark(context.Background(), b, &bcast.BenchmarkSettings{Sizes: []int{64 << 10}, Repetitions: 3})
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
	// ours       0.14 ms, every byte right: true
	// flat       0.46 ms, every byte right: true
	// binomial   0.41 ms, every byte right: true
	// chain      0.14 ms, every byte right: true
	// multilevel 0.16 ms, every byte right: true
}
