package main

import (
	"fmt"
	"io"
	"path/filepath"
	"slices"

	"github.com/spf13/cobra"

	"github.com/topocast/topocast/internal/cli"
	"github.com/topocast/topocast/internal/hostlist"
	"github.com/topocast/topocast/internal/words"
	"github.com/topocast/topocast/model/comparison"
	"github.com/topocast/topocast/model/results"
	"github.com/topocast/topocast/topology/encode"
)

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
