package measure

import (
	"fmt"
	"io"
	"time"

	"github.com/topocast/topocast/measure/harness"
	"github.com/topocast/topocast/measure/plogp"
	"github.com/topocast/topocast/measure/servet"
	"github.com/topocast/topocast/topology"
)

// DiscoverSettings of Discover. Nil and the zero value mean all defaults. Those
// of rank 0 count; other ranks may pass nil.
type DiscoverSettings struct {
	// Budget bounds the time to measure, by the clock of the communicator: half
	// of it goes to the latencies. Default 0: no bound.
	Budget time.Duration

	// Silence is how long a rank waits for another one before the job is ended with an
	// error that names both, see harness.Control. Default 5 minutes; negative: for good.
	Silence time.Duration

	// Repetitions and Samples are those of the latencies, see Settings.
	Repetitions, Samples int

	// Seed is that of the relabellings and shuffles.
	Seed uint64

	// Reconstructor makes the wiring of the latencies. Default:
	// &linkage.Robust{}.
	Reconstructor topology.Reconstructor

	// TwoLevel measures the inside of hosts, as the ranks name them, apart from
	// what is between hosts, and joins both (Bufe 2014, section 2.7): fewer readings,
	// and none of short ways while long ones are under way. Jobs of one host, and
	// those of one rank per host, have one level only and are measured as a whole.
	TwoLevel bool

	// EqualHosts says, with TwoLevel, that hosts are alike inside whose ranks have
	// the same places: one of each kind is measured.
	EqualHosts bool

	// FewPairs measures as many pairs as tell the groups apart, see package adaptive. By
	// default it is done where all pairs would not fit the budget, and no
	// Reconstructor is given.
	FewPairs bool

	// View measures the PLogP parameters of all pairs too, and says which of their distances the
	// wiring is made of, instead of the latencies (Reinfjell 2023, section 3.2). Latencies of groups and
	// links are those of the readings all the same. nil: no parameters are measured.
	View *plogp.View

	// Told asks the operating systems which caches and memory ranks share. It is
	// for ranks on machines of their own, not for simulated ones.
	Told bool

	// Inside are the parts of every host, as servet.ReadHwloc reads them, in place of what the operating systems tell.
	Inside []servet.Part

	// Memory measures which ranks of a host share caches and the way to memory,
	// see servet.Memory and servet.Caches: what a host's processes do to each other.
	Memory bool

	// Degradation measures how messages slow down with the distance and with the number of
	// processes of a host that send, see servet.Distance and servet.Access.
	Degradation bool

	// Patterns is the number of patterns of transfers that are measured while they
	// are under way together: some thirty tell how links are shared, and how far off
	// predictions are. Default 30; negative: none.
	Patterns int

	// Date is kept in the results and in the network; the zero time leaves it out.
	Date time.Time

	// Library names the message-passing library, see Settings.
	Library string

	// Tool names the program in the network. Default "measure.Discover".
	Tool string

	// KeepLatencies is called on rank 0 once they are measured, before anything
	// is made of them. Its error ends Discover.
	KeepLatencies func(latencies *Result) error

	// Journal takes the readings of the latencies while they are measured, see
	// Settings.
	Journal io.Writer

	// Notify is called on rank 0 with decisions that the readings have asked for.
	Notify func(note string)

	// Progress is called on rank 0 as Settings.Progress is, for each part.
	Progress func(Part, Progress)
}

// A Part of what Discover measures.
type Part int

// The parts, in their order.
const (
	PartLatencies Part = iota
	PartParameters
	PartBandwidths
	PartUplinks
	PartPatterns
	PartMemory
	PartDegradation
)

func (p Part) String() string {
	switch p {
	case PartParameters:
		return "PLogP parameters"
	case PartBandwidths:
		return "bandwidths"
	case PartUplinks:
		return "uplinks"
	case PartPatterns:
		return "concurrent transfers"
	case PartMemory:
		return "memory"
	case PartDegradation:
		return "degradation"
	}
	return "latencies"
}

// validate returns what is wrong in terms of the caller's own settings.
func (s *DiscoverSettings) validate() error {
	switch {
	case s.Budget < 0:
		return fmt.Errorf("measure: DiscoverSettings.Budget: %v: want at least 0", s.Budget)
	case s.FewPairs && s.Reconstructor != nil:
		return fmt.Errorf("measure: DiscoverSettings.FewPairs: it finds the wiring itself: want no Reconstructor")
	case s.View != nil && (s.FewPairs || s.TwoLevel):
		return fmt.Errorf("measure: DiscoverSettings.View: with FewPairs or TwoLevel: want all pairs of one level")
	case s.View != nil && s.View.Bytes < 0:
		return fmt.Errorf("measure: DiscoverSettings.View: %d bytes: want at least 0", s.View.Bytes)
	case s.FewPairs && s.TwoLevel:
		return fmt.Errorf("measure: DiscoverSettings.FewPairs: with TwoLevel: want one of the two")
	}
	return nil
}

// control is that of a part with the given budget.
func (s *DiscoverSettings) control(part Part, budget time.Duration) harness.Control {
	return harness.Control{Budget: budget, Silence: s.Silence, Notify: s.Notify, Progress: s.progress(part)}
}

func (s *DiscoverSettings) progress(part Part) func(Progress) {
	if s.Progress == nil {
		return nil
	}
	return func(p Progress) { s.Progress(part, p) }
}
