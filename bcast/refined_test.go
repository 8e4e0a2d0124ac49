package bcast_test

import (
	"fmt"
	"testing"

	"github.com/topocast/topocast/bcast"
	"github.com/topocast/topocast/bcast/predict"
	"github.com/topocast/topocast/bcast/schedule"
	"github.com/topocast/topocast/internal/casttest"
	"github.com/topocast/topocast/mpi"
	"github.com/topocast/topocast/mpi/simnet"
)

// A plan whose segment was moved by measuring has the prediction of what it has become, the same on
// all ranks: that which predict.Predict makes of it.
func TestRefinedPlanIsPredicted(t *testing.T) {
	c, n := cluster(t, "tree:2x3 latency=20us,5us rate=1Gbps")
	const size, root = 256 << 10, 4
	eager := *overheads
	eager.EagerLimit = 1 << 10 // which this network does not know: longer segments pay for asking, and so shorter ones are better
	refined := false
	err := simnet.Run(c.Graph, nil, &eager, func(comm mpi.Communicator) error {
		b, err := bcast.New(newLibrary(comm, schedule.Flat{}, 0), &bcast.Settings{Network: n, Algorithms: []schedule.Algorithm{schedule.Chain{}}})
		if err != nil {
			return err
		}
		plans, err := b.Candidates(size, root)
		if err != nil {
			return err
		}
		if err := b.Tune([]int{root}, size); err != nil {
			return err
		}
		got, err := b.Plan(size, root)
		if err != nil {
			return err
		}
		if got.Segment != plans[0].Segment && comm.Rank() == 0 {
			refined = true
		}
		want, err := predict.Predict(n, got.Algorithm, schedule.Problem{Ranks: comm.Size(), Root: root, Bytes: size, Segment: got.Segment, Tree: n.Hierarchy(), Costs: predict.Costs(n, n.Hierarchy())})
		if err != nil || !casttest.Near(got.Predicted, want, 1e-12) {
			return fmt.Errorf("rank %d: %v, %v, want it predicted %g s", comm.Rank(), got, err, want)
		}
		return nil
	})
	if err != nil || !refined {
		t.Errorf("%v; a segment was moved: %v", err, refined)
	}
}
