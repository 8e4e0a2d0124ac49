package simnet_test

import (
	"testing"

	"github.com/topocast/topocast/internal/gen"
	"github.com/topocast/topocast/model/contention"
	"github.com/topocast/topocast/mpi"
	"github.com/topocast/topocast/mpi/mpitest"
	"github.com/topocast/topocast/mpi/simnet"
	"github.com/topocast/topocast/topology"
)

func graphOf(t testing.TB, spec string) *topology.Graph {
	t.Helper()
	c, err := gen.Parse(spec)
	if err != nil {
		t.Fatal(err)
	}
	return c.Graph
}

func TestContract(t *testing.T) {
	for name, s := range map[string]*simnet.Settings{
		"defaults": nil,
		"nothing is eager": {
			EagerLimit: -1, Send: simnet.Overhead{Seconds: 1e-6, PerByte: 1e-10}, Recv: simnet.Overhead{Seconds: 2e-6}, ClockCost: -1,
			Noise: simnet.Noise{Sigma: 0.05, Outliers: 0.02}, Window: 1 << 16, Sharing: contention.Sharing{Coupling: 1},
		},
	} {
		t.Run(name, func(t *testing.T) {
			g := graphOf(t, "tree:2x2")
			mpitest.RunWorld(t, func(n int, body func(mpi.Communicator) error) error {
				placement := make([]int, n)
				for r := range placement {
					placement[r] = r * 4 / n // two ranks on a host when there are 8
				}
				return simnet.Run(g, placement, s, body)
			})
		})
	}
}
