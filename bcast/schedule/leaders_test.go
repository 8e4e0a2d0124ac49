package schedule_test

import (
	"fmt"
	"testing"

	"github.com/topocast/topocast/bcast/schedule"
	"github.com/topocast/topocast/topology"
)

// Hosts {0,5}, {1,4}, {2,3}, of which the first and last share a rack, so the walk from rank 3 goes 3, 2, then 0, 5,
// then 1, 4. In a
// binomial tree a place is served by the one without its lowest bit. By hand.
func TestLeadersByHand(t *testing.T) {
	tree, err := topology.NewHierarchy(6, make([]topology.Level, 2), []topology.Group{
		{Level: 0, Hosts: []int{0, 5}},
		{Level: 0, Hosts: []int{1, 4}},
		{Level: 0, Hosts: []int{2, 3}},
		{Level: 1, Hosts: []int{0, 2, 3, 5}},
	}, 1e-6)
	if err != nil {
		t.Fatal(err)
	}
	p := schedule.Problem{Ranks: 6, Root: 3, Bytes: 20, Segment: 10, Tree: tree}
	for _, c := range []struct {
		name string
		a    schedule.Algorithm
		want [6]string // by rank
	}{
		{"the chain of leaders, each of which sends on what it has before it serves its group", schedule.Leaders{}, [6]string{
			"[recv [0, 10) peer 3 send [0, 10) peer 1 send [0, 10) peer 5 recv [10, 20) peer 3 send [10, 20) peer 1 send [10, 20) peer 5]",
			"[recv [0, 10) peer 0 send [0, 10) peer 4 recv [10, 20) peer 0 send [10, 20) peer 4]",
			"[recv [0, 10) peer 3 recv [10, 20) peer 3]",
			"[send [0, 10) peer 0 send [10, 20) peer 0 send [0, 10) peer 2 send [10, 20) peer 2]",
			"[recv [0, 10) peer 1 recv [10, 20) peer 1]",
			"[recv [0, 10) peer 0 recv [10, 20) peer 0]",
		}},
		{"racks have leaders, and the host in none is its own", schedule.Leaders{Level: 1}, [6]string{
			"[recv [0, 10) peer 3 send [0, 10) peer 5 recv [10, 20) peer 3 send [10, 20) peer 5]",
			"[recv [0, 10) peer 3 send [0, 10) peer 4 recv [10, 20) peer 3 send [10, 20) peer 4]",
			"[recv [0, 10) peer 3 recv [10, 20) peer 3]",
			"[send [0, 10) peer 1 send [10, 20) peer 1 send [0, 10) peer 0 send [0, 10) peer 2 send [10, 20) peer 0 send [10, 20) peer 2]",
			"[recv [0, 10) peer 1 recv [10, 20) peer 1]",
			"[recv [0, 10) peer 0 recv [10, 20) peer 0]",
		}},
	} {
		for rank, want := range c.want {
			if got := fmt.Sprint(c.a.Prepare(p).Of(rank).Ops(nil, p)); got != want {
				t.Errorf("%s: rank %d: %s\nwant %s", c.name, rank, got, want)
			}
		}
	}
}
