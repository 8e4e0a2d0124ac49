package main

import (
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/topocast/topocast/internal/cli"
	"github.com/topocast/topocast/internal/columns"
	"github.com/topocast/topocast/internal/quantity"
	"github.com/topocast/topocast/internal/words"
	"github.com/topocast/topocast/model"
	"github.com/topocast/topocast/topology"
	"github.com/topocast/topocast/topology/draw"
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
			n, err := cli.LoadNetwork(nil, args[0])
			if err != nil {
				return err
			}
			return shared.Print(c, func(w io.Writer) error {
				m := n.Measured()
				how := slices.DeleteFunc([]string{m.Tool, m.Library, m.Date}, func(text string) bool { return text == "" })
				if len(how) > 0 {
					fmt.Fprintf(w, "%s\n", strings.Join(how, ", "))
				}
				s := ranksOf(n)
				s.Unfold = unfold
				return printNetwork(w, n, s)
			}, func(w io.Writer) error {
				return writeNetwork(w, args[0], n, writeJSON, c.ErrOrStderr())
			})
		},
	}
	c.Flags().BoolVar(&unfold, "unfold", false, "write every part, even of a large machine")
	return cli.PrintsJSON(c, "topocast/hierarchy")
}

// ranksOf says where the ranks of a network run, for its picture.
func ranksOf(n *model.Network) *draw.TextSettings { return placed("rank", n.Settings().Locations) }

// placed says what the ends of a wiring are and where they are, for their picture; nil: not known.
func placed(noun string, at []model.Location) *draw.TextSettings {
	s := &draw.TextSettings{Noun: noun}
	for _, x := range at {
		s.Places = append(s.Places, draw.Place(x))
	}
	return s
}

// printNetwork writes what a network holds of the wiring, as printResult does.
func printNetwork(w io.Writer, n *model.Network, s *draw.TextSettings) (err error) {
	r := *n.Reconstruction()
	if r.Hierarchy, err = shownGroups(n, r.Graph); err == nil {
		err = printResult(w, &r, s)
		tellResources(w, n.Settings().Resources)
	}
	return err
}

// shownGroups are all groups of a network, those that are not confident, too. Of a graph alone they are those of its wiring.
func shownGroups(n *model.Network, g *topology.Graph) (*topology.Hierarchy, error) {
	if h := n.Reconstruction().Hierarchy; len(h.Groups()) > 1 {
		return h, nil
	}
	found, err := grouped(n, g)
	if err != nil {
		return nil, err
	}
	return found.Hierarchy, nil
}

// tellResources writes which ranks share which caches and paths to memory, if that was measured.
func tellResources(w io.Writer, all []model.Resource) {
	for _, r := range all {
		if !r.FromSystem {
			fmt.Fprintf(w, "%s (measured)\n", describeResource(&r))
		}
	}
}

// describeResource is a resource in one line.
func describeResource(r *model.Resource) string {
	what := "what ranks share"
	kinds := map[topology.Kind]string{
		topology.KindCore: "cores", topology.KindCache: "caches", topology.KindNUMA: "paths to memory", topology.KindSocket: "sockets",
	}
	if name, ok := kinds[r.Kind]; ok {
		what = name
	}
	if r.Bytes > 0 {
		what += " of " + quantity.Bytes(int(r.Bytes))
	}
	if r.Bandwidth > 0 {
		what += " of " + quantity.Rate(r.Bandwidth)
	}
	if len(r.Groups) == 0 {
		return what + ": no two ranks share one"
	}
	sizes := each(r.Groups, func(group []int) int { return len(group) })
	ranks := fmt.Sprint(slices.Max(sizes))
	if least := slices.Min(sizes); least < slices.Max(sizes) {
		ranks = fmt.Sprintf("%d to %s", least, ranks)
	}
	return fmt.Sprintf("%s: %d, each shared by %s ranks", what, len(r.Groups), ranks)
}

// printResult writes what was found, for a person: a table of the levels, the
// tree, and the warnings.
func printResult(w io.Writer, r *topology.Result, s *draw.TextSettings) error {
	h := r.Hierarchy
	switches := r.Graph.Vertices() - r.Graph.Hosts()
	size := []string{words.Count(h.Hosts(), s.Noun), string(r.Fit.Family), words.Count(switches, "switch"), words.Count(r.Graph.NumArcs()/2, "link")}
	if r.Fit.Family == "" { // a graph that another program wrote
		size = slices.Delete(size, 1, 2)
	}
	fmt.Fprint(w, strings.Join(size, ", "), "\n\n")

	t := columns.New(w, "level", "groups", s.Noun+"s each", "latency", "confidence")
	for _, l := range draw.Levels(h) {
		t.Row(l.Level, l.Groups, l.Each, l.Latency, l.Confidence)
	}
	t.Flush()

	fmt.Fprintln(w)
	if err := draw.Text(w, r.Graph, h, s); err != nil {
		return err
	}
	for _, warning := range r.Warnings {
		fmt.Fprintln(w, words.Fill("warning: "+warning, cli.HelpWidth))
	}
	return nil
}

func fraction(x float64) string { return decimal(x, 2) }

// decimal writes a number with some decimals; NaN is not known.
func decimal(x float64, decimals int) string {
	if math.IsNaN(x) {
		return "-"
	}
	return strconv.FormatFloat(x, 'f', decimals, 64)
}
