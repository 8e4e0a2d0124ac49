package measure

import (
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/topocast/topocast/internal/quantity"
	"github.com/topocast/topocast/measure/harness"
	"github.com/topocast/topocast/model"
	"github.com/topocast/topocast/topology"
	"github.com/topocast/topocast/topology/cluster"
	"github.com/topocast/topocast/topology/linkage"
)

// reconstruct makes groups and wiring of the latencies. Few pairs have told them already.
func (d *Discovery) reconstruct(s *DiscoverSettings) error {
	if len(d.Latencies.measurements) == 0 && d.Latencies.Ranks > 1 {
		return d.nothing(s)
	}
	if d.Topology == nil {
		found, err := d.wiring(s)
		if errors.Is(err, topology.ErrDisconnected) {
			err = d.tooLittle(s, err)
		}
		if err != nil {
			return err
		}
		d.Topology = found
	}
	d.Topology.Warnings = append(slices.Clone(d.Latencies.Warnings), d.Topology.Warnings...)
	network, err := model.New(d.Topology, nil)
	if err != nil {
		return err
	}
	d.groups = network.Hierarchy()
	return nil
}

// wiring makes the wiring of the latencies, or of the distances of the view: then the groups get the latencies
// that were measured.
func (d *Discovery) wiring(s *DiscoverSettings) (*topology.Result, error) {
	var r topology.Reconstructor = &linkage.Robust{}
	if s.Reconstructor != nil {
		r = s.Reconstructor
	}
	if d.nodes != nil {
		r = &twoLevels{d.nodes, r}
	}
	latencies := d.Latencies.Matrices()
	if s.View == nil {
		return r.Reconstruct(latencies...)
	}
	distances, err := d.Parameters.Distances(*s.View)
	if err != nil {
		return nil, err
	}
	found, err := r.Reconstruct(distances)
	if err != nil {
		return nil, err
	}
	timed, err := cluster.Timed(found.Hierarchy, latencies...)
	if err != nil {
		return nil, err
	}
	timed.Warnings = slices.Concat(d.Parameters.Warnings, found.Warnings, timed.Warnings)
	return timed, nil
}

// nothing says why nothing was measured.
func (d *Discovery) nothing(s *DiscoverSettings) error {
	r := d.Latencies
	if r.Stopped == harness.StoppedByBudget {
		return fmt.Errorf("measure: discover: the budget of %v ended before the first of %d rounds was measured: give it a larger one", s.Budget, r.TotalRounds)
	}
	return fmt.Errorf("measure: discover: cancelled before the first of %d rounds was measured", r.TotalRounds)
}

// tooLittle says why measurements leave the ranks in parts, where they ended early.
func (d *Discovery) tooLittle(s *DiscoverSettings, err error) error {
	if p := d.Parameters; p != nil && p.Stopped == harness.StoppedByBudget {
		text := "give it a larger one"
		if p.Rounds > 0 {
			need := time.Duration(1.2 * float64(d.parametersHad) * float64(p.TotalRounds) / float64(p.Rounds))
			before := s.Budget - parameterShare*d.parametersHad
			text = fmt.Sprintf("give it about %v", (before+parameterShare*need).Truncate(time.Second)+time.Second)
		}
		return fmt.Errorf("measure: discover: PLogP parameters had %s of the budget of %v, which ended after %d of %d rounds: %w: %s",
			quantity.Seconds(d.parametersHad.Seconds()), s.Budget, p.Rounds, p.TotalRounds, err, text)
	}
	r := d.Latencies
	switch r.Stopped {
	case harness.StoppedByBudget:
		return fmt.Errorf("measure: discover: the budget of %v ended after %d of %d rounds: %w: give it a larger one", s.Budget, r.Rounds, r.TotalRounds, err)
	case harness.StoppedByContext:
		return fmt.Errorf("measure: discover: cancelled after %d of %d rounds: %w", r.Rounds, r.TotalRounds, err)
	}
	return err
}
