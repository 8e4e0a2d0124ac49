package main

import (
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"github.com/topocast/topocast/internal/cli"
	"github.com/topocast/topocast/model/results"
	"github.com/topocast/topocast/mpi"
	"github.com/topocast/topocast/topology"
)

// show prints what a command has found: as text, or as the result that is its JSON.
func show[R results.Result](c *cobra.Command, shared *cli.Flags, text func(io.Writer), result *R) error {
	return shared.Print(c,
		func(w io.Writer) error {
			text(w)
			return nil
		},
		func(w io.Writer) error { return results.Write(w, result) })
}

// answer is the exit status of what was found and printed.
func answer(printed error, status int) error {
	if printed != nil || status == cli.StatusFine {
		return printed
	}
	return cli.Answer(status)
}

// writeWarnings writes warnings, a line each. about says what they are of, "" if they say it themselves.
func writeWarnings(w io.Writer, about string, warnings []string) {
	for _, warning := range warnings {
		fmt.Fprintf(w, "warning: %s%s\n", about, warning)
	}
}

// onRankZero lets rank 0 work for all ranks, whose error is then an error of all. It is collective.
func onRankZero(comm mpi.Communicator, what string, work func() error) error {
	var err error
	if comm.Rank() == 0 {
		err = work()
	}
	return cli.Agree(comm, what, err)
}

// A link is the indices of an arc and of the one back; -1: there is none.
type link struct{ there, back int }

// linksOf are the links of a graph, in the order of their first arcs.
func linksOf(g *topology.Graph) (links []link) {
	for i, a := range g.Arcs() {
		if back := g.ArcIndex(a.To, a.From); back < 0 || a.From < a.To {
			links = append(links, link{i, back})
		}
	}
	return links
}
