package main

import (
	"fmt"
	"io"
	"math"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/topocast/topocast/internal/cli"
	"github.com/topocast/topocast/internal/quantity"
	"github.com/topocast/topocast/model"
	"github.com/topocast/topocast/topology"
	"github.com/topocast/topocast/topology/compare"
	"github.com/topocast/topocast/topology/encode"
)

func compareCommand(shared *cli.Flags) *cobra.Command {
	var tolerance float64
	var all bool
	var against string
	c := &cobra.Command{
		Use:   "compare NET --against REF",
		Short: "Name the links and hosts that differ from a reference",
		Long: `Compare holds a measured network (of topocast discover) against a reference:
one that was measured before, a platform file
{"graph":{"hosts":[..],"switches":[..],"links":[..]}}, or a specification in
DOT (names on vertices, Gbit/s on edges), TGF, GraphML, or as a platform of SimGrid; groups of LGate, too, and of one
host an XML of lstopo. Where the reference has groups alone they must be the same. Hosts are matched by
name; there may be any number of ranks on each, in any order, and hosts that one
side lacks are left out. Every link of the reference gets a verdict from its
latency and its bandwidth each way, against the reference's and the other links
of its level. What all links have in common, such as another MPI library, is
told once and counts for no link. Differences come worst first, by name.

REF may also be what the scheduler is told: a topology.conf or topology.yaml of
Slurm, or topograph's JSON. It has no latencies: its switches are held against the
measured confident groups. What cannot be true of both differs; a switch that the
latencies do not show is counted, no more.

Without --tolerance a link may be off by six times the spread of its level, and
by 10 % of a latency (30 % inside a host) or 15 % of a bandwidth at least.

Exit status: 0 nothing differs, 3 something does, 4 cannot tell.`,
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
			if !(tolerance >= 0) || math.IsInf(tolerance, 0) {
				return cli.BadInput("--tolerance %g: want a share above 0, such as 0.2", tolerance)
			}
			measured, err := loadSide(args[0], nil)
			if err != nil {
				if f, _ := loadFabric(args[0]); f != nil {
					return cli.BadInput("%s: the file of a scheduler is a reference: topocast compare NET --against %s", args[0], args[0])
				}
				return err
			}
			if f, err := loadFabric(against); err != nil || f != nil {
				if err == nil {
					err = printFabricComparison(c, measured, against, f, all, shared.JSON)
				}
				return err
			}
			reference, err := measured.loadReference(against)
			if err != nil {
				return err
			}
			r, err := compareNetworks(measured, reference, tolerance)
			if err != nil {
				return cli.BadInput("%w", err)
			}
			return printComparison(c, r, all, shared.JSON)
		},
	}
	f := c.Flags()
	f.Float64Var(&tolerance, "tolerance", 0, "share by which a link may differ; 0: from the spread of its level")
	f.BoolVar(&all, "all", false, "print all links, not the worst only")
	f.StringVar(&against, "against", "", "the reference: a network, a platform or graph file, or a file of a scheduler")
	return cli.PrintsJSON(c, "topocast/comparison")
}

// A compared is what compare found, be it in links or in groups.
type compared interface {
	writeJSON(w io.Writer) error
	writeText(w io.Writer, all bool) error
	status() int
}

// printComparison prints what was found; the error tells the exit status, unless that is 0.
func printComparison(c *cobra.Command, r compared, all, asJSON bool) error {
	var err error
	if asJSON {
		err = r.writeJSON(c.OutOrStdout())
	} else {
		err = r.writeText(c.OutOrStdout(), all)
	}
	if status := r.status(); err == nil && status != cli.StatusFine {
		return cli.Answer(status)
	}
	return err
}

// A side is one of the two networks of a comparison.
type side struct {
	file    string
	network *model.Network
	graph   *topology.Graph // with the names of the hosts
}

// loadSide reads a network. Names are those of the ranks of the other one, if they are known.
func loadSide(file string, names []string) (side, error) {
	n, err := cli.LoadNetworkOf(file, names)
	if err != nil {
		return side{}, err
	}
	return newSide(file, n)
}

func newSide(file string, n *model.Network) (side, error) {
	g, err := n.ReportedGraph()
	if err == nil {
		g, err = n.NameHosts(g)
	}
	if err != nil {
		return side{}, cli.BadInput("%w", err)
	}
	return side{file, n, g}, nil
}

