package model

import (
	"bytes"
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"

	"github.com/topocast/topocast/internal/words"
	"github.com/topocast/topocast/topology"
	"github.com/topocast/topocast/topology/encode"
)

// ofForeign is the network of a file of another tool, nil if it is of none. names are those of the hosts, nil where they
// are not known.
func ofForeign(data []byte, names []string) (*Network, error) {
	says := encode.Unread(data)
	switch {
	case says != "":
		return nil, errors.New(says)
	case encode.IsHwloc(data):
		return nil, errors.New("describes the inside of a host: topocast compare takes it for a reference")
	}
	for _, f := range encode.Formats() {
		if f.Is == nil || !f.Is(data) {
			continue
		}
		if f.ReadGraph == nil {
			return ofGroups(data, names)
		}
		g, warnings, err := f.ReadGraph(bytes.NewReader(data), names)
		if err != nil {
			return nil, err
		}
		return graphNetwork(g, topology.ChooseLowest, warnings)
	}
	return nil, nil
}

// ofFabric is the network of a scheduler's file: the groups of its switches, and links of which nothing is known.
func ofFabric(data []byte, folder string) (*Network, error) {
	f, err := encode.ReadFabric(data, &encode.FabricSettings{Folder: folder})
	if err != nil {
		return nil, err
	}
	g, err := f.Graph()
	if err != nil {
		return nil, err
	}
	hosts := f.Hosts()
	h, err := f.Hierarchy(hosts)
	if err != nil {
		return nil, err
	}
	return New(&topology.Result{Graph: g, Hierarchy: h, Fit: unknownFit(topology.FamilyTree), Warnings: f.Warnings}, atHosts(hosts))
}

// unknownFit is the fit of what was not measured.
func unknownFit(family topology.Family) topology.Fit {
	nan := math.NaN()
	return topology.Fit{Family: family, R2: nan, Residual: nan, TreeLikeness: nan, Noise: nan}
}

// ofGroups is the network of a topology file of LGate. Its ranks get the given names.
func ofGroups(data []byte, names []string) (*Network, error) {
	h, err := encode.ReadLGate(bytes.NewReader(data))
	if err != nil {
		return nil, err
	}
	if names != nil && len(names) != h.Hosts() {
		return nil, fmt.Errorf("groups of %s, and the other file is of %d", words.Count(h.Hosts(), "rank"), len(names))
	}
	return groupNetwork(h, names)
}

// groupNetwork is the network of groups alone.
func groupNetwork(h *topology.Hierarchy, names []string) (*Network, error) {
	g, err := h.Graph()
	if err != nil {
		return nil, err
	}
	return New(&topology.Result{Graph: g, Hierarchy: h, Fit: unknownFit(topology.FamilyTree)}, atHosts(names))
}

// InsideNetwork returns the network of what a file of hwloc says of the cores on which the ranks of a network run, all on
// one host. Its ranks are those of the network, and are named by their cores, as names has them. Of a matrix whose rows have no names, or
// numbers for names, as programs write that measure cores, the rows are the cores of these numbers.
func InsideNetwork(data []byte, n *Network) (inside *Network, names []string, err error) {
	h, cpus, err := encode.ReadHwloc(bytes.NewReader(data))
	if err != nil {
		return nil, nil, err
	}
	core, ok := coresOf(n)
	if !ok {
		return nil, nil, fmt.Errorf("describes one host, and the other network is of %s", words.Count(len(n.Hosts()), "host"))
	}
	rankOf := map[int]int{} // by thread
	for rank := range n.Ranks() {
		thread, ok := slices.BinarySearch(cpus, core[rank])
		if _, twice := rankOf[thread]; !ok || twice {
			return nil, nil, fmt.Errorf("has no core of its own for rank %d, which is at core %d (-1: not bound)", rank, core[rank])
		}
		rankOf[thread] = rank
		names = append(names, fmt.Sprintf("core%d", core[rank]))
	}
	var groups []topology.Group
	for _, g := range h.Groups()[1:] {
		var ranks []int
		for _, thread := range g.Hosts {
			if rank, ok := rankOf[thread]; ok {
				ranks = append(ranks, rank)
			}
		}
		same := func(other topology.Group) bool { return slices.Equal(other.Hosts, ranks) }
		slices.Sort(ranks)
		if len(ranks) > 1 && len(ranks) < n.Ranks() && !slices.ContainsFunc(groups, same) {
			g.Hosts = ranks
			groups = append(groups, g)
		}
	}
	if h, err = topology.NewHierarchy(n.Ranks(), h.Levels(), groups, math.NaN()); err != nil {
		return nil, nil, err
	}
	inside, err = groupNetwork(h, names)
	return inside, names, err
}

// coresOf are the cores of the ranks, if these are on one host, or have no hosts but numbers.
func coresOf(n *Network) (core []int, ok bool) {
	for rank := range n.Ranks() {
		at := n.Location(rank)
		number, err := strconv.Atoi(at.Host)
		switch {
		case len(n.Hosts()) == 1:
			number = at.Core
		case len(n.Hosts()) == 0:
			number = rank
		case err != nil:
			return nil, false
		}
		core = append(core, number)
	}
	return core, true
}
