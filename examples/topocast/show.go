package main

import (
	"fmt"
	"strings"

	"github.com/spf13/cobra"
	"github.com/topocast/topocast/internal/cli"
)

func showCommand(shared *cli.Flags) *cobra.Command {
	var unfold bool
	c := &cobra.Command{
		Use:   "show NET",
		Short: "Print the wiring of a network as a tree",
		Long: `Show draws the network of topocast discover, or of reconstruct --output, as a tree: groups of ranks, what they
are called - host, socket, switch, and rack where the names of hosts tell - which ranks are in them, the latency between
their parts (inside), and latency and bandwidth of the link that leads up from them (uplink). Of rings, meshes and other
machines that are no tree, the links between switches follow. "-" reads standard input.

Of large machines parts that are alike are written once, as in 4 x rack; --unfold writes all. ? marks groups with a
confidence below 0.9, which are shown and not used, ! links that are 1.5 times slower than those like them, and more.`,
		Example: `  topocast show network.json
  topocast show --unfold cluster.json`,
		Args: cli.Args(0, wantNetwork),
		RunE: func(c *cobra.Command, args []string) error {
			n, err := cli.LoadNetwork(args[0])
			if err != nil {
				return err
			}
			w := c.OutOrStdout()
			if shared.JSON {
				return writeNetwork(w, args[0], n, writeJSON, c.ErrOrStderr())
			}
			m := n.Measured()
			var how []string
			for _, text := range []string{m.Tool, m.Library, m.Date} {
				if text != "" {
					how = append(how, text)
				}
			}
			if len(how) > 0 {
				fmt.Fprintf(w, "%s\n", strings.Join(how, ", "))
			}
			s := ranksOf(n)
			s.Unfold = unfold
			return printNetwork(w, n, s)
		},
	}
	c.Flags().BoolVar(&unfold, "unfold", false, "write every part, even of a large machine")
	return cli.PrintsJSON(c, "topocast/hierarchy")
}
