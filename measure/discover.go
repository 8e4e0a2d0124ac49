package measure

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/topocast/topocast/internal/readings"
	"github.com/topocast/topocast/measure/concurrent"
	"github.com/topocast/topocast/measure/harness"
	"github.com/topocast/topocast/measure/plogp"
	"github.com/topocast/topocast/measure/servet"
	"github.com/topocast/topocast/measure/throughput"
	"github.com/topocast/topocast/model"
	"github.com/topocast/topocast/model/fit"
	"github.com/topocast/topocast/mpi"
	"github.com/topocast/topocast/topology"
	"github.com/topocast/topocast/topology/linkage"
)

// Sizes of the messages that Discover times. The first gives the latencies.
const (
	latencySize = 8        // B
	pieceSize   = 8 << 10  // B; what long broadcasts are cut into, below the rendezvous of most libraries
	mediumSize  = 64 << 10 // B
	longSize    = 1 << 20  // B
)

const (
	longSamples = 5 // of which quartiles can be told (fewest): long messages vary little
	longExtra   = 2 // repetitions, while readings disagree
)

// latencyShare is the part of the budget, one half, that latencies get, of which all pairs are measured. The
// parts that follow share the rest.
const latencyShare = 2

// A Discovery is what Discover found out about the machine of a job. Results
// are nil of parts that were not measured.
type Discovery struct {
	Latencies  *Result              // by short messages
	Parameters *plogp.Result        // see DiscoverSettings.View
	Bandwidths *Result              // of some pairs, by long messages, one at a time
	Steps      []*Result            // of fewer pairs, at further sizes where times have a step
	Overhead   float64              // s, at most, of the software for a short message, sent or received
	Uplinks    *throughput.Result   // of each firm group, both ways
	Patterns   *concurrent.Result   // transfers that are under way together
	Memory     *servet.InsideResult // see Memory
	Caches     *servet.InsideResult
	Distance   *servet.Result // see Degradation
	Access     *servet.Result
	Topology   *topology.Result // of the latencies, with all warnings so far
	Network    *model.Network

	nodes     *nodes           // of two levels; nil: there is one
	found     *topology.Result // of few pairs; nil: it is to be reconstructed
	notes     []string         // decisions before there was a result
	resources []model.Resource
	warnings  []string // of the parts that Fit does not know
}

// Discover measures a job and fits a network to it:
//
//  1. It measures the latencies of all pairs, in s, and reconstructs the wiring.
//  2. It measures the rates of some pairs of each level, in B/s, at more sizes where
//     those of a level have a step.
//  3. It measures what the links above each confident group carry in each direction.
//  4. It measures some patterns of transfers that are under way together.
//  5. It fits a network to all of this.
//
// It is collective; the settings of rank 0 count. The result is nil on other ranks.
//
// As with Run, the end of the context or of the budget ends the measuring
// early, and the result is made of what there is; it is an error if that is
// nothing. An error on rank 0 is one on all
// ranks. If it comes after the latencies, rank 0 has a Discovery that holds them. Time is that of what is measured and, on rank 0, of the Reconstructor and
// fit.Network.
func Discover(ctx context.Context, comm mpi.Communicator, settings *DiscoverSettings) (*Discovery, error) {
	var s DiscoverSettings
	if settings != nil {
		s = *settings
	}
	var d Discovery
	_, err := harness.OnDuplicate(comm, func(own mpi.Communicator) (none struct{}, err error) { return none, d.run(ctx, own, &s) })
	if d.Latencies == nil {
		return nil, err
	}
	return &d, err
}

func (d *Discovery) run(ctx context.Context, comm mpi.Communicator, s *DiscoverSettings) error {
	left := harness.Remaining(comm, s.Budget)
	var err error
	if comm.Rank() == 0 {
		err = s.validate()
	}
	if err = harness.Agree(comm, err); err != nil {
		return err
	}
	if err = d.measureLatencies(ctx, comm, s); err != nil {
		return err
	}
	if err = d.measureParameters(ctx, comm, s); err != nil {
		return err
	}
	if comm.Rank() == 0 {
		if err = d.empty(s); err == nil {
			err = d.reconstruct(s)
		}
	}
	if err = harness.Agree(comm, err); err != nil {
		return err
	}
	parts, err := d.parts(comm, s)
	if err != nil {
		return err
	}
	for i, part := range parts {
		if err := part.measure(ctx, comm, s, s.control(part.name, left(len(parts)-i))); err != nil {
			return err
		}
	}
	if comm.Rank() == 0 {
		err = d.fit(s)
	}
	return harness.Agree(comm, err)
}

