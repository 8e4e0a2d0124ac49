package measure

import (
	"slices"

	"github.com/topocast/topocast/measure/concurrent"
	"github.com/topocast/topocast/measure/harness"
	"github.com/topocast/topocast/measure/servet"
	"github.com/topocast/topocast/measure/throughput"
)

// A part measures something, under a control that has its share of the budget. It is collective.
type part struct {
	name    string // as Progress has it
	measure func(c *harness.Conductor, s *DiscoverSettings, control harness.Control) error
}

// parts are what follows the latencies, in order, the same on all ranks. It is
// collective.
func (d *Discovery) parts(c *harness.Conductor, s *DiscoverSettings) ([]part, error) {
	also, err := harness.Share(c.Comm, c, func() (Extra, error) { return s.Also, nil })
	if err != nil {
		return nil, err
	}
	parts := []part{
		{"overhead", d.measureOverhead},
		{"bandwidths", d.measureBandwidths},
		{"bandwidths", d.measureSteps},
	}
	if c.Comm.Size() >= fewestLinked {
		parts = append(parts, part{"uplinks", d.measureUplinks}, part{"concurrent transfers", d.measurePatterns})
	}
	parts = append(parts, part{"memory", func(c *harness.Conductor, s *DiscoverSettings, control harness.Control) error {
		return d.measureMemory(c, s, control, also&Memory != 0)
	}})
	if also&Degradation != 0 {
		parts = append(parts, part{"degradation", d.measureDegradation})
	}
	return parts, nil
}

// fewestLinked ranks can have a link between switches, and a pattern that tells of one.
const fewestLinked = 3

// measureBandwidths measures the pairs that tell most, one at a time.
func (d *Discovery) measureBandwidths(c *harness.Conductor, s *DiscoverSettings, control harness.Control) (err error) {
	long := &Settings{}
	if c.Comm.Rank() == 0 {
		pairs := telling(d.groups, s.Seed)
		long = s.long(control, []int{pieceSize, mediumSize, longSize}, pairs)
	}
	if d.Bandwidths, err = Run(c.Ctx, c.Comm, long); err == nil && c.Comm.Rank() == 0 {
		d.rates.observations = d.Bandwidths.Observations()
	}
	return err
}

// measureUplinks measures the links of hosts and above each confident group, both ways.
func (d *Discovery) measureUplinks(c *harness.Conductor, _ *DiscoverSettings, control harness.Control) error {
	var uplinks *throughput.Settings
	if c.Comm.Rank() == 0 {
		uplinks = throughput.Uplinks(d.Topology, control)
		uplinks.Size = max(uplinks.Size, int(d.bytesIn(rendezvousLatencies)))
	}
	found, err := throughput.Measure(c.Ctx, c.Comm, uplinks)
	if err != nil || found == nil {
		return err
	}
	d.Uplinks = found
	d.rates.observations = append(d.rates.observations, found.Observations()...)
	d.rates.fit.Arcs = found.Measured()
	for _, w := range found.Warnings {
		d.rates.warnings = append(d.rates.warnings, "rates of links: "+w)
	}
	return nil
}

// measurePatterns measures transfers that are under way together. How sure each of them is enters the fit, and its intervals.
func (d *Discovery) measurePatterns(c *harness.Conductor, s *DiscoverSettings, control harness.Control) error {
	var patterns *concurrent.Settings
	if c.Comm.Rank() == 0 {
		patterns = &concurrent.Settings{
			Patterns:      concurrent.ForDiscover(d.groups, d.patternBytes(), s.patterns(), s.Seed),
			MaxIterations: mostIterations, Control: control,
		}
	}
	found, err := concurrent.Measure(c.Ctx, c.Comm, patterns)
	if err == nil && found != nil {
		d.Patterns = found
		d.rates.observations = append(d.rates.observations, found.Observations()...)
	}
	return err
}

// patterns is how many are measured.
func (s *DiscoverSettings) patterns() int {
	if s.Patterns == 0 {
		return concurrent.UsualPatterns
	}
	return max(s.Patterns, 0)
}

const (
	mostIterations = 50      // of a pattern, enough for a fit of many of them
	manyLatencies  = 50      // that a message of a pattern lasts, for ranks start some of them apart
	longestPattern = 4 << 20 // B, of each message: many are under way

	// rendezvousLatencies is how long a message of a stream lasts at least: while one of the two under way flows, the other
	// is asked for, permitted and sent.
	rendezvousLatencies = 4
)

// patternBytes is the size of the messages of patterns: so long that latencies
// hardly count, at the best rate of single messages.
func (d *Discovery) patternBytes() int64 { return max(longSize, d.bytesIn(manyLatencies)) }

// bytesIn is what the fastest single message moved in so many of the longest latencies, at most longestPattern; 0 where
// that is not known.
func (d *Discovery) bytesIn(latencies float64) int64 {
	rate := 0.0
	for _, x := range d.Bandwidths.measurements {
		if t := x.Q1; t > 0 {
			rate = max(rate, float64(d.Bandwidths.Sizes[x.Size])/t)
		}
	}
	if bytes := latencies * d.Topology.Hierarchy.Groups()[0].Latency * rate; bytes > 0 {
		return int64(min(bytes, longestPattern))
	}
	return 0
}

// measureMemory finds out what ranks share inside hosts. It measures it, too, if that is wanted.
func (d *Discovery) measureMemory(c *harness.Conductor, s *DiscoverSettings, control harness.Control, measured bool) error {
	left := c.Remaining(control.Budget)
	resources, said, err := servet.FromSystem(c.Comm, s.Inside)
	if err != nil {
		return err
	}
	if measured {
		own := &servet.InsideSettings{Control: control}
		own.Budget = left(2)
		if d.Memory, err = servet.Memory(c.Ctx, c.Comm, own); err != nil {
			return err
		}
		own.Budget = left(1)
		if d.Caches, err = servet.Caches(c.Ctx, c.Comm, own); err != nil {
			return err
		}
	}
	if c.Comm.Rank() == 0 {
		resources, more := servet.Resources(d.Memory, d.Caches, resources)
		d.rates.fit.Network.Resources = resources
		d.rates.warnings = slices.Concat(d.rates.warnings, said, more)
	}
	return nil
}

// measureDegradation measures Servet's two ratios.
func (d *Discovery) measureDegradation(c *harness.Conductor, _ *DiscoverSettings, control harness.Control) (err error) {
	left := c.Remaining(control.Budget)
	own := &servet.Settings{Resources: d.rates.fit.Network.Resources, Control: control}
	own.Budget = left(2)
	if d.Distance, err = servet.Distance(c.Ctx, c.Comm, own); err != nil {
		return err
	}
	own.Budget = left(1)
	if d.Access, err = servet.Access(c.Ctx, c.Comm, own); err != nil || c.Comm.Rank() != 0 {
		return err
	}
	d.rates.warnings = slices.Concat(d.rates.warnings, d.Distance.Warnings, d.Access.Warnings)
	d.rates.fit.Network.Degradation, err = servet.Degradation(d.Distance, d.Access)
	return err
}
