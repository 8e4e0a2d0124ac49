package plogp

import (
	"cmp"
	"context"
	"fmt"
	"math/rand/v2"
	"slices"

	"github.com/topocast/topocast/measure/harness"
	"github.com/topocast/topocast/mpi"
	"github.com/topocast/topocast/topology"
)

// Measure measures the PLogP parameters of all directed pairs of ranks, or of
// some. It is collective; the settings of rank 0 count. The result is nil on
// other ranks.
//
// The end of the context of any rank, or of the budget, ends it after the size under way; pairs of which sizes are
// missing then are left out. An error means that nothing is left: wrong settings, or a failure
// of the communicator, which is unusable afterwards.
//
// A pair takes some 100 round trips of each size and rows of up to 37,500
// messages. Memory on each rank is that of the longest message, and 2 MiB at least; on
// rank 0 O(pairs and sizes) besides.
func Measure(ctx context.Context, comm mpi.Communicator, s *Settings) (*Result, error) {
	own := *cmp.Or(s, &Settings{})
	return harness.Conduct(ctx, comm, own.Silence, own.measure)
}

func (s *Settings) measure(c *harness.Conductor) (r *Result, err error) {
	comm := c.Comm
	chosen := harness.Pairs{Sequential: true}
	p, err := harness.Share(comm, c, func() (*settings, error) {
		p, err := s.plan()
		if err == nil {
			chosen.Groups, chosen.WithinGroups, err = s.some(comm.Size())
		}
		if timed, ok := comm.(mpi.Timed); ok {
			p.CallCost, _ = timed.CallCosts()
		}
		return &p, err
	})
	if err != nil {
		return nil, err
	}
	err = c.LeadPairs(s.Budget, newMeter(comm, p).exchange, func(play harness.PlayPairs) error {
		l := &leader{Conductor: c, Settings: s, plan: p, play: play, found: make(measurements)}
		r, err = l.lead(chosen.Disjoint(comm.Size(), s.Seed))
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("plogp: %w", err)
	}
	return r, nil
}

// some are the groups to measure and whether to stay within them. In the
// "fast" mode of Reinfjell 2023, section 3.2, groups hold a random share of
// their ranks, at least two. One more group holds all that were chosen.
func (s *Settings) some(ranks int) (groups *topology.Hierarchy, within bool, err error) {
	if s.Groups != nil && s.Groups.Hosts() != ranks {
		return nil, false, fmt.Errorf("plogp: Settings.Groups: hierarchy of %d hosts for %d ranks", s.Groups.Hosts(), ranks)
	}
	if s.Share == 0 || s.Share == 1 {
		return s.Groups, false, nil
	}
	h := s.Groups
	if h == nil {
		if h, err = topology.NewHierarchy(ranks, nil, nil, 0); err != nil {
			return nil, false, err
		}
	}
	own := make([][]int, len(h.Groups())) // by group: the ranks that are in no smaller one
	for rank := range ranks {
		g := h.Smallest(rank)
		own[g] = append(own[g], rank)
	}
	rng := rand.New(rand.NewPCG(s.Seed, uint64(ranks)))
	chosen := make([]bool, ranks)
	for _, members := range append(own[1:], own[0]) {
		few := min(len(members), max(fewestChosen, int(s.Share*float64(len(members))+0.5)))
		for _, k := range rng.Perm(len(members))[:few] {
			chosen[members[k]] = true
		}
	}
	of := func(hosts []int) (kept []int) {
		for _, h := range hosts {
			if chosen[h] {
				kept = append(kept, h)
			}
		}
		return kept
	}
	all := of(h.Groups()[0].Hosts)
	if len(all) == ranks {
		return s.Groups, false, nil
	}
	var kept []topology.Group
	for _, g := range h.Groups()[1:] {
		if hosts := of(g.Hosts); len(hosts) >= 2 {
			kept = append(kept, topology.Group{Hosts: hosts, Level: g.Level})
		}
	}
	levels := append(slices.Clone(h.Levels()), topology.Level{})
	kept = append(kept, topology.Group{Hosts: all, Level: len(levels) - 1})
	groups, err = topology.NewHierarchy(ranks, levels, kept, 0)
	return groups, true, err
}

// fewestChosen of a group make a pair.
const fewestChosen = 2
