package simnet_test

import (
	"testing"

	"github.com/topocast/topocast/internal/gen"
	"github.com/topocast/topocast/mpi"
	"github.com/topocast/topocast/mpi/simnet"
)

// Messages above the limit carry nothing, and all ranks have the same memory for them. Others have content, and no memory of all ranks.
func TestHollowMessagesShareTheirMemory(t *testing.T) {
	cluster, err := gen.Parse("star:3")
	if err != nil {
		t.Fatal(err)
	}
	var first *byte
	for limit, shared := range map[int]bool{0: false, 64: true} {
		err := simnet.Run(cluster.Graph, nil, &simnet.Settings{HollowAbove: limit}, func(c mpi.Communicator) error {
			sim := c.(*simnet.Comm)
			if buf := sim.Hollow(64); buf != nil {
				t.Errorf("limit %d: %d bytes of memory for 64 B", limit, len(buf))
			}
			buf := sim.Hollow(65)
			if shared != (len(buf) == 65) {
				t.Errorf("limit %d: %d bytes of memory for 65 B", limit, len(buf))
			}
			if !shared {
				return nil
			}
			if first == nil {
				first = &buf[0]
			}
			if first != &buf[0] {
				t.Errorf("limit %d: rank %d has memory of its own", limit, c.Rank())
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
	}
}
