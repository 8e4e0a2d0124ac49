package main

import (
	"fmt"
	"io"

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
			r.Cut = results.Cut{Names: r.names[:g.Hosts()], Switches: []results.AtSwitch{}}
			first, end := g.Hosts(), g.Vertices() // of the switches whose sides are printed
			if at != "" {
				if first, err = numberOf("switch", r.names[first:], first, at, c.ErrOrStderr()); err != nil {
					return cli.BadInput("--switch: %w", err)
				}
				end = first + 1
			} else {
				r.bisect()
				if r.skipped = !g.IsForest() && g.Hosts()*(end-first) > maxSearches; r.skipped {
					end = first
				}
			}
			for s := first; s < end; s++ {
				left, right, err := cut.AtSwitch(g, s)
				if err != nil {
					return cli.BadInput("%w", err)
				}
				sides := [2][]int{append([]int{}, left...), append([]int{}, right...)} // never null
				r.Switches = append(r.Switches, results.AtSwitch{Name: r.names[s], Vertex: s, Sides: sides})
			}
			status := cli.StatusFine
			if r.Unknown != "" {
				status = cli.StatusUnknown
			}
			return answer(show(c, shared, r.writeText, &r.Cut), status)
		}),
	}
	f := c.Flags()
	f.StringVar(&at, "switch", "", "only the sides of this switch, by its name or number")
	return cli.PrintsJSON(c, "topocast/cut")
}

// A halving is what the command prints.
type halving struct {
	results.Cut
	graph   *topology.Graph
	names   []string // of vertices
	skipped bool     // the sides of switches would take long
}

// bisect finds the halves, or why there are none.
func (r *halving) bisect() {
	g := r.graph
	if g.Hosts() < 2 {
		r.Unknown = "a single rank has no halves"
		return
	}
	if unknown := unknownRates(g); unknown > 0 {
		r.Unknown = fmt.Sprintf("the bandwidths of %d of %d directions of links are not known", unknown, g.NumArcs())
		return
	}
	h, err := cut.Bisect(g)
	if err != nil {
		r.Unknown = err.Error()
		return
	}
	halves, own := [2][]int{{}, {}}, [2]float64{} // what the links of each half's ranks carry together
	for v := range g.Hosts() {
		half := 1
		if h.Side[v] {
			half = 0
		}
		halves[half] = append(halves[half], v)
		for _, a := range g.Out(v) {
			own[half] += a.Bandwidth
		}
	}
	// The smaller half could send no more than its links carry.
	r.Bisection = &results.Bisection{Bandwidth: h.Bandwidth, OwnLinks: min(own[0], own[1]), Exact: h.Exact, Halves: halves, Links: r.cutLinks(h.Side)}
}

// cutLinks are the links between the sides, by their vertices.
func (r *halving) cutLinks(side []bool) []results.CutLink {
	links := []results.CutLink{}
	arcs := r.graph.Arcs()
	for _, x := range linksOf(r.graph) {
		a := arcs[x.there]
		if side[a.From] == side[a.To] {
			continue
		}
		l := results.CutLink{Ends: [2]string{r.names[a.From], r.names[a.To]}, Bandwidth: [2]float64{a.Bandwidth, 0}, Estimated: a.Estimated}
		if x.back >= 0 {
			l.Bandwidth[1], l.Estimated = arcs[x.back].Bandwidth, a.Estimated || arcs[x.back].Estimated
		}
		links = append(links, l)
	}
	return links
}

func (r *halving) named(ranks []int) string {
	if len(ranks) == 0 {
		return "none: messages have ways around it"
	}
	return hostlist.Ranges(namesOf(r.names, ranks))
}

func (r *halving) writeText(w io.Writer) {
	g := r.graph
	fmt.Fprintf(w, "%s, %s, %s\n", words.Count(g.Hosts(), "rank"), words.Count(g.Vertices()-g.Hosts(), "switch"), words.Count(g.NumArcs()/2, "link"))
	if r.Unknown != "" {
		fmt.Fprintf(w, "\ncannot tell the bisection: %s\n", r.Unknown)
		if g.Hosts() > 1 {
			fmt.Fprintln(w, "(topocast measure NET --what throughput --update NET measures them, in a job)")
		}
	} else if r.Bisection != nil {
		r.writeHalves(w)
	}
	if r.skipped {
		fmt.Fprintf(w, "\nthe sides of %d switches would take long: --switch tells those of one\n", g.Vertices()-g.Hosts())
	}
	if len(r.Switches) == 1 {
		s := r.Switches[0]
		fmt.Fprintf(w, "\nswitch %s, %d and %d ranks between which all messages pass it\n  one side:  %s\n  the other: %s\n",
			s.Name, len(s.Sides[0]), len(s.Sides[1]), r.named(s.Sides[0]), r.named(s.Sides[1]))
	} else if len(r.Switches) > 1 {
		fmt.Fprintln(w)
		t := columns.New(w, "sides of", "ranks", "one side")
		for _, s := range r.Switches {
			t.Row(s.Name, fmt.Sprintf("%d + %d", len(s.Sides[0]), len(s.Sides[1])), r.named(s.Sides[0]))
		}
		t.FlushFirst(maxCutSwitches)
	}
}

func (r *halving) writeHalves(w io.Writer) {
	h := r.Bisection
	how := "no halves have less"
	if !h.Exact {
		how = "the least that was found"
	}
	one, other := h.Halves[0], h.Halves[1]
	fmt.Fprintf(w, "\nbisection of %d and %d ranks: %s each way (%s)\n", len(one), len(other), quantity.Rate(h.Bandwidth), how)
	if most := h.OwnLinks; most > 0 {
		fmt.Fprintf(w, "that is %s of what the links of one half's ranks carry\n", quantity.Percent(h.Bandwidth/most))
	}
	fmt.Fprintf(w, "  one half:  %s\n  the other: %s\n\n", r.named(one), r.named(other))
	t := columns.New(w, "link between them", "bandwidth", "back")
	for _, l := range h.Links {
		t.Row(l.Ends[0]+" - "+l.Ends[1], quantity.Rate(l.Bandwidth[0]), quantity.Rate(l.Bandwidth[1]))
	}
	t.FlushFirst(maxCutLinks)
	if estimated := count(h.Links, func(l results.CutLink) bool { return l.Estimated }); estimated > 0 {
		fmt.Fprintf(w, "of %s the bandwidth was not measured, but is typical of the level\n", words.Count(estimated, "link"))
	}
}
