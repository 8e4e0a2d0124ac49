package measure

import (
	"cmp"
	"fmt"
	"time"

	"github.com/topocast/topocast/measure/harness"
	"github.com/topocast/topocast/measure/plogp"
	"github.com/topocast/topocast/measure/record"
	"github.com/topocast/topocast/model"
	"github.com/topocast/topocast/topology"
	"github.com/topocast/topocast/topology/encode"
)

// DiscoverSettings of Discover. Nil and the zero value mean all defaults. Those
// of rank 0 count; other ranks may pass nil.
type DiscoverSettings struct {
	// Control ends the measurement, and hears of it. Half of the budget goes to the latencies. Progress names the part
	// that is measured.
	harness.Control

	// Sampling is that of the latencies. Where they are disturbed, or not as precise as wanted, up to as many
	// repetitions again follow.
	Sampling

	// Pairs says of which pairs the latencies are measured.
	Pairs Choice

	// Reconstructor makes the wiring of the latencies. Default:
	// &linkage.Robust{}.
	Reconstructor topology.Reconstructor

	// View measures the PLogP parameters of all pairs too. It says which of their distances the
	// wiring is made of, instead of the latencies (Reinfjell 2023, section 3.2). Groups and
	// links get the measured latencies all the same. nil: no parameters are measured.
	View *plogp.View

	// Inside are the parts of every host, as encode.ReadHostParts reads them, in place of what the operating systems tell.
	Inside []encode.HostPart

	// Also is what is measured besides. Default: nothing.
	Also Extra

	// Patterns is the number of patterns of transfers that are measured while they
	// are under way together: some thirty tell how links are shared, and how far off
	// predictions are. Default 30; negative: none.
	Patterns int

	// Measured is kept in the network. Default of Tool: "measure.Discover"; of Library: what the communicator tells, if it
	// is mpi.Versioned. Bytes are those of the latencies. The date is kept in all results.
	Measured model.Metadata

	// Record takes the measurements of the latencies while they are measured, see Settings.
	Record *record.Writer
}

// A Choice of the pairs whose latencies are measured.
type Choice int

const (
	// AsNeeded is all pairs, and FewPairs where all would not fit the budget, unless there is a Reconstructor or a View.
	AsNeeded Choice = iota

	// FewPairs is as many as tell the groups apart, see package adaptive.
	FewPairs

	// TwoLevels is the inside of hosts, as the ranks name them, apart from
	// what is between hosts, joined afterwards (Bufe 2014, section 2.7): fewer pairs,
	// and none of short ways while long ones are under way. Jobs of one host, and
	// those of one rank per host, have one level only and are measured as a whole.
	TwoLevels

	// TwoLevelsAlike is TwoLevels where hosts are alike inside whose ranks have
	// the same places: one of each kind is measured.
	TwoLevelsAlike
)

func (c Choice) twoLevels() bool { return c == TwoLevels || c == TwoLevelsAlike }

// An Extra is a set of what is measured besides.
type Extra int

const (
	// Memory is which ranks of a host share caches and the path to memory,
	// see servet.Memory and servet.Caches: what a host's processes do to each other.
	Memory Extra = 1 << iota

	// Degradation is how messages slow down with the distance and with the number of
	// processes of a host that send, see servet.Distance and servet.Access.
	Degradation
)

// validate returns what is wrong in terms of the caller's own settings.
func (s *DiscoverSettings) validate() error {
	switch {
	case s.Budget < 0:
		return fmt.Errorf("measure: DiscoverSettings.Budget: %v: want at least 0", s.Budget)
	case s.Samples < 0:
		return fmt.Errorf("measure: DiscoverSettings.Samples: %d: want at least 0", s.Samples)
	case s.Pairs < AsNeeded || s.Pairs > TwoLevelsAlike:
		return fmt.Errorf("measure: DiscoverSettings.Pairs: %d: want one of AsNeeded to TwoLevelsAlike", s.Pairs)
	case s.Pairs == FewPairs && s.Reconstructor != nil:
		return fmt.Errorf("measure: DiscoverSettings.Pairs: FewPairs finds the wiring itself: want no Reconstructor")
	case s.View != nil && s.Pairs != AsNeeded:
		return fmt.Errorf("measure: DiscoverSettings.View: with some of the pairs: want all pairs of one level")
	case s.View != nil && s.View.Bytes < 0:
		return fmt.Errorf("measure: DiscoverSettings.View: %d bytes: want at least 0", s.View.Bytes)
	}
	return nil
}

// control is that of a part, which Progress and Notify name, with the given budget.
func (s *DiscoverSettings) control(part string, budget time.Duration) harness.Control {
	c := harness.Control{Budget: budget, Silence: s.Silence}
	if s.Notify != nil {
		c.Notify = func(note string) { s.Notify(part + ": " + note) }
	}
	if s.Progress != nil {
		c.Progress = func(p Progress) {
			p.Part = part
			s.Progress(p)
		}
	}
	return c
}

// latencies are the settings that measure the latencies.
func (s *DiscoverSettings) latencies(budget time.Duration) Settings {
	short := Settings{
		Control: s.control("latencies", budget), Sampling: s.Sampling,
		Sizes: []int{latencySize}, Date: s.date(), Record: s.Record,
	}
	short.Repetitions = cmp.Or(short.Repetitions, defaultRepetitions)
	short.extra = max(0, min(short.Repetitions, harness.MaxRepetitions-short.Repetitions))
	return short
}

// long are the settings that measure long messages of some pairs, one at a time.
func (s *DiscoverSettings) long(c harness.Control, sizes []int, pairs [][2]int) *Settings {
	return &Settings{
		Pairs: harness.OneByOne(pairs), Control: c, Sampling: Sampling{Repetitions: 1, Samples: longSamples},
		Sizes: sizes, Date: s.date(), extra: longExtra,
	}
}

// date is that of the results; zero: none.
func (s *DiscoverSettings) date() time.Time {
	t, _ := time.Parse(time.RFC3339, s.Measured.Date)
	return t
}
