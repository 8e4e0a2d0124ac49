package main

import (
	"errors"
	"fmt"
	"io"
	"math"

	"github.com/spf13/cobra"

	"github.com/topocast/topocast/internal/cli"
	"github.com/topocast/topocast/internal/columns"
	"github.com/topocast/topocast/internal/hostlist"
	"github.com/topocast/topocast/internal/quantity"
	"github.com/topocast/topocast/internal/words"
	"github.com/topocast/topocast/model"
	"github.com/topocast/topocast/model/results"
	"github.com/topocast/topocast/topology"
	"github.com/topocast/topocast/topology/cut"
)

// Bounds of what is printed of large machines.
const (
	maxCutLinks    = 10
	maxCutSwitches = 40

	// maxSearches bounds the searches for shortest paths from each host that the sides of all
	// switches take where there are several ways: some seconds.
	maxSearches = 30_000
)

func bisectCommand(shared *cli.Flags) *cobra.Command {
	var at string
	c := &cobra.Command{
		Use:   "bisect NET",
		Short: "Find the bisection bandwidth, and the sides of switches",
		Long: `Bisect finds the two halves of a network's ranks between which the least bandwidth runs: the
bisection bandwidth, what one half can say to the other at worst (Bufe 2014, section 1.4). It is exact
on trees and where 24 switches and hosts at most remain without those at the ends; of others it is the best that a
search finds. Where a bandwidth is not known it cannot tell.

For each switch, or for that of --switch, it puts ranks on two sides, as equal in number as can be,
between which all messages pass the switch: those to load it with, to see how much it carries
(section 2.3.4).

` + wantNetworkFile("NET") + `
Groups with a confidence below 0.9 do not count.

Exit status: 4 where bandwidths are not known.`,
		Example: `  topocast network bisect network.json
  topocast network bisect --switch s3 network.json`,
		Args: cli.Args(0, wantNetwork),
		RunE: cli.OnNetwork(func(c *cobra.Command, n *model.Network, args []string) error {
			g, err := n.NameHosts(n.Graph())
			if err != nil {
				return cli.BadInput("%s: %w", args[0], err)
			}
			r := &halving{graph: g, names: vertexNames(g)}
			if at == "" {
				r.bisect()
				if searches := g.Hosts() * (g.Vertices() - g.Hosts()); g.IsForest() || searches <= maxSearches {
					err = r.sides()
				} else {
					r.skipped = true
				}
			} else {
				var s int
				if s, err = numberOf("switch", r.names[g.Hosts():], g.Hosts(), at, c.ErrOrStderr()); err != nil {
					err = fmt.Errorf("--switch: %w", err)
				} else {
					err = r.side(s)
				}
			}
			if err != nil {
				return cli.BadInput("%w", err)
			}
			err = shared.Print(c, r.writeText, r.writeJSON)
			if err == nil && r.unknown != nil {
				return cli.Answer(cli.StatusUnknown)
			}
			return err
		}),
	}
	f := c.Flags()
	f.StringVar(&at, "switch", "", "only the sides of this switch, by its name or number")
	return cli.PrintsJSON(c, "topocast/cut")
}

// A halving is what the command prints.
type halving struct {
	graph   *topology.Graph
	names   []string    // of vertices
	halves  *cut.Halves // nil: not asked for, or unknown
	unknown error       // why the halves could not be told
	skipped bool        // the sides of switches would take long

	switches []sides
}

// sides are the ranks on two sides of a switch.
type sides struct {
	vertex      int
	left, right []int
}

func (r *halving) bisect() {
	if r.graph.Hosts() < 2 {
		r.unknown = errors.New("a single rank has no halves")
		return
	}
	if unknown := unknownRates(r.graph); unknown > 0 {
		r.unknown = fmt.Errorf("the bandwidths of %d of %d directions of links are not known", unknown, r.graph.NumArcs())
		return
	}
	r.halves, r.unknown = cut.Bisect(r.graph)
}

// sides finds those of all switches.
func (r *halving) sides() error {
	for s := r.graph.Hosts(); s < r.graph.Vertices(); s++ {
		if err := r.side(s); err != nil {
			return err
		}
	}
	return nil
}

func (r *halving) side(s int) error {
	left, right, err := cut.AtSwitch(r.graph, s)
	r.switches = append(r.switches, sides{s, left, right})
	return err
}

// cutLinks are the links between the halves, by their vertices.
func (r *halving) cutLinks() []results.CutLink {
	links := []results.CutLink{}
	arcs := r.graph.Arcs()
	for _, a := range arcs {
		back := r.graph.ArcIndex(a.To, a.From)
		if r.halves.Side[a.From] == r.halves.Side[a.To] || back >= 0 && a.To < a.From {
			continue
		}
		l := results.CutLink{Ends: [2]string{r.names[a.From], r.names[a.To]}, Bandwidth: [2]float64{a.Bandwidth, 0}, Estimated: a.Estimated}
		if back >= 0 {
			l.Bandwidth[1], l.Estimated = arcs[back].Bandwidth, a.Estimated || arcs[back].Estimated
		}
		links = append(links, l)
	}
	return links
}

