package measure

import (
	"encoding/json"
	"fmt"
	"hash/fnv"
	"io"
	"slices"
	"time"

	"github.com/topocast/topocast/measure/harness"
	"github.com/topocast/topocast/measure/pingpong"
	"github.com/topocast/topocast/measure/record"
	"github.com/topocast/topocast/topology"
)

// Settings of a measurement. Nil and the zero value mean all defaults. Those
// of rank 0 count; other ranks may pass nil.
type Settings struct {
	// Sizes are the message sizes in bytes, each measured in every round.
	// Default: {0}.
	Sizes []int

	// Repetitions is the number of times that every pair is measured, each
	// time in another round. Default 3, at most 1000.
	Repetitions int

	// Samples is the number of samples per pair, direction, size and
	// repetition. Default 20, at most 1,000,000.
	Samples int

	// Batch is the number of round trips in each sample; 1: each round trip is one by itself, with
	// the clock's step in it. Default: as many as make a sample long for the clock (Bufe
	// 2014, section 3.2.3).
	Batch int

	// Precision is a share, 0.02 say, within which the median of each pair is to be known: after
	// the repetitions, pairs whose interval of 95 % is wider are
	// measured again, and only they, until it is not, or the budget is spent, or
	// ExtraRepetitions are: 50 of them if that is 0. Default 0: none is.
	Precision float64

	// Rounds bounds the number of rounds per repetition: with fewer than all,
	// a random part of the pairs is measured, another in each repetition.
	// Default 0: all.
	Rounds int

	// Seed is that of the relabellings and shuffles.
	Seed uint64

	// Schedule puts all pairs into rounds. Default harness.Circle.
	Schedule harness.Scheme

	// Sequential measures one pair at a time in each of the Groups, or at all.
	// Default: a round is of as many pairs as are disjoint.
	Sequential bool

	// Groups are known groups of ranks. A group joins two ranks that are in
	// it, but not in one smaller group. Its pairs are measured in rounds of
	// their own, in all groups of one level at once, so that traffic between
	// groups does not disturb the one inside. Default: none.
	Groups *topology.Hierarchy

	// WithinGroups leaves out the pairs that no group of Groups joins.
	WithinGroups bool

	// Pairs measures, instead of all pairs, only these, in this order and one at a
	// time, with nothing else under way. Long messages want it: those of pairs
	// that are measured at once share links. Default: all pairs.
	Pairs [][2]int

	// ExtraRepetitions is how many more, at most, are measured. All pairs are, as
	// long as the readings of too many do not agree: more than 2 % of them,
	// by more than a quarter. Otherwise those of the rounds that were slower than
	// the others by more than 3 sigma are, once. Default 0.
	ExtraRepetitions int

	// Budget bounds the time from the start of Run, by the clock of the
	// communicator. The round under way is finished. Default 0: no bound.
	Budget time.Duration

	// Resume is an earlier run of the same ranks with the same settings, but for
	// Repetitions: this one goes on behind its rounds, and the result holds the readings of both.
	// What ReadResult makes of a file under way is one, and so is a result that was Stopped.
	// Default: none.
	Resume *Result

	// Silence is how long a rank waits for another one before the job is ended with an
	// error that names both, see harness.Settings. Default 5 minutes; negative: for good.
	Silence time.Duration

	// Date is kept in the result; the zero time leaves it out.
	Date time.Time

	// Library names the message-passing library, to be kept in the result.
	// Default: what the communicator tells, if it is mpi.Versioned.
	Library string

	// Journal takes on rank 0, between rounds and some twice a second, what all
	// ranks have measured since, so that it outlives the process: it is a file of
	// package record, which ReadResult reads even if the last line is cut off. It costs no reading anything,
	// and all of them together at most some 5 % of the time. If it cannot be written,
	// the measurement goes on without it and warns.
	Journal io.Writer

	// Record takes instead of a Journal the same as the next section of a file that the
	// caller has begun, and goes on with and closes.
	Record *record.Writer

	// Notify is called on rank 0 with what Result.Notes keeps, when it is decided.
	Notify func(note string)

	// Progress is called on rank 0 before the first round and after each one.
	// Time spent in it is lost to all ranks, but enters no reading.
	Progress func(Progress)
}

// Progress is how far a measurement has come.
type Progress = harness.Progress

const (
	defaultRepetitions = 3         // of which two outvote a disturbed one
	defaultSamples     = 20        // of which five are below the lower quartile
	fewest             = 5         // samples of which quartiles can be told; the harness leaves as many
	maxSamples         = 1_000_000 // a slip of the pen beyond: 8 MB in each rank
	maxSize            = 1<<31 - 1 // B; the counts of MPI are C ints
)

