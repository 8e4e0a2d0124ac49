package main

import (
	"fmt"
	"io"
	"math"
	"strings"

	"github.com/topocast/topocast/internal/cli"
	"github.com/topocast/topocast/internal/columns"
	"github.com/topocast/topocast/internal/hostlist"
	"github.com/topocast/topocast/internal/jsonfile"
	"github.com/topocast/topocast/internal/words"
	"github.com/topocast/topocast/model/comparison"
	"github.com/topocast/topocast/model/results"
	"github.com/topocast/topocast/topology/compare"
)

// Bounds of what is printed.
const (
	maxFindings = 20
	maxLinks    = 10
)

// A networkComparison is a comparison of networks as the command prints it.
type networkComparison struct{ *comparison.Comparison }

func (r networkComparison) status() int { return exitStatus(r.Links.Outcome) }

// writeText writes what differs, the worst first, and the links' figures.
func (r networkComparison) writeText(w io.Writer, all bool) {
	c := r.Links
	writeCompared(w, r.Measured, r.Reference.Describe(), len(c.Hosts), c.Missing, c.Extra)
	if !math.IsNaN(c.Similarity) {
		fmt.Fprintf(w, "similarity %.1f %% (hosts are wired to each other)\n", c.Similarity)
	}
	if g := c.Groups; g != nil {
		fmt.Fprintf(w, "confident groups: %d the same, %d missing, %d extra\n", len(g.Same), len(g.Missing), len(g.Extra))
	}
	r.writeClasses(w)

	switch r.status() {
	case cli.StatusUnknown:
		which := "no link"
		if c.Judged > 0 {
			which = "none of " + words.List(c.Unjudged)
		}
		fmt.Fprintf(w, "\ncannot tell: %s was measured on both sides and can be judged\n", which)
	case cli.StatusDifferent:
		fmt.Fprintf(w, "\n%s, the worst first\n", words.Count(len(c.Findings), "difference"))
	}
	if c.Unknown != "" {
		fmt.Fprintf(w, "latencies between hosts: %s\n", c.Unknown)
	}
	writeFindings(w, each(c.Findings, func(f compare.Finding) string { return f.What + ": " + f.Reason }), all)
	writeWarnings(w, "", c.Warnings)
	r.writeLinks(w, all)
	if r.status() == cli.StatusFine {
		fmt.Fprintln(w, "\nnothing differs")
	}
}

// writeFindings writes what differs, a line each, without all the first ones.
func writeFindings(w io.Writer, lines []string, all bool) {
	for i, line := range lines {
		if i == maxFindings && !all {
			fmt.Fprintf(w, "  and %d more (--all)\n", len(lines)-i)
			break
		}
		fmt.Fprintf(w, "  %s\n", line)
	}
}

// writeCompared says what is compared: both sides, and the hosts that are on both and on one.
func writeCompared(w io.Writer, measured *comparison.Side, reference string, both int, missing, extra []string) {
	fmt.Fprintf(w, "measured:  %s\nreference: %s\n%s in both", measured.Describe(), reference, words.Count(both, "host"))
	if len(missing) > 0 {
		fmt.Fprintf(w, "; %s of the reference not measured: %s", words.Count(len(missing), "host"), hostlist.Ranges(missing))
	}
	if len(extra) > 0 {
		fmt.Fprintf(w, "; %s that the reference does not know: %s", words.Count(len(extra), "host"), hostlist.Ranges(extra))
	}
	fmt.Fprintln(w)
}

// writeClasses writes what all links of a level have in common.
func (r networkComparison) writeClasses(w io.Writer) {
	if len(r.Links.Classes) == 0 {
		return
	}
	fmt.Fprintln(w)
	t := columns.New(w, "times as slow as the reference", "links", "latency", "bandwidth")
	links := 0
	for _, k := range r.Links.Classes {
		t.Row(k.Name, k.Links, withSpread(k.Latency), withSpread(k.Bandwidth))
		links += k.Links
	}
	t.Row("the middle of all", links, fraction(r.Links.Latency), fraction(r.Links.Bandwidth))
	t.Flush()
}

