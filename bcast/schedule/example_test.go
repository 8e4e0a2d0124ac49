package schedule_test

import (
	"fmt"
	"log"

	"github.com/topocast/topocast/bcast/schedule"
	"github.com/topocast/topocast/topology"
)

// Who sends to whom, with racks {0,1,2} and {3,4,5}: the chain goes through
// the root's own rack first, and enters the other one once.
func ExampleAlgorithm() {
	racks, err := topology.NewHierarchy(6, []topology.Level{{Name: "rack"}}, []topology.Group{
		{Hosts: []int{0, 1, 2}, Confidence: 1},
		{Hosts: []int{3, 4, 5}, Confidence: 1},
	}, 50e-6)
	if err != nil {
		log.Fatal(err)
	}
	p := schedule.Problem{Ranks: 6, Root: 4, Bytes: 10, Segment: 5, Tree: racks}
	if err := schedule.Check(schedule.Chain{}, p); err != nil {
		log.Fatal(err)
	}
	for rank := range p.Ranks {
		fmt.Println(rank, schedule.Chain{}.Prepare(p).Of(rank).Ops(nil, p))
	}
	// Output:
	// 0 [recv [0, 5) peer 5 send [0, 5) peer 1 recv [5, 10) peer 5 send [5, 10) peer 1]
	// 1 [recv [0, 5) peer 0 send [0, 5) peer 2 recv [5, 10) peer 0 send [5, 10) peer 2]
	// 2 [recv [0, 5) peer 1 recv [5, 10) peer 1]
	// 3 [recv [0, 5) peer 4 send [0, 5) peer 5 recv [5, 10) peer 4 send [5, 10) peer 5]
	// 4 [send [0, 5) peer 3 send [5, 10) peer 3]
	// 5 [recv [0, 5) peer 3 send [0, 5) peer 0 recv [5, 10) peer 3 send [5, 10) peer 0]
}

// Each algorithm is right for 21 ranks and any root.
func ExampleCheck() {
	for _, a := range schedule.Algorithms() {
		for root := range 21 {
			if err := schedule.Check(a, schedule.Problem{Ranks: 21, Root: root, Bytes: 1000, Segment: 300}); err != nil {
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
	// k-chain
	// binary
	// split-binary
	// k-nomial
	// circulant
	// magpie2
	// earliest
	// paced
}
