package servet

import (
	"cmp"
	"context"
	"fmt"
	"time"

	"github.com/topocast/topocast/internal/words"
	"github.com/topocast/topocast/measure/concurrent"
	"github.com/topocast/topocast/measure/harness"
	"github.com/topocast/topocast/mpi"
)

// together lets all ranks measure: rank 0 makes a plan of where they are, and each takes its part. It is collective.
func together[P, R any](ctx context.Context, comm mpi.Communicator, silence time.Duration, plan func(*harness.Conductor, []mpi.Place) (P, error), measure func(*harness.Conductor, P) (R, error)) (R, error) {
	return harness.Conduct(ctx, comm, silence, func(c *harness.Conductor) (result R, err error) {
		places, err := mpi.GatherPlaces(c.Comm)
		if err != nil {
			return result, err
		}
		p, err := harness.Share(c.Comm, c, func() (P, error) { return plan(c, places) })
		if err != nil {
			return result, err
		}
		if result, err = measure(c, p); err != nil {
			return result, fmt.Errorf("servet: %w", err)
		}
		return result, nil
	})
}

// rings measures what a plan makes of the ranks of each host, as patterns of messages that are under way together. It is
// collective.
func rings(ctx context.Context, comm mpi.Communicator, settings *Settings, what string, plan func(ranks [][]int, s *Settings) (steps []step, warnings []string)) (*Result, error) {
	s := *cmp.Or(settings, &Settings{})
	var r *Result
	var patterns *concurrent.Settings
	return together(ctx, comm, s.Silence, func(c *harness.Conductor, places []mpi.Place) (none struct{}, err error) {
		if err := s.validate(); err != nil {
			return none, err
		}
		r = &Result{What: what, Bytes: s.Bytes, Repetitions: s.Repetitions}
		patterns = &concurrent.Settings{Control: s.Control, MinIterations: r.Repetitions, MaxIterations: r.Repetitions}
		var ranks [][]int
		ranks, r.Hosts = ranksOf(places, s.Resources, s.Hosts)
		steps, warnings := plan(ranks, &s)
		r.Warnings = append(warnings, oversubscribed(places)...)
		if _, ok := c.Comm.(mpi.NonBlocking); !ok {
			r.Warnings = append(r.Warnings, "the communicator sends or receives, one at a time: half of the messages wait for the others")
		}
		for _, x := range steps {
			r.Steps = append(r.Steps, Step{At: x.At, Hosts: x.Hosts, Transfers: x.transfers(ranks, r.Bytes)})
		}
		for _, k := range coarseFirst(len(steps)) {
			patterns.Patterns = append(patterns.Patterns, r.Steps[k].Transfers)
		}
		return none, nil
	}, func(c *harness.Conductor, _ struct{}) (*Result, error) {
		began := c.Now()
		found, err := concurrent.Measure(ctx, c.Comm, patterns)
		if err != nil || found == nil {
			return nil, err
		}
		for i, k := range coarseFirst(len(r.Steps))[:len(found.Patterns)] {
			r.Steps[k].times = found.Patterns[i].Seconds
		}
		r.Stopped, r.Took = found.Stopped, c.Now()-began
		r.finish()
		return r, nil
	})
}

// oversubscribed warns of hosts whose ranks share CPUs.
func oversubscribed(places []mpi.Place) []string {
	if hosts := mpi.OversubscribedHosts(places); len(hosts) > 0 {
		return []string{fmt.Sprintf("ranks share CPUs on %s, such as %s: times are the scheduler's", words.Count(len(hosts), "host"), hosts[0])}
	}
	return nil
}
