package adaptive

import (
	"fmt"
	"time"
)

// Settings of a discovery. Nil and the zero value mean all defaults.
type Settings struct {
	// Seed is that of the random choices. The same seed and the same readings give the
	// same result.
	Seed uint64

	// Order gives each host a key. Hosts with neighbouring keys are likely near each other, as those of
	// neighbouring names, and hosts of one key are likely of one group, as the ranks of one node. A host that
	// looks for its place reads them first. Where the order is wrong, nothing but readings is lost.
	// Default: no order; of Measure the order of the names of the hosts.
	Order []int

	// What follows is for Measure alone.

	// Bytes is the size of the messages. Default 8.
	Bytes int

	// Samples is the number of samples per reading and direction. Default 10, at least 5.
	Samples int

	// Budget bounds the time, by the clock of the communicator. The round under way is finished. Default 0: no
	// bound.
	Budget time.Duration

	// Silence is how long a rank waits for another one before the job is ended with a
	// harness.SilentError instead of waiting for good, see harness.Control. Default 5
	// minutes; negative: never.
	Silence time.Duration

	// Progress is called on rank 0 after each round, with the rounds and readings so far. How many will follow is
	// not known.
	Progress func(rounds, readings int)
}

const (
	defaultBytes   = 8
	defaultSamples = 10        // of which the lower quartile leaves two out
	fewestSamples  = 5         // of which quartiles can be told
	mostSamples    = 1_000_000 // a slip of the pen beyond
	mostBytes      = 1<<31 - 1 // the counts of MPI are C ints
)

func (s *Settings) validate(hosts int) error {
	switch {
	case s.Order != nil && len(s.Order) != hosts:
		return fmt.Errorf("adaptive: Settings.Order: of %d hosts: want of %d", len(s.Order), hosts)
	case s.Bytes < 0 || s.Bytes > mostBytes:
		return fmt.Errorf("adaptive: Settings.Bytes: %d: want in [0, %d]", s.Bytes, mostBytes)
	case s.Samples != 0 && (s.Samples < fewestSamples || s.Samples > mostSamples):
		return fmt.Errorf("adaptive: Settings.Samples: %d: want in [%d, %d]", s.Samples, fewestSamples, mostSamples)
	case s.Budget < 0:
		return fmt.Errorf("adaptive: Settings.Budget: %v: want at least 0", s.Budget)
	}
	return nil
}