// ranks are those on one side, false or true.
func (r *halving) ranks(side bool) []int {
	found := []int{}
	for v := range r.graph.Hosts() {
		if r.halves.Side[v] == side {
			found = append(found, v)
		}
	}
	return found
}

// ownLinks is what all links of the ranks of the smaller half carry together: the most that it could send.
func (r *halving) ownLinks() float64 {
	most := math.Inf(1)
	for _, side := range []bool{false, true} {
		sum := 0.0
		for _, v := range r.ranks(side) {
			for _, a := range r.graph.Out(v) {
				sum += a.Bandwidth
			}
		}
		most = min(most, sum)
	}
	return most
}

func (r *halving) named(ranks []int) string {
	if len(ranks) == 0 {
		return "none: messages have ways around it"
	}
	var names []string
	for _, v := range ranks {
		names = append(names, r.names[v])
	}
	return hostlist.Ranges(names)
}

func (r *halving) writeText(w io.Writer) error {
	g := r.graph
	fmt.Fprintf(w, "%s, %s, %s\n", words.Count(g.Hosts(), "rank"), words.Count(g.Vertices()-g.Hosts(), "switch"), words.Count(g.NumArcs()/2, "link"))
	switch h := r.halves; {
	case r.unknown != nil:
		fmt.Fprintf(w, "\ncannot tell the bisection: %v\n", r.unknown)
		if g.Hosts() > 1 {
			fmt.Fprintln(w, "(topocast measure NET --what throughput --update NET measures them, in a job)")
		}
	case h != nil:
		r.writeHalves(w)
	}
	if r.skipped {
		fmt.Fprintf(w, "\nthe sides of %d switches would take long: --switch tells those of one\n", g.Vertices()-g.Hosts())
	}
	if len(r.switches) == 1 {
		s := r.switches[0]
		fmt.Fprintf(w, "\nswitch %s, %d and %d ranks between which all messages pass it\n  one side:  %s\n  the other: %s\n",
			r.names[s.vertex], len(s.left), len(s.right), r.named(s.left), r.named(s.right))
	} else if len(r.switches) > 1 {
		fmt.Fprintln(w)
		t := columns.New(w, "sides of", "ranks", "one side")
		for _, s := range r.switches {
			t.Row(r.names[s.vertex], fmt.Sprintf("%d + %d", len(s.left), len(s.right)), r.named(s.left))
		}
		t.FlushFirst(maxCutSwitches)
	}
	return nil
}

func (r *halving) writeHalves(w io.Writer) {
	h := r.halves
	how := "no halves have less"
	if !h.Exact {
		how = "the least that was found"
	}
	one, other := r.ranks(true), r.ranks(false)
	fmt.Fprintf(w, "\nbisection of %d and %d ranks: %s each way (%s)\n", len(one), len(other), quantity.Rate(h.Bandwidth), how)
	if most := r.ownLinks(); most > 0 {
		fmt.Fprintf(w, "that is %s of what the links of one half's ranks carry\n", quantity.Percent(h.Bandwidth/most))
	}
	fmt.Fprintf(w, "  one half:  %s\n  the other: %s\n\n", r.named(one), r.named(other))
	links, estimated := r.cutLinks(), 0
	t := columns.New(w, "link between them", "bandwidth", "back")
	for _, l := range links {
		if l.Estimated {
			estimated++
		}
		t.Row(l.Ends[0]+" - "+l.Ends[1], quantity.Rate(l.Bandwidth[0]), quantity.Rate(l.Bandwidth[1]))
	}
	t.FlushFirst(maxCutLinks)
	if estimated > 0 {
		fmt.Fprintf(w, "of %s the bandwidth was not measured, but is typical of the level\n", words.Count(estimated, "link"))
	}
}

// writeJSON writes all for programs.
func (r *halving) writeJSON(w io.Writer) error {
	out := results.Cut{Names: r.names[:r.graph.Hosts()], Switches: []results.AtSwitch{}}
	if h := r.halves; h != nil {
		out.Bisection = &results.Bisection{
			Bandwidth: h.Bandwidth, OwnLinks: r.ownLinks(), Exact: h.Exact, Halves: [2][]int{r.ranks(true), r.ranks(false)}, Links: r.cutLinks(),
		}
	}
	if r.unknown != nil {
		out.Unknown = r.unknown.Error()
	}
	for _, s := range r.switches {
		ranks := [2][]int{append([]int{}, s.left...), append([]int{}, s.right...)} // never null
		out.Switches = append(out.Switches, results.AtSwitch{Name: r.names[s.vertex], Vertex: s.vertex, Sides: ranks})
	}
	return results.Write(w, &out)
}
