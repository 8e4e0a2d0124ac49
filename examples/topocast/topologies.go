package main

import (
	"fmt"
	"io"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/pflag"

	"github.com/topocast/topocast/bcast/table"
	"github.com/topocast/topocast/internal/cli"
	"github.com/topocast/topocast/internal/decisions"
	"github.com/topocast/topocast/internal/words"
	"github.com/topocast/topocast/model"
	"github.com/topocast/topocast/mpi"
	"github.com/topocast/topocast/topology/cluster"
)

// topologyHelp is what --topology takes, for the help of commands.
const topologyHelp = `--topology compares plans along several ways to see the ranks in groups, by commas: found is what
the network has, hosts makes a group of the ranks of each host, flat knows no groups, level0 and so
on the groups of one level alone (the finest is 0), and a network file, found by another method,
say, brings its own. Plans name theirs in brackets if it is not found.`

// namedTopology are the topologies that need no file.
var namedTopology = regexp.MustCompile(`^(found|hosts|flat|level[0-9]+)$`)

// addTopologyFlag adds --topology to a command.
func addTopologyFlag(f *pflag.FlagSet, sources *[]groupSource) {
	list := f.StringSlice("topology", nil, "groups that plans follow: found, hosts, flat, level0 ..., network files, by commas; default: found")
	cli.Check(f, "topology", func() (err error) {
		*sources, err = parseTopologies(*list)
		return err
	})
}

// A groupSource is one value of --topology.
type groupSource struct {
	name    string
	network *model.Network // that brings its own groups; nil: those of the name
}

// parseTopologies reads the files of a list; nil of an empty one.
func parseTopologies(list []string) ([]groupSource, error) {
	var all []groupSource
	for _, text := range list {
		t := groupSource{name: text}
		if !namedTopology.MatchString(text) {
			n, err := loadOnRanks(text)
			if err != nil {
				return nil, cli.BadInput("--topology: want found, hosts, flat, level0 and so on, or a network file: %v", err)
			}
			t = groupSource{filepath.Base(text), n}
		}
		if !table.IsTopologyName(t.name) || t.network != nil && namedTopology.MatchString(t.name) {
			return nil, cli.BadInput("--topology: %s: want a file with another name, of plain text without commas and brackets", text)
		}
		if slices.ContainsFunc(all, func(o groupSource) bool { return o.name == t.name }) {
			return nil, cli.BadInput("--topology: %s is given twice", t.name)
		}
		all = append(all, t)
	}
	return all, nil
}

// topologiesOf is collective: it returns, on rank 0, the groups of all sources but those that an earlier one has already;
// nil of no sources.
func topologiesOf(comm mpi.Communicator, network *model.Network, sources []groupSource, stderr io.Writer) ([]table.Topology, error) {
	if sources == nil {
		return nil, nil
	}
	places, err := mpi.GatherPlaces(comm)
	if err != nil {
		return nil, err
	}
	var all []table.Topology
	err = onRankZero(comm, "topologies", func() (err error) {
		all, err = groupsOf(network, sources, places, stderr)
		return err
	})
	return all, err
}

// groupsOf is the part of rank 0. places are those of all ranks.
func groupsOf(network *model.Network, sources []groupSource, places []mpi.Place, stderr io.Writer) (all []table.Topology, err error) {
	at := decisions.Locations(places)
	view, _, err := network.OfJob(at)
	if err != nil {
		return nil, err
	}
	for _, s := range sources {
		t := table.Topology{Name: s.name}
		if s.network != nil {
			other, warnings, err := s.network.OfJob(at)
			if err != nil {
				return nil, fmt.Errorf("topology %s: %w", s.name, err)
			}
			writeWarnings(stderr, "topology "+s.name+": ", warnings)
			t.Levels = levelsOf(other)
		} else if t.Levels, err = levelsNamed(s.name, view, places); err != nil {
			return nil, err
		}
		if i := slices.IndexFunc(all, func(o table.Topology) bool { return table.SameLevels(o.Levels, t.Levels) }); i >= 0 {
			fmt.Fprintf(stderr, "warning: topology %s has the groups of %s: compared once\n", s.name, all[i].Name)
			continue
		}
		all = append(all, t)
	}
	return all, nil
}

// levelsOf are the groups of a network by level, without the levels that have none.
func levelsOf(n *model.Network) [][][]int {
	return slices.DeleteFunc(table.Levels(n.Hierarchy()), func(groups [][]int) bool { return groups == nil })
}

// levelsNamed are the groups of a source that needs no file.
func levelsNamed(name string, view *model.Network, places []mpi.Place) ([][][]int, error) {
	levels := levelsOf(view)
	switch digits, one := strings.CutPrefix(name, "level"); {
	case name == table.Found:
		return levels, nil
	case name == "flat":
		return nil, nil
	case one:
		if i, err := strconv.Atoi(digits); err == nil && i < len(levels) {
			return levels[i : i+1], nil
		}
		known := []string{table.Found, "hosts", "flat"}
		for i := range levels {
			known = append(known, fmt.Sprint("level", i))
		}
		return nil, cli.BadInput("--topology %s: want %s, or a network file", name, words.Or(known))
	}
	host, _ := mpi.NumberHosts(places)
	ranks := slices.DeleteFunc(cluster.Labels(host).Groups(), func(of []int) bool { return len(of) < 2 || len(of) == len(places) })
	if len(ranks) == 0 {
		return nil, nil
	}
	return [][][]int{ranks}, nil
}
