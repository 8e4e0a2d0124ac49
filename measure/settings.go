package measure

import (
	"fmt"
	"slices"
	"time"

	"github.com/topocast/topocast/internal/limits"
	"github.com/topocast/topocast/measure/harness"
	"github.com/topocast/topocast/measure/pingpong"
	"github.com/topocast/topocast/measure/record"
)

// Settings of a measurement. Nil and the zero value mean all defaults. Those
// of rank 0 count; other ranks may pass nil.
type Settings struct {
	// Pairs are the pairs to measure, and their rounds.
	harness.Pairs

	// Control ends the measurement, and hears of it. The budget begins with Run. The round under way is finished.
	harness.Control

	Sampling

	// Sizes are the message sizes in bytes, each measured in every round.
	// Default: {0}.
	Sizes []int

	// Resume is an earlier run of the same ranks with the same settings, but for
	// Repetitions: this one goes on behind its rounds, and the result holds the measurements of both.
	// What ReadResult makes of a file under way is one, and so is a result that was Stopped.
	// Default: none.
	Resume *Result

	// Date is kept in the result; the zero time leaves it out.
	Date time.Time

	// Record takes on rank 0, between rounds and some twice a second, what all
	// ranks have measured since, so that it outlives the process: as the next section of a file, which ReadResult reads even
	// if the last line is cut off. A file that is only begun gets the header of the result. The caller closes the file.
	// No measurement is disturbed by it, and all of it takes at most some 5 % of the time. If it cannot be written,
	// the measurement goes on without it and warns.
	Record *record.Writer

	// extra is how many more repetitions, at most, are measured. All pairs are, as
	// long as the measurements of too many do not agree: more than 2 % of them,
	// by more than a quarter. Otherwise those of the rounds that were slower than
	// the others by more than 3 sigma are, once.
	extra int
}

// Sampling says how often each pair is measured. The zero value means all defaults.
type Sampling struct {
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

	// Precision is a share, 0.02 say, within which the median of each pair is to be known. After
	// the repetitions, pairs whose interval of 95 % is wider are
	// measured again, and only they. That ends when no interval is wider, when the budget is spent, or
	// after 50 further repetitions. Default 0: none is.
	Precision float64

	// Seed is that of the relabellings and shuffles.
	Seed uint64
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

// validate fills in the defaults of Sampling and Sizes.
func (s *Settings) validate(ranks int) error {
	if len(s.Sizes) == 0 {
		s.Sizes = []int{0}
	}
	for i, size := range s.Sizes {
		switch {
		case size < 0 || size > maxSize:
			return fmt.Errorf("measure: Settings.Sizes: %d B: want in [0, %d]", size, maxSize)
		case slices.Contains(s.Sizes[:i], size):
			return fmt.Errorf("measure: Settings.Sizes: %d B: given twice", size)
		}
	}
	err := limits.Fill("measure: Settings",
		limits.Of("Repetitions", &s.Repetitions, defaultRepetitions, 1, harness.MaxRepetitions),
		limits.Of("Samples", &s.Samples, defaultSamples, 1, maxSamples),
		limits.Of("Batch", &s.Batch, 0, 0, pingpong.MaxBatch))
	switch {
	case err != nil:
		return err
	case !(s.Precision >= 0 && s.Precision < 1):
		return fmt.Errorf("measure: Settings.Precision: %g: want in [0, 1)", s.Precision)
	case s.Budget < 0:
		return fmt.Errorf("measure: Settings.Budget: %v: want at least 0", s.Budget)
	}
	if err := s.Pairs.Validate(ranks); err != nil {
		return fmt.Errorf("measure: %w", err)
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
