package main

import (
	"fmt"
	"io"
	"math"
	"slices"
	"strings"

	"github.com/topocast/topocast/internal/cli"
	"github.com/topocast/topocast/internal/columns"
	"github.com/topocast/topocast/internal/words"
	"github.com/topocast/topocast/model"
	"github.com/topocast/topocast/topology"
	"github.com/topocast/topocast/topology/draw"
)

// ranksOf says where the ranks of a network run, for its picture.
func ranksOf(n *model.Network) *draw.TextSettings {
	s := &draw.TextSettings{Noun: "rank"}
	if n.Hosts() == nil {
		return s
	}
	for r := range n.Ranks() {
		at := n.Location(r)
		s.Places = append(s.Places, draw.Place{Host: at.Host, Core: at.Core})
	}
	return s
}

// printNetwork writes what a network holds of the wiring, as printResult does.
func printNetwork(w io.Writer, n *model.Network, s *draw.TextSettings) error {
	err := printResult(w, &topology.Result{
		Graph: n.Graph(), Hierarchy: n.ReportedHierarchy(), Fit: n.ReconstructionFit(), Warnings: n.Warnings(),
	}, s)
	tellResources(w, n.Settings().Resources)
	return err
}

// tellResources writes which ranks share which caches and paths to memory, if that was measured.
func tellResources(w io.Writer, all []model.Resource) {
	for _, r := range all {
		if !r.Told {
			fmt.Fprintln(w, r)
		}
	}
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
	if err := t.Flush(); err != nil {
		return err
	}

	fmt.Fprintln(w)
	if err := draw.Text(w, r.Graph, h, s); err != nil {
		return err
	}
	for _, warning := range r.Warnings {
		fmt.Fprintln(w, words.Fill("warning: "+warning, cli.HelpWidth))
	}
	return nil
}

func fraction(x float64) string {
	if math.IsNaN(x) {
		return "-"
	}
	return fmt.Sprintf("%.2f", x)
}