// loadReference reads what a measured network is held against. What a file leaves open, such as which vertices are
// hosts, the measured one tells; where it is of the inside of a host the measured hosts become cores.
func (s *side) loadReference(file string) (side, error) {
	data, err := cli.ReadInput(file)
	if err != nil {
		return side{}, err
	}
	if !encode.IsHwloc(data) {
		n, err := cli.NetworkOf(file, data, hostNames(s.graph))
		if err != nil {
			return side{}, err
		}
		return newSide(file, n)
	}
	n, names, err := model.InsideNetwork(data, s.network)
	if err == nil {
		s.graph, err = s.graph.WithHostNames(names)
	}
	if err != nil {
		return side{}, cli.BadInput("%s: %w", file, err)
	}
	return newSide(file, n)
}

// A comparison is what the command prints.
type comparison struct {
	measured, reference side
	result              *compare.LinkComparison
	groups              *compare.GroupComparison // of hosts by their index into result.Hosts; nil if a side has none
}

func compareNetworks(measured, reference side, tolerance float64) (*comparison, error) {
	settings := compare.LinkSettings{Tolerance: tolerance}
	for _, x := range []side{measured, reference} {
		if noise := x.network.ReconstructionFit().Noise; noise > 0 && !math.IsInf(noise, 0) {
			settings.Noise = math.Hypot(settings.Noise, noise)
		}
	}
	r := &comparison{measured: measured, reference: reference}
	var err error
	if r.result, err = compare.Links(measured.graph, reference.graph, &settings); err != nil {
		return nil, err
	}
	if r.groupsOnly() { // which do not say how the groups are wired to each other
		r.result.Findings = slices.DeleteFunc(r.result.Findings, func(f compare.Finding) bool { return f.Kind == compare.FoundMisfit })
	}
	m, err := measured.groups(r.result.Hosts)
	if err != nil {
		return nil, err
	}
	ref, err := reference.groups(r.result.Hosts)
	if err != nil {
		return nil, err
	}
	if r.groupsCount() || len(m.Levels()) > 0 && len(ref.Levels()) > 0 {
		r.groups, err = compare.Groups(m, ref)
	}
	return r, err
}

// groups are the firm groups of the hosts of the given names: a host is in a
// group if more than half of its ranks are.
func (s side) groups(hosts []string) (*topology.Hierarchy, error) {
	index := make(map[string]int, len(hosts))
	for i, name := range hosts {
		index[name] = i
	}
	node := make([]int, s.graph.Hosts())
	for v := range node {
		i, ok := index[s.graph.Name(v)]
		if !ok {
			i = -1
		}
		node[v] = i
	}
	return s.network.Hierarchy().Contract(node, len(hosts)) // of firm groups
}

// status is the exit status: whether something differs.
func (r *comparison) status() int {
	switch {
	case len(r.result.Findings) > 0, r.groupsCount() && len(r.groups.Missing)+len(r.groups.Extra) > 0:
		return cli.StatusDifferent
	case r.groupsOnly():
		return cli.StatusFine
	case r.result.Judged == 0:
		return cli.StatusUnknown
	}
	return cli.StatusFine
}

// groupsOnly tells whether the reference says groups and of no link anything.
func (r *comparison) groupsOnly() bool {
	known := func(a topology.Arc) bool { return !math.IsNaN(a.Latency) || !math.IsNaN(a.Bandwidth) }
	return len(r.reference.network.Hierarchy().Levels()) > 0 && !slices.ContainsFunc(r.reference.graph.Arcs(), known)
}

// groupsCount tells whether groups that one side has alone are a difference: where the reference has nothing else, or
// one switch for all hosts, whose links may fit most pairs of many racks.
func (r *comparison) groupsCount() bool {
	g := r.reference.graph
	oneSwitch := g.Hosts() > 0
	for h := range g.Hosts() {
		out := g.Out(h)
		oneSwitch = oneSwitch && len(out) == 1 && g.IsSwitch(out[0].To) && out[0].To == g.Out(0)[0].To
	}
	return r.groupsOnly() || oneSwitch
}

// linkName names a link by what hangs on it.
func (r *comparison) linkName(l *compare.LinkState) string {
	g := r.reference.graph
	isHost := func(v int) bool { return v >= 0 && v < g.Hosts() }
	switch {
	case l.U == l.V && l.U >= 0:
		return "inside of " + hostRanges(l.Below)
	case isHost(l.U) && isHost(l.V):
		return fmt.Sprintf("link %s - %s", g.Name(l.U), g.Name(l.V))
	case len(l.Below) == 1:
		return "link of " + l.Below[0]
	case l.Below != nil:
		return "uplink of " + hostRanges(l.Below)
	}
	return fmt.Sprintf("link %s - %s", r.endName(l.U, l.Ends[0]), r.endName(l.V, l.Ends[1]))
}

