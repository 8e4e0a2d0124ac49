package model

import (
	"fmt"
	"slices"
	"strings"

	"github.com/topocast/topocast/internal/words"
	"github.com/topocast/topocast/topology"
)

// View returns the part of the network that a job got: ranks are where its
// ranks run, in their order. Each takes the rank that ran on the same host and core
// when the network was measured; where cores are not bound or not the same,
// the host's ranks in order, free ones first. The error names the hosts that the network does
// not know and those on which fewer ranks were measured: see OfJob.
//
// Switches that lead to no rank are left out, and hosts that only pass
// messages on become switches. Routes other than the lowest may differ from those of
// the whole network, as they depend on the numbers of ranks. The ratios of Degradation by
// distance become those of a ring of the job's hosts. They were measured while all hosts of the ring sent, so they are too
// high where few of these are left.
func (n *Network) View(ranks []Location) (*Network, error) { return n.view(ranks, false) }

// view is View, or for jobs on hosts of which not all was measured, with typical parameters where typical: see OfJob.
func (n *Network) view(ranks []Location, typical bool) (*Network, error) {
	if slices.Equal(ranks, n.s.Locations) {
		return n, nil
	}
	old, unknown, fuller, moved, err := n.match(ranks)
	switch {
	case err != nil:
		return nil, err
	case !typical && len(unknown) > 0:
		return nil, fmt.Errorf("model: view: hosts that the network does not know: %s", strings.Join(unknown, ", "))
	case !typical && len(fuller) > 0:
		return nil, fmt.Errorf("model: view: hosts with more ranks than were measured: %s", strings.Join(fuller, ", "))
	}
	var warnings []string
	for _, doubt := range []struct {
		text  string
		hosts []string
	}{
		{"hosts that were not measured, with typical parameters", unknown},
		{"hosts with more ranks than were measured, the others taken like the first", fuller},
		{"hosts with ranks on other cores than were measured, taken in their order", moved},
	} {
		if typical && len(doubt.hosts) > 0 {
			warnings = append(warnings, doubt.text+": "+words.Few(doubt.hosts, 8))
		}
	}
	return n.cut(ranks, old, warnings)
}

// match finds the rank of the network for each rank of a job, -1 for unknown hosts. It names the hosts that are unknown,
// have too many ranks, or have ranks on other cores.
func (n *Network) match(ranks []Location) (old []int, unknown, fuller, moved []string, err error) {
	if n.s.Locations == nil {
		return nil, nil, nil, nil, fmt.Errorf("model: view: the network does not know where its ranks ran")
	}
	add := func(hosts *[]string, host string) {
		if !slices.Contains(*hosts, host) {
			*hosts = append(*hosts, host)
		}
	}
	onHost := make(map[string][]int)
	for r, at := range n.s.Locations {
		onHost[at.Host] = append(onHost[at.Host], r)
	}
	old = make([]int, len(ranks))
	taken := make([]bool, n.Ranks())
	for i, at := range ranks {
		old[i] = -1
		for _, r := range onHost[at.Host] {
			if at.Core >= 0 && !taken[r] && n.s.Locations[r].Core == at.Core {
				old[i], taken[r] = r, true
				break
			}
		}
	}
	for i, at := range ranks {
		if old[i] >= 0 {
			continue
		}
		there := onHost[at.Host]
		if len(there) == 0 {
			add(&unknown, at.Host)
			continue
		}
		free := slices.IndexFunc(there, func(r int) bool { return !taken[r] })
		switch {
		case free < 0:
			free = 0
			add(&fuller, at.Host)
		case len(there) > 1 && n.s.Locations[there[free]].Core != at.Core: // a single rank is known by its host
			add(&moved, at.Host)
		}
		old[i], taken[there[free]] = there[free], true
	}
	return old, unknown, fuller, moved, nil
}

// cut makes the network of the given ranks, old[i] being the rank of n for
// rank i or -1.
func (n *Network) cut(ranks []Location, old []int, warnings []string) (*Network, error) {
	graph, err := n.cutGraph(old)
	if err != nil {
		return nil, fmt.Errorf("model: view: %w", err)
	}
	hierarchy, levels, err := n.cutHierarchy(old)
	if err != nil {
		return nil, fmt.Errorf("model: view: %w", err)
	}
	s := n.s
	s.Levels, s.Locations, s.Resources = levels, ranks, cutResources(n.s.Resources, old)
	s.Degradation = n.s.Degradation.cut(n.oldHosts(ranks, old))
	fit := n.found.Fit
	fit.Levels = nil // they speak of the levels of the whole
	view, err := build(&topology.Result{
		Graph: graph, Hierarchy: hierarchy, Fit: fit, Warnings: append(slices.Clone(n.found.Warnings), warnings...),
	}, s)
	if err != nil {
		return nil, fmt.Errorf("model: view: %w", err)
	}
	view.setTreeOf(n, old)
	return view, nil
}

// oldHosts are the host numbers in n of the hosts of ranks, in the order of their
// first rank; -1 for unknown ones. old has the ranks of n.
func (n *Network) oldHosts(ranks []Location, old []int) []int {
	seen := make(map[string]bool)
	var hosts []int
	for i, at := range ranks {
		if seen[at.Host] {
			continue
		}
		seen[at.Host] = true
		host := -1
		if old[i] >= 0 {
			host = int(n.hostOf[old[i]])
		}
		hosts = append(hosts, host)
	}
	return hosts
}

// OfJob is the network of the ranks of a job, which run at the given locations: View for jobs on hosts of which not all was
// measured. It returns what makes that doubtful, too: every warning does. They follow the network's own in Warnings.
//
// A rank of an unknown host gets the typical parameters of the coarsest level. It hangs on the root of a tree. Elsewhere it
// hangs on the switch with the most links to others, or on the first of hosts that are wired to each other. Its link makes
// distances typical, too.
// A rank beyond those measured on its host is taken like the host's first one. Warnings name these hosts, and those with
// several ranks of which some run on other cores than were measured.
//
// A network that does not say where its ranks ran is taken to be of the job's ranks in their order. It has to have as many.
func (n *Network) OfJob(at []Location) (*Network, []string, error) {
	if !slices.ContainsFunc(n.Hosts(), func(host string) bool { return host != "" }) {
		if n.Ranks() != len(at) {
			return nil, nil, fmt.Errorf("network of %s, communicator of %d, and the network does not say where its ranks ran: "+
				"measure these ranks with topocast discover, or give the network their order", words.Count(n.Ranks(), "rank"), len(at))
		}
		return n, []string{"the network does not say where its ranks ran: taken to be these ranks in their order"}, nil
	}
	view, err := n.view(at, true)
	if err != nil {
		return nil, nil, err
	}
	return view, slices.Clip(view.Warnings())[len(n.Warnings()):], nil
}
