package servet

import (
	"fmt"
	"time"

	"github.com/topocast/topocast/measure/harness"
	"github.com/topocast/topocast/model"
)

// Settings of Distance and Access. Nil and the zero value mean all defaults.
// Those of rank 0 count; other ranks may pass nil.
type Settings struct {
	harness.Control // Progress counts distances, or numbers of processes per host, as that of concurrent.Settings does

	// Bytes is the size of the messages in B. Default 32 MiB, as Servet has it; each rank that
	// takes part holds two such buffers.
	Bytes int

	// Hosts bounds the hosts that take part: the first ones, in the order of their first
	// ranks. Default 0: all.
	Hosts int

	// Resources are what ranks of a host share, by FromSystem say: Access spreads the processes of a host over its largest
	// parts first. Default: over cores by their numbers, of which neighbours may be on different processors.
	Resources []model.Resource

	// Repetitions of all steps, one after the other, so that what disturbs the machine for a while
	// disturbs one of them. Default 5.
	Repetitions int
}

const (
	defaultBytes       = 32 << 20  // B; Servet 3.0, section 4.1
	maxBytes           = 1<<31 - 1 // B; the counts of MPI are C ints
	defaultRepetitions = 5         // a median passes over two disturbed ones
	maxRepetitions     = 10_000    // a slip of the pen beyond
)

func (s *Settings) validate() error {
	if s.Hosts < 0 {
		return fmt.Errorf("servet: Settings.Hosts: %d: want at least 0", s.Hosts)
	}
	return validate("Settings", s.Bytes, s.Repetitions, s.Budget)
}

// validate refuses what settings of that name cannot be.
func validate(name string, bytes, repetitions int, budget time.Duration) error {
	switch {
	case bytes < 0 || bytes > maxBytes:
		return fmt.Errorf("servet: %s.Bytes: %d B: want in [0, %d]", name, bytes, maxBytes)
	case repetitions < 0 || repetitions > maxRepetitions:
		return fmt.Errorf("servet: %s.Repetitions: %d: want in [0, %d]", name, repetitions, maxRepetitions)
	case budget < 0:
		return fmt.Errorf("servet: %s.Budget: %v: want at least 0", name, budget)
	}
	return nil
}
