package measure

import (
	"cmp"
	"context"
	"time"

	"github.com/topocast/topocast/measure/concurrent"
	"github.com/topocast/topocast/measure/harness"
	"github.com/topocast/topocast/measure/plogp"
	"github.com/topocast/topocast/measure/servet"
	"github.com/topocast/topocast/measure/throughput"
	"github.com/topocast/topocast/model"
	"github.com/topocast/topocast/model/fit"
	"github.com/topocast/topocast/mpi"
	"github.com/topocast/topocast/topology"
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
	longExtra   = 2 // repetitions, while measurements disagree
)

// latencyShare is the part of the budget, one half, that latencies get, of which all pairs are measured. The
// parts that follow share the rest.
const latencyShare = 2

// A Discovery is what Discover found out about the machine of a job. Results
// are nil of parts that were not measured.
type Discovery struct {
	Latencies  *Result              // by short messages
	Parameters *plogp.Result        // see DiscoverSettings.View
	Topology   *topology.Result     // of the latencies, with all warnings so far
	Bandwidths *Result              // of some pairs, by long messages, one at a time
	Steps      []*Result            // of fewer pairs, at further sizes where times have a step
	Overhead   float64              // s, at most, of the software for a short message, sent or received
	Uplinks    *throughput.Result   // of each confident group, both ways
	Patterns   *concurrent.Result   // transfers that are under way together
	Memory     *servet.InsideResult // see Memory
	Caches     *servet.InsideResult
	Distance   *servet.Result // see Degradation
	Access     *servet.Result
	Network    *model.Network

	nodes  *nodes              // of two levels; nil: there is one
	groups *topology.Hierarchy // the confident groups of Topology, along which rates are measured
	rates  rates

	parametersHad time.Duration // of the budget
}

// rates are what was measured beyond latencies.
type rates struct {
	observations []fit.Observation
	fit          fit.Settings
	warnings     []string // of the parts that fit does not know
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
	_, err := harness.Conduct(ctx, comm, s.Silence, func(c *harness.Conductor) (none struct{}, err error) { return none, d.run(c, &s) })
	if d.Latencies == nil {
		return nil, err
	}
	return &d, err
}

// run is the chain: latencies, groups and wiring, rates, network. Other ranks than 0 only take part in the measuring.
func (d *Discovery) run(c *harness.Conductor, s *DiscoverSettings) error {
	left := c.Remaining(s.Budget)
	onRoot := func(work func() error) (err error) {
		if c.Comm.Rank() == 0 {
			err = work()
		}
		return harness.Agree(c.Comm, c, err)
	}
	if err := onRoot(s.validate); err != nil {
		return err
	}
	if c.Comm.Size() == 1 {
		s.View = nil // no pair has parameters
	}
	if err := d.measureLatencies(c, s, left); err != nil {
		return err
	}
	if err := d.measureParameters(c, s, left); err != nil {
		return err
	}
	if err := onRoot(func() error { return d.reconstruct(s) }); err != nil {
		return err
	}
	parts, err := d.parts(c, s)
	if err != nil {
		return err
	}
	for i, part := range parts {
		if err := part.measure(c, s, s.control(part.name, left(len(parts)-i))); err != nil {
			return err
		}
	}
	return onRoot(func() error { return d.fit(s) })
}

// fit makes the network of all that was measured.
func (d *Discovery) fit(s *DiscoverSettings) error {
	m := s.Measured
	m.Tool, m.Library, m.Bytes = cmp.Or(m.Tool, "measure.Discover"), cmp.Or(m.Library, d.Latencies.Library), latencySize
	d.rates.fit.Network.Measured, d.rates.fit.Network.Locations = m, d.Latencies.Locations()
	d.Topology.Warnings = append(d.Topology.Warnings, d.rates.warnings...)
	if d.Topology.Graph.Hosts() == 1 {
		d.Topology.Warnings = append(d.Topology.Warnings, "a single rank has nobody to talk to: nothing was measured")
	}
	fitted, err := fit.Network(d.Topology, append(d.Latencies.Observations(), d.rates.observations...), &d.rates.fit)
	if err != nil {
		return err
	}
	d.Network = fitted.Network
	return nil
}
