package main

import (
	"bytes"
	"testing"

	"github.com/topocast/topocast/internal/cli"
	"github.com/topocast/topocast/internal/gen"
	"github.com/topocast/topocast/internal/share"
	"github.com/topocast/topocast/mpi"
	"github.com/topocast/topocast/mpi/simnet"
)

// TestHollowSimulationsAreTold: ranks of a simulation that leaves long messages hollow still learn what rank 0 tells them,
// however long it is, such as the plan of a large measurement.
func TestHollowSimulationsAreTold(t *testing.T) {
	cluster, err := gen.Parse("star:3")
	if err != nil {
		t.Fatal(err)
	}
	told := bytes.Repeat([]byte("plan"), cli.DiscoverHollow)
	err = simnet.Run(cluster.Graph, nil, &simnet.Settings{HollowAbove: cli.DiscoverHollow}, func(comm mpi.Communicator) error {
		var own []byte
		if comm.Rank() == 0 {
			own = told
		}
		data, err := share.Binomial(comm, 0, 1).TellAny(own)
		if err == nil && !bytes.Equal(data, told) {
			t.Errorf("rank %d got something else", comm.Rank())
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
}
