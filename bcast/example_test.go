package bcast_test

import (
	"fmt"
	"log"

	"github.com/topocast/topocast/bcast"
	"github.com/topocast/topocast/mpi"
	"github.com/topocast/topocast/mpi/local"
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
