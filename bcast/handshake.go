package bcast

import (
	"fmt"
	"slices"
	"strings"

	"github.com/topocast/topocast/bcast/schedule"
	"github.com/topocast/topocast/internal/decisions"
	"github.com/topocast/topocast/mpi"
)

// shakeHands is collective: all ranks get what rank 0 tells them, or its error. It returns the algorithms that come into question.
func (b *Broadcaster) shakeHands(base *decisions.Base, s *Settings) ([]schedule.Algorithm, error) {
	if s == nil {
		s = &Settings{}
	}
	told := struct {
		*decisions.Setup
		Algorithms []string // names of Settings.Algorithms; nil: the usual ones
	}{&base.Setup, names(s.Algorithms)}
	if err := base.SetUp(&told, func() error { return prepare(base, s) }); err != nil {
		return nil, err
	}
	if told.Algorithms == nil {
		return append(schedule.Algorithms(), schedule.NativeGroups{}), nil
	}
	return slices.Clone(s.Algorithms), b.checkAlgorithms(base, told.Algorithms, names(s.Algorithms))
}

// prepare is the part of rank 0.
func prepare(base *decisions.Base, s *Settings) error {
	if err := s.validate(); err != nil {
		return err
	}
	x := decisions.Settings{Network: s.Network, ModelOnly: s.ModelOnly, Doubts: true, Topologies: s.Topologies, Budget: s.Budget, Tag: s.Tag}
	if err := base.Prepare(x, ""); err != nil {
		return err
	}
	base.Warnings = append(base.Warnings, missingAbilities(base.Comm)...)
	return nil
}

// missingAbilities warns of a communicator that hides what others have.
func missingAbilities(comm mpi.Communicator) []string {
	var lost []string
	if _, places := comm.(mpi.Placed); !places {
		lost = append(lost, "mpi.Placed: hosts and cores of the ranks are not known")
	}
	_, starts := comm.(mpi.NonBlocking)
	if _, performs := comm.(mpi.Scheduler); !starts && !performs {
		lost = append(lost, "mpi.NonBlocking: one transfer at a time, so long messages are slow")
	}
	if lost == nil {
		return nil
	}
	if _, native := comm.(mpi.NativeBcast); !native {
		lost = append(lost, "mpi.NativeBcast: nothing is timed, predictions decide")
	}
	return []string{fmt.Sprintf("the communicator (%T) lacks %s. A wrapper has to pass on the abilities of what it wraps", comm, strings.Join(lost, "; "))}
}

// checkAlgorithms is collective: it returns the same kind of error on all ranks if one of them has other algorithms than
// rank 0.
func (b *Broadcaster) checkAlgorithms(base *decisions.Base, want, own []string) error {
	differs := []float64{0}
	if !slices.Equal(own, want) {
		differs[0] = 1
	}
	if err := base.Control.Max(differs); err != nil {
		return fmt.Errorf("bcast: new: %w", err)
	}
	if differs[0] > 0 {
		return fmt.Errorf("bcast: new: settings: algorithms %q of rank 0: want the same on all ranks, rank %d has %q", want, b.comm.Rank(), own)
	}
	return nil
}

// names are the texts of algorithms with their settings; nil if there are none.
func names(algorithms []schedule.Algorithm) []string {
	var list []string
	for _, a := range algorithms {
		list = append(list, schedule.Text(a))
	}
	return list
}
