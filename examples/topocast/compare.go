package main

import (
	"fmt"
	"io"
	"math"
	"path/filepath"
	"slices"

	"github.com/spf13/cobra"

	"github.com/topocast/topocast/internal/cli"
	"github.com/topocast/topocast/internal/hostlist"
	"github.com/topocast/topocast/internal/words"
	"github.com/topocast/topocast/model"
	"github.com/topocast/topocast/model/comparison"
	"github.com/topocast/topocast/model/results"
	"github.com/topocast/topocast/topology/compare"
	"github.com/topocast/topocast/topology/encode"
)

func compareCommand(shared *cli.Flags) *cobra.Command {
	var tolerance float64
	var all bool
	var against, fabricTopology string
	c := &cobra.Command{
		Use:   "compare NET --against REF",
		Short: "Name the links and hosts that differ from a reference",
		Long: `Compare holds a measured network (of topocast discover) against a reference:
one that was measured before, a platform file
{"graph":{"hosts":[..],"switches":[..],"links":[..]}}, or a specification.
` + wantNetworkFile("REF") + `
In DOT, names are on vertices and Gbit/s on edges. Of one host what lstopo --of xml or --of synthetic
prints is a reference, too.
Where the reference has groups alone they must be the same. Hosts are matched by name; there may be any number of ranks on each, in any order, and hosts that one
side lacks are left out. Every link of the reference gets a verdict from its
latency and its bandwidth each way, against the reference's and the other links
of its level. What all latencies have in common, such as another MPI library, is
told once and counts for no link; bandwidths that all links lack are a difference.
Differences come worst first, by name.

REF may also be what the scheduler is told: a topology.conf or topology.yaml of
Slurm, or topograph's JSON. It has no latencies: its switches are held against the
measured confident groups. What cannot be true of both differs; a switch that the
latencies do not show is counted, no more.

Without --tolerance a link may be off by six times the spread of its level, and
by 10 % of a latency (30 % inside a host) or 15 % of a bandwidth at least.

Exit status: 0 nothing differs, 3 something does, 4 cannot tell, of a level or
a group at least.`,
		Example: `  topocast compare network.json --against specified.json
  topocast compare network.json --against /etc/slurm/topology.conf
  topocast compare today.json --against last-month.json --tolerance 0.5 --json`,
		Args: cli.Args(1, wantNetwork, "REF"),
		RunE: func(c *cobra.Command, args []string) error {
			switch {
			case len(args) == 2 && against != "":
				return cli.BadInput("unexpected argument %q: the reference is that of --against", args[1])
			case len(args) == 2:
				against = args[1]
			case against == "":
				return cli.BadInput("want --against REF, the reference")
			}
			data, err := cli.ReadInput(args[0])
			if err != nil {
				return err
			}
			if encode.IsFabric(data) {
				return cli.BadInput("%s: the file of a scheduler is a reference: topocast compare NET --against %s", args[0], args[0])
			}
			measured, err := sideOf(c.ErrOrStderr(), args[0], data, nil)
			if err != nil {
				return err
			}
			if data, err = cli.ReadInput(against); err != nil {
				return err
			}
			if encode.IsFabric(data) {
				return compareFabric(c, measured, against, data, fabricTopology, all, shared)
			}
			if err := cli.RefuseUnless(false, c, "only a topology.yaml has several", "topology"); err != nil {
				return err
			}
			reference, err := referenceOf(measured, against, data, c.ErrOrStderr())
			if err != nil {
				return err
			}
			r, err := comparison.Compare(measured, reference, tolerance)
			if err != nil {
				return cli.BadInput("%w", err)
			}
			found := networkComparison{r}
			return answer(show(c, shared, func(w io.Writer) { found.writeText(w, all) }, found.result()), found.status())
		},
	}
	f := c.Flags()
	f.Float64Var(&tolerance, "tolerance", 0, "share by which a link may differ; 0: from the spread of its level")
	cli.Want(f, "tolerance", "a share above 0, such as 0.2", func() bool { return tolerance >= 0 && !math.IsInf(tolerance, 0) })
	f.BoolVar(&all, "all", false, "print all links, not the worst only")
	f.StringVar(&fabricTopology, "topology", "", "the topology to read of a topology.yaml; default: that of the cluster")
	f.StringVar(&against, "against", "", "the reference: a network, a platform or graph file, or a file of a scheduler")
	return cli.PrintsJSON(c, "topocast/comparison")
}

// loadSide is the network of a file.
func loadSide(file string, names []string) (*comparison.Side, error) {
	n, err := cli.LoadNetwork(nil, file, names...)
	if err != nil {
		return nil, err
	}
	return newSide(file, n)
}

// sideOf is the network of a file. For stderr see cli.LoadNetwork. Names are those of the ranks of the other one, if they are known.
func sideOf(stderr io.Writer, file string, data []byte, names []string) (*comparison.Side, error) {
	n, err := cli.NetworkOf(stderr, file, data, names)
	if err != nil {
		return nil, err
	}
	return newSide(file, n)
}