// writeLinks writes the links' figures, apart from what they have in common.
func (r networkComparison) writeLinks(w io.Writer, all bool) {
	links := r.Links.Links
	if len(links) == 0 {
		return
	}
	by := map[compare.Verdict]int{}
	rates := 0
	for _, l := range links {
		by[l.Verdict]++
		if l.U == l.V && l.U >= 0 || l.Bandwidth[0].Verdict != compare.LinkUnknown || l.Bandwidth[1].Verdict != compare.LinkUnknown {
			rates++
		}
	}
	var parts []string
	for _, v := range []compare.Verdict{compare.LinkMissing, compare.LinkSlow, compare.LinkFast, compare.LinkSame, compare.LinkUnknown} {
		if by[v] > 0 {
			parts = append(parts, fmt.Sprintf("%d %s", by[v], v))
		}
	}
	fmt.Fprintf(w, "\n%s: %s", words.Count(len(links), "link"), strings.Join(parts, ", "))
	if unmeasured := len(links) - rates; unmeasured > 0 {
		fmt.Fprintf(w, "; bandwidth of %d not measured", unmeasured)
	}
	fmt.Fprintln(w)
	shown := make([]*compare.LinkState, 0, len(links))
	for i := range links {
		if all || links[i].Verdict != compare.LinkSame {
			shown = append(shown, &links[i])
		}
	}
	if len(shown) == 0 {
		return
	}
	t := columns.New(w, "times as slow, apart from that", "latency", "bandwidth", "verdict")
	for i, l := range shown {
		if i == maxLinks && !all {
			t.Row(fmt.Sprintf("and %d more (--all)", len(shown)-i))
			break
		}
		rate := fraction(l.Bandwidth[0].Slower)
		if back := fraction(l.Bandwidth[1].Slower); back != rate {
			rate += " / " + back
		}
		t.Row(l.Name, fraction(l.Latency.Slower), rate, l.Verdict)
	}
	t.Flush()
}

func withSpread(s compare.Shared) string {
	if math.IsNaN(s.Slower) || math.IsNaN(s.Spread) {
		return fraction(s.Slower)
	}
	return fmt.Sprintf("%s ± %.1f %%", fraction(s.Slower), 100*math.Expm1(s.Spread))
}

// result is all of it for programs; figures that are not known are left out.
func (r networkComparison) result() *results.Comparison {
	c := r.Links
	out := &results.Comparison{
		Status: r.status(),
		Hosts:  len(c.Hosts), HostsMissing: list(c.Missing), HostsExtra: list(c.Extra),
		Latency: jsonfile.Known(c.Latency), Bandwidth: jsonfile.Known(c.Bandwidth), Similarity: jsonfile.Known(c.Similarity), Misfit: jsonfile.Known(c.Misfit),
		Judged: c.Judged, Unknown: c.Unknown, Warnings: c.Warnings, Differences: []results.Difference{}, Links: []results.Link{}, Levels: []results.Level{},
	}
	for _, k := range c.Classes {
		out.Levels = append(out.Levels, results.Level{
			Name: k.Name, Links: k.Links, Latency: jsonfile.Known(k.Latency.Slower), LatencySpread: jsonfile.Known(k.Latency.Spread),
			Bandwidth: jsonfile.Known(k.Bandwidth.Slower), BandwidthSpread: jsonfile.Known(k.Bandwidth.Spread),
		})
	}
	for i := range c.Findings {
		f := &c.Findings[i]
		d := results.Difference{What: f.What, Kind: f.Kind, Hosts: list(f.Hosts), From: f.From, To: f.To, Times: jsonfile.Known(f.Times), Reason: f.Reason}
		if f.Link >= 0 {
			d.Link = &f.Link
		}
		out.Differences = append(out.Differences, d)
	}
	for i := range c.Links {
		l := &c.Links[i]
		f := results.Link{
			Name: l.Name, Level: c.Classes[l.Class].Name, Verdict: l.Verdict, Below: l.Below,
			Latency: results.Latency{
				Measured: jsonfile.Known(l.Latency.Measured), Reference: jsonfile.Known(l.Latency.Reference),
				Slower: jsonfile.Known(l.Latency.Slower), Verdict: l.Latency.Verdict,
			},
		}
		if l.Below == nil {
			f.Ends = [][]string{list(l.Ends[0]), list(l.Ends[1])}
		}
		for way, q := range l.Bandwidth {
			f.Bandwidth[way] = results.Rate{
				Measured: jsonfile.Known(q.Measured), Reference: jsonfile.Known(q.Reference), Slower: jsonfile.Known(q.Slower), Verdict: q.Verdict,
			}
		}
		out.Links = append(out.Links, f)
	}
	if g := c.Groups; g != nil {
		named := groupsResult(c.Hosts, g)
		out.Groups = &named
	}
	return out
}

// groupsResult are groups by the names of their hosts.
func groupsResult(hosts []string, g *compare.GroupComparison) results.Groups {
	names := func(groups [][]int) [][]string {
		return each(groups, func(group []int) []string { return namesOf(hosts, group) })
	}
	return results.Groups{Same: len(g.Same), Missing: names(g.Missing), Extra: names(g.Extra)}
}

// list is never null in JSON.
func list(names []string) []string {
	if names == nil {
		return []string{}
	}
	return names
}