// empty says why there is no reading to make anything of.
func (d *Discovery) empty(s *DiscoverSettings) error {
	r := d.Latencies
	if len(r.readings) > 0 || r.Ranks == 1 {
		return nil
	}
	if r.Stopped == harness.StoppedByBudget {
		return fmt.Errorf("measure: discover: the budget of %v ended before the first of %d rounds was measured: give it a larger one", s.Budget, r.TotalRounds)
	}
	return fmt.Errorf("measure: discover: cancelled before the first of %d rounds was measured", r.TotalRounds)
}

// tooLittle says why readings leave the ranks in parts, where they ended early.
func (d *Discovery) tooLittle(s *DiscoverSettings, err error) error {
	if p := d.Parameters; p != nil && p.Stopped == harness.StoppedByBudget {
		text := "give it a larger one"
		if p.Rounds > 0 {
			need := time.Duration(float64(s.Budget) * 1.2 * float64(p.TotalRounds) / float64(p.Rounds))
			text = fmt.Sprintf("give it about %v", need.Truncate(time.Second)+time.Second)
		}
		return fmt.Errorf("measure: discover: PLogP parameters have a quarter of the budget of %v, which ended after %d of %d rounds: %w: %s",
			s.Budget, p.Rounds, p.TotalRounds, err, text)
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

// reconstruct makes the wiring of the latencies.
func (d *Discovery) reconstruct(s *DiscoverSettings) error {
	if d.found != nil {
		d.found.Warnings = append(slices.Clone(d.Latencies.Warnings), d.found.Warnings...)
		d.Topology = d.found
		return nil
	}
	var r topology.Reconstructor = &linkage.Robust{}
	if s.Reconstructor != nil {
		r = s.Reconstructor
	}
	if d.nodes != nil {
		r = &twoLevels{d.nodes, r}
	}
	found, err := d.wiring(r, s.View)
	if errors.Is(err, topology.ErrDisconnected) {
		return d.tooLittle(s, err)
	}
	if err != nil {
		return err
	}
	found.Warnings = append(slices.Clone(d.Latencies.Warnings), found.Warnings...)
	d.Topology = found
	return nil
}

// fit makes the network of all readings.
func (d *Discovery) fit(s *DiscoverSettings) error {
	m := s.Measured
	m.Tool, m.Library, m.Bytes = cmp.Or(m.Tool, "measure.Discover"), cmp.Or(m.Library, d.Latencies.Library), latencySize
	observations := slices.Concat(d.Latencies.Observations(), d.Bandwidths.Observations(), d.stepTimes())
	settings := &fit.Settings{Overhead: d.Overhead, Network: model.Settings{Locations: d.Latencies.Locations(), Resources: d.resources, Measured: m}}
	if d.Uplinks != nil {
		observations = append(observations, d.Uplinks.Observations()...)
		settings.Arcs = d.Uplinks.Measured()
	}
	if d.Patterns != nil {
		observations = append(observations, d.Patterns.Observations()...)
	}
	if d.Parameters != nil {
		settings.Parameters = d.Parameters.PairParams()
	}
	if d.Distance != nil {
		degradation, err := servet.Degradation(d.Distance, d.Access)
		if err != nil {
			return err
		}
		settings.Network.Degradation = degradation
	}
	d.Topology.Warnings = append(d.Topology.Warnings, d.warnings...)
	if d.Topology.Graph.Hosts() == 1 {
		d.Topology.Warnings = append(d.Topology.Warnings, "a single rank has nobody to talk to: nothing was measured")
	}
	fitted, err := fit.Network(d.Topology, observations, settings)
	if err != nil {
		return err
	}
	d.Network = fitted.Network
	return nil
}

// Locations are those of the ranks.
func (r *Result) Locations() []model.Location {
	all := make([]model.Location, r.Ranks)
	for i := range all {
		all[i] = model.Location{Host: r.Hosts[i], Core: r.Cores[i]}
	}
	return all
}

// Observations are the readings as fit.Network takes them: one per pair,
// direction and size. Its time is made of the lower quartiles of the repetitions by readings.Combine.
// Readings of 0 are left out. O(readings).
func (r *Result) Observations() []fit.Observation {
	type key struct{ from, to, size int }
	times := make(map[key][]float64)
	var keys []key
	for _, x := range r.readings {
		if x.Q1 == 0 {
			continue // below what the clock can tell
		}
		k := key{x.From, x.To, x.Size}
		if times[k] == nil {
			keys = append(keys, k)
		}
		times[k] = append(times[k], x.Q1)
	}
	all := make([]fit.Observation, 0, len(keys))
	for _, k := range keys {
		all = append(all, fit.Observation{
			Transfers: []model.Transfer{{Src: k.from, Dst: k.to, Bytes: int64(r.Sizes[k.size])}},
			Seconds:   []float64{readings.Combine(times[k])},
		})
	}
	return all
}
