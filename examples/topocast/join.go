package main

import (
	"fmt"
	"io"
	"math"
	"slices"

	"github.com/spf13/cobra"

	"github.com/topocast/topocast/internal/cli"
	"github.com/topocast/topocast/internal/truth"
	"github.com/topocast/topocast/internal/words"
	"github.com/topocast/topocast/model"
	"github.com/topocast/topocast/topology"
	"github.com/topocast/topocast/topology/encode"
)

func joinCommand(shared *cli.Flags) *cobra.Command {
	var external, core string
	var output *cli.Output
	c := &cobra.Command{
		Use:   "join BETWEEN INSIDE...",
		Short: "Join a network between nodes and those inside them",
		Long: `Join makes one network of a cluster of a network between its nodes and of those inside them,
which were measured apart: together, latencies between nodes, a hundred times as long, would spoil those
inside (Bufe 2014, sections 2.7 and 3.3.4). BETWEEN has one rank on each node. INSIDE is the network of the
cores of a node: one for all nodes that are alike, or one for each rank of BETWEEN, in order.

Where a node's way out is, and how long a message takes there, tells a rank on a neighbouring node: measured with
all cores of the node, it is the one rank of INSIDE on another host, or --external names it. Its links,
shortened by the least of them, lead to the node's own vertex, which takes its place. Without
it the way out is where the farthest core is nearest. The links between nodes are shortened by what
lies between that vertex and the core that took part between nodes, --core.

Groups with a confidence below 0.9 are left out. What is known besides latencies and bandwidths of
links, such as times by size, is not taken over.`,
		Example: `  mpirun -n 10 --map-by node topocast discover -o between.json
  mpirun -n 13 --host n1:12,n2:1 topocast discover -o inside.json
  topocast network join -o cluster.json between.json inside.json`,
		Args: cli.Args(0, "BETWEEN, a network between nodes", "INSIDE..., networks inside nodes"),
		RunE: func(c *cobra.Command, args []string) error {
			_, between, err := loadModel(args[0])
			if err != nil {
				return err
			}
			var nodes []nodeModel
			for _, file := range args[1:] {
				m, err := loadNodeModel(file, external, core, c.ErrOrStderr())
				if err != nil {
					return err
				}
				nodes = append(nodes, m)
			}
			result, locations, err := joinModels(between, nodes)
			if err != nil {
				return cli.BadInput("%w", err)
			}
			joined, err := model.New(result, &model.Settings{Locations: locations, Measured: model.Metadata{Tool: "topocast network join"}})
			if err != nil {
				return cli.BadInput("%w", err)
			}
			if _, err := output.Save(joined.Write); err != nil {
				return err
			}
			return shared.Print(c,
				func(w io.Writer) error { return printNetwork(w, joined, ranksOf(joined)) },
				func(w io.Writer) error { return encode.WriteResult(w, result, nil) })
		},
	}
	f := c.Flags()
	f.StringVar(&external, "external", "", "rank of INSIDE on a neighbouring node, by name or number; none: there is none")
	f.StringVar(&core, "core", "", "rank of INSIDE that took part between nodes, by name or number; default: the first")
	output = shared.Output(c, "output", "o", "", "file for the network")
	return cli.PrintsJSON(c, "topocast/hierarchy")
}

// loadModel reads a network, and as what was reconstructed. Of a graph alone the groups are worked out.
func loadModel(file string) (*model.Network, *topology.Result, error) {
	n, err := cli.LoadNetwork(nil, file)
	if err != nil {
		return nil, nil, err
	}
	g, err := n.NameHosts(n.Graph())
	if err != nil {
		return nil, nil, cli.BadInput("%s: %w", file, err)
	}
	for _, a := range g.Arcs() {
		if math.IsNaN(a.Latency) {
			return nil, nil, cli.BadInput("%s: link %s - %s: its latency is not known", file, g.Name(a.From), g.Name(a.To))
		}
	}
	r, err := grouped(n, g)
	if err != nil {
		return nil, nil, cli.BadInput("%s: %w", file, err)
	}
	return n, r, nil
}

// grouped is what was reconstructed of a network, with a graph of its own. Of a graph alone, such as that of a platform file, the
// groups are worked out: by the wiring alone, if latencies are not known.
func grouped(n *model.Network, g *topology.Graph) (*topology.Result, error) {
	r := &topology.Result{Graph: g, Hierarchy: n.Hierarchy(), Fit: n.Reconstruction().Fit, Warnings: n.Warnings()}
	if len(r.Hierarchy.Groups()) > 1 || r.Fit.Family != "" || g.Hosts() == 1 {
		return r, nil
	}
	distances := g.HostDistances()
	if slices.Contains(distances, math.Inf(1)) {
		var err error
		r.Hierarchy, err = g.Hierarchy()
		return r, err
	}
	return topology.NewResult(g, distances, 0, math.NaN(), nil)
}

// A nodeModel is a network inside a node, with the cores of its ranks; -1: not known.
type nodeModel struct {
	topology.NodeModel
	cores []int
}

// loadNodeModel reads the network inside a node. The external rank is the one that is named, or else the only one
// on a host of its own.
func loadNodeModel(file, external, core string, stderr io.Writer) (nodeModel, error) {
	n, result, err := loadModel(file)
	if err != nil {
		return nodeModel{}, err
	}
	m := nodeModel{NodeModel: topology.NodeModel{Result: result, External: -1}}
	for rank := range n.Ranks() {
		m.cores = append(m.cores, n.Location(rank).Core)
	}
	names := hostNames(m.Result.Graph)
	switch external {
	case "":
		m.External = aloneElsewhere(n)
	case "none":
	default:
		if m.External, err = numberOf("rank", names, 0, external, stderr); err != nil {
			return nodeModel{}, cli.BadInput("--external: %s: %w", file, err)
		}
	}
	if core != "" {
		if m.Core, err = numberOf("rank", names, 0, core, stderr); err != nil {
			return nodeModel{}, cli.BadInput("--core: %s: %w", file, err)
		}
	}
	if m.Core == m.External {
		return nodeModel{}, cli.BadInput("--core: %s: rank %d is the external rank: want one of the node", file, m.Core)
	}
	return m, nil
}

// aloneElsewhere is the only rank that is alone on its host where all others share one, -1 if there is none.
func aloneElsewhere(n *model.Network) int {
	if len(n.Hosts()) != 2 || n.Ranks() < 3 {
		return -1
	}
	for _, on := range truth.Number(hostsOf(n)).Groups() {
		if len(on) == 1 {
			return on[0]
		}
	}
	return -1
}

// joinModels joins the models, of which one is for all nodes, and says where each rank of the result runs.
func joinModels(between *topology.Result, nodes []nodeModel) (*topology.Result, []model.Location, error) {
	n := between.Graph.Hosts()
	if len(nodes) == 1 {
		nodes = slices.Repeat(nodes, n)
	}
	if len(nodes) != n {
		return nil, nil, fmt.Errorf("%s of insides: want one, or one for each of %s", words.Count(len(nodes), "network"), words.Count(n, "node"))
	}
	var inside []topology.NodeModel
	var locations []model.Location
	for i, m := range nodes {
		inside = append(inside, m.NodeModel)
		for rank, core := range m.cores {
			if rank != m.External {
				locations = append(locations, model.Location{Host: between.Graph.Name(i), Core: core})
			}
		}
	}
	joined, err := topology.Join(between, inside)
	if err != nil {
		return nil, nil, err
	}
	for _, w := range between.Warnings {
		joined.Warnings = append(joined.Warnings, "between nodes: "+w)
	}
	return joined, locations, nil
}
