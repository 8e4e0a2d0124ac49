package main

import (
	"path/filepath"
	"regexp"

	"github.com/spf13/cobra"

	"github.com/topocast/topocast/bcast"
	"github.com/topocast/topocast/internal/cli"
)

// topologyHelp is what --topology takes, for the help of commands.
const topologyHelp = `--topology compares plans along several ways to see the ranks in groups, by commas: found is what
the network has, hosts makes a group of the ranks of each host, flat knows no groups, level0 and so
on the groups of one level alone (the finest is 0), and a network file, found by another method,
say, brings its own. Plans name theirs in brackets if it is not found.`

// namedTopology are the topologies that need no file.
var namedTopology = regexp.MustCompile(`^(found|hosts|flat|level[0-9]+)$`)

// addTopologyFlag adds --topology to a command.
func addTopologyFlag(c *cobra.Command, list *[]string) {
	c.Flags().StringSliceVar(list, "topology", nil, "groups that plans follow: found, hosts, flat, level0 ..., network files, by commas; default: found")
}

// parseTopologies reads the files of a list; nil of an empty one.
func parseTopologies(list []string) ([]bcast.Topology, error) {
	var all []bcast.Topology
	for _, text := range list {
		t := bcast.Topology{Name: text}
		if !namedTopology.MatchString(text) {
			n, err := cli.LoadNetwork(text)
			if err != nil {
				return nil, cli.BadInput("--topology: want found, hosts, flat, level0 and so on, or a network file: %v", err)
			}
			t = bcast.Topology{Name: filepath.Base(text), Network: n}
		}
		for _, other := range all {
			if other.Name == t.Name {
				return nil, cli.BadInput("--topology: %s is given twice", t.Name)
			}
		}
		all = append(all, t)
	}
	return all, nil
}
