package measure

import (
	"context"
	"fmt"

	"github.com/topocast/topocast/measure/harness"
	"github.com/topocast/topocast/mpi"
)

// A way is how the latencies of a job are measured. Rank 0 chooses it.
type way byte

const (
	allPairs  way = iota
	twoLevels     // the inside of nodes apart from what is between them
)

// measureLatencies measures them in the way that the settings and the job ask
// for. It is collective.
func (d *Discovery) measureLatencies(ctx context.Context, comm mpi.Communicator, s *DiscoverSettings, short Settings) error {
	places, err := mpi.GatherPlaces(comm)
	if err != nil {
		return fmt.Errorf("measure: discover: %w", err)
	}
	chosen := []byte{byte(allPairs)}
	steps := make([]Settings, 3) // as many on all ranks
	if comm.Rank() == 0 && s.TwoLevel {
		if n := newNodes(places, s.EqualHosts); n.several() {
			chosen[0] = byte(twoLevels)
			d.nodes = n
			steps, err = n.steps(comm.Size(), short)
		}
	}
	if err := harness.Agree(comm, err); err != nil {
		return err
	}
	if chosen, err = harness.Tell(comm, chosen); err != nil {
		return fmt.Errorf("measure: discover: %w", err)
	}
	if way(chosen[0]) == twoLevels {
		d.Latencies, err = oneAfterTheOther(ctx, comm, short.Budget, steps)
	} else {
		d.Latencies, err = run(ctx, comm, &short)
	}
	return err
}