// endName names a switch by its hosts, or by its own name if it has none.
func (r *comparison) endName(v int, hosts []string) string {
	if len(hosts) == 0 {
		return r.reference.graph.Name(v)
	}
	return hostRanges(hosts)
}

// findingName names what a finding is about.
func (r *comparison) findingName(f *compare.Finding) string {
	switch {
	case f.Link >= 0:
		return r.linkName(&r.result.Links[f.Link])
	case f.Class >= 0:
		return "all " + r.result.Classes[f.Class].Name
	case f.Kind == compare.FoundExtra:
		return fmt.Sprintf("link %s - %s", f.Hosts[0], f.Hosts[1])
	case len(f.Hosts) > 0:
		return "host " + f.Hosts[0]
	}
	return "the wiring"
}

// reason says what is the matter, in words.
func (r *comparison) reason(f *compare.Finding) string {
	switch f.Kind {
	case compare.FoundMissing:
		return "nothing takes it: it is cut, or slower than the way around it"
	case compare.FoundMoved:
		text := "its latencies are those of a host on the switch of " + hostRanges(f.To)
		if len(f.From) > 0 {
			text += ", not of " + hostRanges(f.From)
		}
		return text + fmt.Sprintf("; its own place explains them %.3g times as badly", f.Times)
	case compare.FoundOdd:
		return fmt.Sprintf("no place explains its latencies: they are %.3g times as far off as usual", f.Times)
	case compare.FoundExtra:
		return fmt.Sprintf("the reference does not have it; without it the way would be %.3g times as long", f.Times)
	case compare.FoundClass:
		what := "latency"
		if f.Rates {
			what = "bandwidth"
		}
		return fmt.Sprintf("%s %s as all others have become, or as in the reference", what, timesAs(f.Times, f.Unseen))
	case compare.FoundMisfit:
		return fmt.Sprintf("the reference's links do not explain the latencies, of which a quarter is off by %.0f %% or more: it is wired otherwise", 100*math.Expm1(f.Times))
	}
	if f.Link < 0 {
		return fmt.Sprintf("all its links are slow, the middle one %.3g times", f.Times)
	}
	return r.linkReason(&r.result.Links[f.Link])
}

// timesAs says how many times as slow something is, or as fast; at least so many times as fast where the
// latency is too short to be seen.
func timesAs(slower float64, unseen bool) string {
	switch {
	case slower > 1:
		return fmt.Sprintf("%.3g times as slow", slower)
	case unseen:
		return fmt.Sprintf("at least %.3g times as fast", 1/slower)
	}
	return fmt.Sprintf("%.3g times as fast", 1/slower)
}

// linkReason says which of a link's quantities are off, and by how much.
func (r *comparison) linkReason(l *compare.LinkState) string {
	var parts []string
	add := func(q compare.Quantity, what string, show func(float64) string) {
		if q.Verdict != compare.LinkSlow && q.Verdict != compare.LinkFast {
			return
		}
		text := fmt.Sprintf("%s %s, ", what, show(q.Measured))
		if q.Unseen {
			text = what + " too short to be seen, "
		}
		text += timesAs(q.Slower, q.Unseen)
		if !math.IsNaN(q.Reference) {
			text += " as the reference's " + show(q.Reference)
		} else {
			text += " as others of its level"
		}
		parts = append(parts, text)
	}
	add(l.Latency, "latency", quantity.Seconds)
	there, back := l.Bandwidth[0], l.Bandwidth[1]
	if there.Verdict == back.Verdict {
		worse := there
		if back.Slower > there.Slower == (there.Verdict == compare.LinkSlow) {
			worse = back
		}
		add(worse, "bandwidth", quantity.Rate)
	} else {
		add(there, "bandwidth towards "+r.farEnd(l), quantity.Rate)
		add(back, "bandwidth from "+r.farEnd(l), quantity.Rate)
	}
	return strings.Join(parts, "; ")
}

// farEnd names what is at the V of a link.
func (r *comparison) farEnd(l *compare.LinkState) string {
	if l.Below != nil {
		return hostRanges(l.Below)
	}
	return r.endName(l.V, l.Ends[1])
}
