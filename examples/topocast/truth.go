package main

import (
	"fmt"
	"io"
	"slices"

	"github.com/topocast/topocast/internal/cli"
	"github.com/topocast/topocast/internal/columns"
	"github.com/topocast/topocast/internal/truth"
	"github.com/topocast/topocast/internal/words"
	"github.com/topocast/topocast/topology"
	"github.com/topocast/topocast/topology/cluster"
	"github.com/topocast/topocast/topology/encode"
)

// metadata stands for a file of --truth: what the measurements themselves say of the ranks.
const metadata = "metadata"

// truthLevels are known groups of the ranks, from coarse to fine.
type truthLevels struct {
	levels []truth.Level
	groups [][]int  // of all levels, of two ranks or more and not of all
	notes  []string // what is not known
}

// readTruth reads the groups that there are from a file, or from the metadata of the measurements.
func (l *latencies) readTruth(path string) (*truthLevels, error) {
	if path == metadata {
		if l.job == nil {
			return nil, cli.BadInput("--truth %s: a plain matrix has none: want a file of groups", metadata)
		}
		return truthOf(truth.OfHosts(l.job), truth.OfNUMA(l.job)), nil
	}
	data, err := cli.ReadInput(path)
	if err != nil {
		return nil, cli.BadInput("--truth: %w", err)
	}
	if encode.IsHwloc(data) {
		if l.job == nil {
			return nil, cli.BadInput("--truth: %s: is of the cores of a host, and nobody knows those of a plain matrix", path)
		}
		socket, err := truth.OfHwloc(data, l.job)
		if err != nil {
			return nil, cli.BadInput("--truth: %s: %w", path, err)
		}
		return truthOf(truth.OfHosts(l.job), socket), nil
	}
	n, err := cli.NetworkOf(nil, path, data, l.hostNames())
	if err != nil {
		return nil, cli.BadInput("--truth: %w", err)
	}
	ranks, _ := l.matrices[0].Dims()
	if n.Ranks() != ranks {
		return nil, cli.BadInput("--truth: %s: is of %s, and the measurements of %d", path, words.Count(n.Ranks(), "rank"), ranks)
	}
	t := truthOf(truth.OfHierarchy(n.Reconstruction().Hierarchy))
	if len(t.levels) == 0 {
		return nil, cli.BadInput("--truth: %s: holds no groups", path)
	}
	return t, nil
}

// truthOf puts levels together, those without ranks left out.
func truthOf(parts ...[]truth.Level) *truthLevels {
	var t truthLevels
	for _, l := range slices.Concat(parts...) {
		t.levels = append(t.levels, l)
		for _, g := range l.Labels.Groups() {
			if len(g) > 1 && len(g) < len(l.Labels) {
				t.groups = append(t.groups, g)
			}
		}
	}
	if !slices.ContainsFunc(t.levels, func(l truth.Level) bool { return l.Name == truth.Socket }) &&
		slices.ContainsFunc(t.levels, func(l truth.Level) bool { return l.Name == truth.Node }) {
		t.notes = append(t.notes, "sockets are not known: --truth with XML of lstopo tells them")
	}
	return &t
}

// print holds the groups that were found against those that there are: of nested groups, for each level the cut
// that fits it best. Of a searched method it prints the best over its parameter, too. Methods that take the number
// of groups get the true one for that.
func (t *truthLevels) print(w io.Writer, l *latencies, found *topology.Hierarchy, by *searched) error {
	if t == nil {
		return nil
	}
	fmt.Fprintln(w, "\nshare of the ranks in the right group (Reinfjell 2023, eq. 3.7 to 3.9)")
	cuts := truth.Cuts(found)
	names := []string{"level", "groups", "found", "share", "adjusted Rand"}
	if by != nil {
		names = append(names, "best (3.10)", "at --"+by.family.Parameter)
	}
	tab := columns.New(w, names...)
	for _, level := range t.levels {
		best, share := truth.Best(cuts, func(c cluster.Labels) float64 { return truth.Matching(c, level.Labels) })
		row := []any{level.Name, level.Labels.Clusters(), best.Clusters(), fmt.Sprintf("%.3f", share), fmt.Sprintf("%.3f", cluster.AdjustedRand(best, level.Labels))}
		if by != nil {
			d, _, err := cluster.Combine(l.matrices...)
			if err != nil {
				return err
			}
			most, err := truth.Accuracy(&by.family, d, level.Labels)
			if err != nil {
				return err
			}
			row = append(row, fmt.Sprintf("%.3f", most.Score), fmt.Sprintf("%.4g", most.Value))
		}
		tab.Row(row...)
	}
	tab.Flush()
	var groups [][]int
	for _, g := range found.Groups()[1:] {
		groups = append(groups, g.Hosts)
	}
	fmt.Fprintf(w, "groups that are found exactly: F1 %.3f of %d found and %d true\n", truth.SetF1(groups, t.groups), len(groups), len(t.groups))
	for _, note := range t.notes {
		fmt.Fprintln(w, words.Fill("note: "+note, cli.HelpWidth))
	}
	return nil
}
