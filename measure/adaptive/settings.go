package adaptive

import (
	"fmt"

	"github.com/topocast/topocast/measure/harness"
)

// Settings of Measure. Nil and the zero value mean all defaults.
type Settings struct {
	// Control ends the measurement, and hears of it. How many rounds there will be is not known.
	harness.Control

	// Seed is that of the random choices. The same seed and the same measurements give the
	// same result.
	Seed uint64

	// Order gives each rank a key. Ranks with neighbouring keys are likely near each other, as those of
	// neighbouring names. Ranks of one key are likely of one group, as those of one node. A rank that
	// looks for its place reads them first. Where the order is wrong, nothing but time is lost.
	// Default: the order of the names of the hosts.
	Order []int

	// Bytes is the size of the messages. Default 8.
	Bytes int

	// Samples is the number of samples per measurement and direction. Default 10, at least 5.
	Samples int
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
