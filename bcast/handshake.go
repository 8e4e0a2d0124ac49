package bcast

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/topocast/topocast/bcast/schedule"
	"github.com/topocast/topocast/bcast/table"
	"github.com/topocast/topocast/model"
	"github.com/topocast/topocast/mpi"
)

// A handshake is what rank 0 tells all ranks when a broadcaster is made.
type handshake struct {
	Tag            int
	Budget         time.Duration
	ModelOnly      bool
	Oversubscribed bool
	Algorithms     []string // names of Settings.Algorithms; nil: the usual ones
	Warnings       []string
	Groupings      []grouping   // the first is that of the network
	Tuned          []table.Cell // from the network's table

	view   *model.Network // on rank 0: the ranks' network; nil: none
	job    table.Job      // on rank 0
	stored *table.Table   // on rank 0: that of the network
}

// shakeHands is collective: all ranks get the handshake of rank 0, or its error.
func shakeHands(c *control, s *Settings, places []mpi.Place) (*handshake, error) {
	if s == nil {
		s = &Settings{}
	}
	h := new(handshake)
	var data []byte
	var wrong error
	if c.decides() {
		if h, wrong = prepareHandshake(c.exec.comm, s, places); wrong == nil {
			data, wrong = json.Marshal(h)
		}
	}
	data, err := c.share(data, wrong)
	if err != nil {
		return nil, err
	}
	if !c.decides() {
		if err := json.Unmarshal(data, h); err != nil {
			return nil, fmt.Errorf("bcast: new: settings of rank 0: %w", err)
		}
	}
	return h, h.checkAlgorithms(c, names(s.Algorithms))
}

// prepareHandshake is the part of rank 0. places are those of all ranks.
func prepareHandshake(comm mpi.Communicator, s *Settings, places []mpi.Place) (*handshake, error) {
	if err := s.validate(); err != nil {
		return nil, err
	}
	h := &handshake{
		Tag: s.Tag, Budget: s.Budget, ModelOnly: s.ModelOnly,
		Oversubscribed: len(mpi.OversubscribedHosts(places)) > 0,
		Algorithms:     names(s.Algorithms),
		job:            jobOf(comm, places),
		Groupings:      []grouping{{Wanted: s.Topologies == nil}},
	}
	var along []table.Topology
	if s.Network != nil {
		var err error
		if h.view, h.Warnings, err = networkOf(s.Network, locations(places)); err != nil {
			return nil, err
		}
		h.ModelOnly = h.ModelOnly && len(h.Warnings) == 0
		along = h.findTuned(s.Network)
	}
	if err := h.group(s.Topologies, along, places); err != nil {
		return nil, err
	}
	h.Warnings = append(h.Warnings, missingAbilities(comm)...)
	return h, nil
}

// missingAbilities warns of a communicator that hides what others have.
func missingAbilities(comm mpi.Communicator) []string {
	_, places := comm.(mpi.Placed)
	_, starts := comm.(mpi.NonBlocking)
	_, performs := comm.(mpi.Scheduler)
	if places && (starts || performs) {
		return nil
	}
	var lost []string
	for _, ability := range []struct {
		has  bool
		text string
	}{
		{places, "mpi.Placed: hosts and cores of the ranks are not known"},
		{starts || performs, "mpi.NonBlocking: one transfer at a time, so long messages are slow"},
	} {
		if !ability.has {
			lost = append(lost, ability.text)
		}
	}
	if _, ok := comm.(mpi.NativeBcast); !ok {
		lost = append(lost, "mpi.NativeBcast: nothing is timed, predictions decide")
	}
	return []string{fmt.Sprintf("the communicator (%T) lacks %s. A wrapper has to pass on the abilities of what it wraps", comm, strings.Join(lost, "; "))}
}

// checkAlgorithms is collective: it returns the same kind of error on all ranks if one of them has other algorithms than
// rank 0, which has some of its own.
func (h *handshake) checkAlgorithms(c *control, own []string) error {
	if h.Algorithms == nil {
		return nil
	}
	differs := int64(0)
	if !slices.Equal(own, h.Algorithms) {
		differs = 1
	}
	any, err := c.max(differs)
	if err != nil {
		return err
	}
	if any[0] != 0 {
		return fmt.Errorf("bcast: settings: algorithms %q of rank 0: want the same on all ranks, rank %d has %q", h.Algorithms, c.exec.comm.Rank(), own)
	}
	return nil
}

// names tells algorithms and their settings apart; nil if there are none.
func names(algorithms []schedule.Algorithm) []string {
	var list []string
	for _, a := range algorithms {
		list = append(list, schedule.Text(a))
	}
	return list
}