func newSide(file string, n *model.Network) (*comparison.Side, error) {
	s, err := comparison.NewSide(file, n)
	if err != nil {
		return nil, cli.BadInput("%w", err)
	}
	return s, nil
}

// referenceOf is the network that a measured one is compared with. The measured one says what a file leaves open, such as which
// vertices are hosts. Where the file describes the inside of a host, the measured hosts become cores.
func referenceOf(s *comparison.Side, file string, data []byte, stderr io.Writer) (*comparison.Side, error) {
	if !encode.IsHwloc(data) {
		return sideOf(stderr, file, data, hostNames(s.Graph))
	}
	n, names, err := model.InsideNetwork(data, s.Network)
	if err == nil && len(s.Network.Hosts()) != 1 {
		fmt.Fprintf(stderr, "%s: the rows of %s are taken for %s to %s\n", file, s.Name, names[0], names[len(names)-1])
	}
	if err == nil {
		s.Graph, err = s.Graph.WithHostNames(names)
	}
	if err != nil {
		return nil, cli.BadInput("%s: %w", file, err)
	}
	return newSide(file, n)
}

// exitStatus is that of an outcome.
func exitStatus(o compare.Outcome) int {
	switch o {
	case compare.Differs:
		return cli.StatusDifferent
	case compare.Unknown:
		return cli.StatusUnknown
	}
	return cli.StatusFine
}

// A fabricComparison is a comparison with a scheduler's file as the command prints it.
type fabricComparison struct {
	*comparison.FabricComparison
	file string
}

// compareFabric is what the command does with a scheduler's file (encode.IsFabric). topology is the one to read of a
// topology.yaml, "" the default.
func compareFabric(c *cobra.Command, measured *comparison.Side, file string, data []byte, topology string, all bool, shared *cli.Flags) error {
	if err := cli.RefuseUnless(false, c, "the file of a scheduler has no latencies and rates", "tolerance"); err != nil {
		return err
	}
	f, err := encode.ReadFabric(data, &encode.FabricSettings{Topology: topology, Folder: filepath.Dir(file)})
	if err != nil {
		return cli.BadInput("%s: %w", file, err)
	}
	found, err := comparison.CompareFabric(measured, f)
	if err != nil {
		return cli.BadInput("%s: %w", file, err)
	}
	said := f.Warnings
	if found.Renamed != "" {
		said = append(slices.Clip(said), found.Renamed)
	}
	for _, text := range said {
		fmt.Fprintf(c.ErrOrStderr(), "%s: %s\n", file, text)
	}
	r := fabricComparison{found, file}
	return answer(show(c, shared, func(w io.Writer) { r.writeText(w, all) }, r.result()), r.status())
}

func (r fabricComparison) status() int { return exitStatus(r.Outcome) }

func (r fabricComparison) writeText(w io.Writer, all bool) {
	reference := fmt.Sprintf("%s, %s", r.file, words.Count(len(r.Hosts)+len(r.Missing), "host"))
	writeCompared(w, r.Measured, reference, len(r.Hosts), r.Missing, r.Extra)
	fmt.Fprintf(w, "switches that join hosts: %d as measured, %d not seen, %d measured and not in the file\n", len(r.Groups.Same), len(r.Groups.Missing), len(r.Groups.Extra))
	if all {
		for _, g := range r.Groups.Missing {
			fmt.Fprintf(w, "  not seen: %s\n", hostlist.Ranges(namesOf(r.Hosts, g)))
		}
		for _, g := range r.Groups.Extra {
			fmt.Fprintf(w, "  not in the file: %s\n", hostlist.Ranges(namesOf(r.Hosts, g)))
		}
	}
	switch r.status() {
	case cli.StatusFine:
		fmt.Fprintln(w, "\nnothing contradicts the file")
	case cli.StatusUnknown:
		fmt.Fprintln(w, "\ncannot tell: no switch of the file shows in the latencies")
	default:
		fmt.Fprintf(w, "\n%s\n", words.Count(len(r.Differences), "difference"))
	}
	writeFindings(w, r.Differences, all)
}

// result is the comparison for programs.
func (r fabricComparison) result() *results.FabricComparison {
	out := &results.FabricComparison{
		Status: r.status(), Hosts: len(r.Hosts), HostsMissing: list(r.Missing), HostsExtra: list(r.Extra),
		Groups:  groupsResult(r.Hosts, r.Groups),
		Crossed: []results.Crossing{}, Joined: append([][]string{}, r.Joined...), Differences: list(r.Differences),
	}
	for _, x := range r.Groups.Crossed {
		out.Crossed = append(out.Crossed, results.Crossing{Reference: namesOf(r.Hosts, x.Reference), Measured: namesOf(r.Hosts, x.Measured)})
	}
	return out
}