func (s *Settings) validate(ranks int) error {
	for _, size := range s.Sizes {
		if size < 0 || size > maxSize {
			return fmt.Errorf("measure: Settings.Sizes: %d B: want in [0, %d]", size, maxSize)
		}
	}
	sorted := slices.Clone(s.Sizes)
	slices.Sort(sorted)
	for i := 1; i < len(sorted); i++ {
		if sorted[i] == sorted[i-1] {
			return fmt.Errorf("measure: Settings.Sizes: %d B: given twice", sorted[i])
		}
	}
	switch {
	case s.Repetitions < 0 || s.Repetitions > harness.MaxRepetitions:
		return fmt.Errorf("measure: Settings.Repetitions: %d: want in [0, %d]", s.Repetitions, harness.MaxRepetitions)
	case s.Samples < 0 || s.Samples > maxSamples:
		return fmt.Errorf("measure: Settings.Samples: %d: want in [0, %d]", s.Samples, maxSamples)
	case s.Batch < 0 || s.Batch > pingpong.MaxBatch:
		return fmt.Errorf("measure: Settings.Batch: %d: want in [0, %d]", s.Batch, pingpong.MaxBatch)
	case !(s.Precision >= 0 && s.Precision < 1):
		return fmt.Errorf("measure: Settings.Precision: %g: want in [0, 1)", s.Precision)
	case s.Schedule != harness.Circle && s.Schedule != harness.Halving:
		return fmt.Errorf("measure: Settings.Schedule: %v: want %v or %v", s.Schedule, harness.Circle, harness.Halving)
	case s.Rounds < 0:
		return fmt.Errorf("measure: Settings.Rounds: %d: want at least 0", s.Rounds)
	case len(s.Pairs) > 0 && (s.Rounds > 0 || s.Groups != nil):
		return fmt.Errorf("measure: Settings.Pairs: %d pairs with Rounds or Groups: want one of the three", len(s.Pairs))
	case s.ExtraRepetitions < 0 || s.ExtraRepetitions+s.Repetitions > harness.MaxRepetitions:
		return fmt.Errorf("measure: Settings.ExtraRepetitions: %d: want in [0, %d]", s.ExtraRepetitions, harness.MaxRepetitions-s.Repetitions)
	case s.Budget < 0:
		return fmt.Errorf("measure: Settings.Budget: %v: want at least 0", s.Budget)
	case s.Groups != nil && s.Groups.Hosts() != ranks:
		return fmt.Errorf("measure: Settings.Groups: hierarchy of %d hosts for %d ranks", s.Groups.Hosts(), ranks)
	case s.WithinGroups && s.Groups == nil:
		return fmt.Errorf("measure: Settings.WithinGroups: true without Groups")
	}
	for _, p := range s.Pairs {
		if p[0] == p[1] || min(p[0], p[1]) < 0 || max(p[0], p[1]) >= ranks {
			return fmt.Errorf("measure: Settings.Pairs: %d and %d: want two different ranks in [0, %d)", p[0], p[1], ranks)
		}
	}
	return nil
}

// plan is the part of the settings that all ranks need and the harness does not share, as it travels.
type plan struct {
	Sizes   []int `json:"sizes_B"`
	Samples int   `json:"samples"`
	Batch   int   `json:"batch,omitempty"`
	Resume  bool  `json:"resume,omitempty"`
}

func (s *Settings) plan() plan {
	p := plan{Sizes: s.Sizes, Samples: s.Samples, Batch: s.Batch, Resume: s.Resume != nil}
	if len(p.Sizes) == 0 {
		p.Sizes = []int{0}
	}
	if p.Samples == 0 {
		p.Samples = defaultSamples
	}
	return p
}

// fingerprint tells settings of other pairs or rounds apart, "" being all pairs in
// as few rounds as they need.
func (s *Settings) fingerprint() string {
	if s.Rounds == 0 && s.Groups == nil && len(s.Pairs) == 0 && s.Schedule == harness.Circle && !s.Sequential {
		return ""
	}
	asked := struct {
		Rounds int            `json:"rounds,omitempty"`
		Groups []group        `json:"groups,omitempty"`
		Levels int            `json:"levels,omitempty"`
		Within bool           `json:"within_groups,omitempty"`
		Pairs  [][2]int       `json:"pairs,omitempty"`
		Scheme harness.Scheme `json:"scheme,omitempty"`
		Single bool           `json:"sequential,omitempty"`
	}{Rounds: s.Rounds, Within: s.WithinGroups, Pairs: s.Pairs, Scheme: s.Schedule, Single: s.Sequential}
	if s.Groups != nil {
		asked.Levels = len(s.Groups.Levels())
		for _, g := range s.Groups.Groups()[1:] {
			asked.Groups = append(asked.Groups, group{Level: g.Level, Ranks: g.Hosts})
		}
	}
	data, err := json.Marshal(asked)
	if err != nil {
		panic("measure: settings are no JSON: " + err.Error()) // they are numbers only
	}
	sum := fnv.New64a()
	_, _ = sum.Write(data) // it never fails
	return fmt.Sprintf("%016x", sum.Sum64())
}

type group struct {
	Level int   `json:"level"`
	Ranks []int `json:"ranks"`
}
