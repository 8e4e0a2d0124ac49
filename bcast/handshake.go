package bcast

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/topocast/topocast/bcast/predict"
	"github.com/topocast/topocast/bcast/schedule"
	"github.com/topocast/topocast/bcast/table"
	"github.com/topocast/topocast/model"
	"github.com/topocast/topocast/mpi"
)

// A handshake is what rank 0 distributes when a broadcaster is made.
type handshake struct {
	Tag            int
	Budget         time.Duration
	ModelOnly      bool
	Oversubscribed bool
	Algorithms     []string // names of Settings.Algorithms; nil: the usual ones
	Warnings       []string
	Groupings      []grouping   // that of the network, and those along which choices were stored
	Tuned          []table.Cell // from the network's table

	view   *model.Network // on rank 0: the ranks' network; nil: none
	job    table.Job      // on rank 0
	stored *table.Table   // on rank 0: that of the network
}

// shakeHands is collective: all ranks get the handshake of rank 0, or its error.
func (b *Broadcaster) shakeHands(s *Settings, places []mpi.Place) (*handshake, error) {
	if s == nil {
		s = &Settings{}
	}
	h := new(handshake)
	var wrong error
	if b.decides() {
		wrong = h.prepare(b.comm, s, places)
	}
	if err := b.distribute(h, wrong); err != nil {
		return nil, err
	}
	for i := range h.Groupings {
		if err := h.Groupings[i].build(b.ranks); err != nil {
			return nil, err
		}
	}
	return h, b.checkAlgorithms(h.Algorithms, names(s.Algorithms))
}

// prepare is the part of rank 0. places are those of all ranks.
func (h *handshake) prepare(comm mpi.Communicator, s *Settings, places []mpi.Place) error {
	if err := s.validate(); err != nil {
		return err
	}
	*h = handshake{
		Tag: s.Tag, Budget: s.Budget, ModelOnly: s.ModelOnly,
		Oversubscribed: len(mpi.OversubscribedHosts(places)) > 0,
		Algorithms:     names(s.Algorithms),
		Groupings:      []grouping{{Wanted: s.Topologies == nil}},
		job:            jobOf(comm, places),
	}
	for _, t := range s.Topologies {
		if t.Name == table.Found {
			h.Groupings[0].Wanted = true
		} else {
			h.Groupings = append(h.Groupings, grouping{Topology: t, Wanted: true})
		}
	}
	if s.Network != nil {
		var err error
		if h.view, h.Warnings, err = s.Network.OfJob(locations(places)); err != nil {
			return fmt.Errorf("bcast: new: %w", err)
		}
		h.ModelOnly = h.ModelOnly && len(h.Warnings) == 0
		h.Groupings[0].Levels = table.Levels(h.view.Hierarchy())
		h.findTuned(s.Network)
	}
	for i := range h.Groupings {
		g := &h.Groupings[i]
		if err := g.build(len(places)); err != nil {
			return err
		}
		if h.view != nil {
			if i == 0 {
				g.tree = h.view.Hierarchy() // the tree for which predictions know what native takes in groups
			}
			g.Costs = predict.Costs(h.view, g.tree)
		}
	}
	h.Warnings = append(h.Warnings, missingAbilities(comm)...)
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
func (b *Broadcaster) checkAlgorithms(want, own []string) error {
	if want == nil {
		return nil
	}
	differs := 0.0
	if !slices.Equal(own, want) {
		differs = 1
	}
	most, err := b.reduceMax(differs)
	if err == nil && most[0] > 0 {
		err = fmt.Errorf("bcast: settings: algorithms %q of rank 0: want the same on all ranks, rank %d has %q", want, b.comm.Rank(), own)
	}
	return err
}

// names are the texts of algorithms with their settings; nil if there are none.
func names(algorithms []schedule.Algorithm) []string {
	var list []string
	for _, a := range algorithms {
		list = append(list, schedule.Text(a))
	}
	return list
}
