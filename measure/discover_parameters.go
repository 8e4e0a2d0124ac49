package measure

import (
	"context"
	"slices"

	"github.com/topocast/topocast/measure/harness"
	"github.com/topocast/topocast/measure/plogp"
	"github.com/topocast/topocast/mpi"
	"github.com/topocast/topocast/topology"
	"github.com/topocast/topocast/topology/cluster"
)

// parameterShare is the part of the budget, a quarter, that PLogP parameters get where they are wanted.
const parameterShare = 4

// measureParameters measures the PLogP parameters of all pairs if rank 0 wants them. It is collective.
func (d *Discovery) measureParameters(ctx context.Context, comm mpi.Communicator, s *DiscoverSettings) error {
	wanted, err := harness.Share(comm, nil, func() (bool, error) { return s.View != nil, nil })
	if err != nil || !wanted {
		return err
	}
	d.Parameters, err = plogp.Measure(ctx, comm, &plogp.Settings{
		Control: s.control("PLogP parameters", s.Budget/parameterShare), Seed: s.Seed,
	})
	return err
}

// wiring makes the wiring of the latencies, or of the distances of the view: then the groups get the latencies
// of the readings.
func (d *Discovery) wiring(r topology.Reconstructor, view *plogp.View) (*topology.Result, error) {
	readings := d.Latencies.Matrices()
	if view == nil {
		return r.Reconstruct(readings...)
	}
	distances, err := d.Parameters.Distances(*view)
	if err != nil {
		return nil, err
	}
	found, err := r.Reconstruct(distances)
	if err != nil {
		return nil, err
	}
	timed, err := cluster.Timed(found.Hierarchy, readings...)
	if err != nil {
		return nil, err
	}
	timed.Warnings = slices.Concat(d.Parameters.Warnings, found.Warnings, timed.Warnings)
	return timed, nil
}
