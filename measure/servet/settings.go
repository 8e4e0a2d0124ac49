package servet

import (
	"fmt"
	"math"

	"github.com/topocast/topocast/internal/limits"
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

// validate fills in defaults.
func (s *Settings) validate() error {
	if s.Budget < 0 {
		return fmt.Errorf("servet: Settings.Budget: %v: want at least 0", s.Budget)
	}
	return limits.Fill("servet: Settings",
		limits.Of("Bytes", &s.Bytes, defaultBytes, 1, maxBytes),
		limits.Of("Hosts", &s.Hosts, 0, 0, math.MaxInt),
		limits.Of("Repetitions", &s.Repetitions, defaultRepetitions, 1, maxRepetitions))
}
