package main

import (
	"bytes"
	"cmp"
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/topocast/topocast/internal/cli"
	"github.com/topocast/topocast/internal/columns"
	"github.com/topocast/topocast/internal/words"
	"github.com/topocast/topocast/topology/compare"
)

// Bounds of what is printed.
const (
	maxFindings = 20
	maxLinks    = 10
	maxRanges   = 6
)

// writeText writes what differs, the worst first, and the links' figures.
func (r *comparison) writeText(w io.Writer, all bool) error {
	var b bytes.Buffer
	c := r.result
	fmt.Fprintf(&b, "measured:  %s\nreference: %s\n", r.measured.describe(), r.reference.describe())
	fmt.Fprintf(&b, "%s in both", words.Count(len(c.Hosts), "host"))
	if len(c.Missing) > 0 {
		fmt.Fprintf(&b, "; %s of the reference not measured: %s", words.Count(len(c.Missing), "host"), hostRanges(c.Missing))
	}
	if len(c.Extra) > 0 {
		fmt.Fprintf(&b, "; %s that the reference does not know: %s", words.Count(len(c.Extra), "host"), hostRanges(c.Extra))
	}
	fmt.Fprintln(&b)
	if !math.IsNaN(c.Similarity) {
		fmt.Fprintf(&b, "similarity %.1f %% (hosts are wired to each other)\n", c.Similarity)
	}
	if g := r.groups; g != nil {
		fmt.Fprintf(&b, "confident groups: %d the same, %d missing, %d extra\n", len(g.Same), len(g.Missing), len(g.Extra))
		if r.groupsCount() {
			r.writeGroups(&b)
		}
	}
	r.writeClasses(&b)

	switch r.status() {
	case cli.StatusUnknown:
		fmt.Fprintln(&b, "\ncannot tell: no link was measured on both sides and can be judged")
	case cli.StatusDifferent:
		if len(c.Findings) == 0 {
			break
		}
		fmt.Fprintf(&b, "\n%s, the worst first\n", words.Count(len(c.Findings), "difference"))
	}
	if c.Unknown != "" {
		fmt.Fprintf(&b, "latencies between hosts: %s\n", c.Unknown)
	}
	for i := range c.Findings {
		if i == maxFindings && !all {
			fmt.Fprintf(&b, "  and %d more (--all)\n", len(c.Findings)-i)
			break
		}
		fmt.Fprintf(&b, "  %s: %s\n", r.findingName(&c.Findings[i]), r.reason(&c.Findings[i]))
	}
	for _, w := range c.Warnings {
		fmt.Fprintf(&b, "warning: %s\n", w)
	}
	r.writeLinks(&b, all)
	if r.status() == cli.StatusFine {
		fmt.Fprintln(&b, "\nnothing differs")
	}
	_, err := w.Write(b.Bytes())
	return err
}

// writeGroups writes the groups that one side has alone.
func (r *comparison) writeGroups(w io.Writer) {
	for _, side := range []struct {
		what   string
		groups [][]int
	}{{"missing", r.groups.Missing}, {"extra", r.groups.Extra}} {
		for _, g := range side.groups {
			names := make([]string, len(g))
			for i, h := range g {
				names[i] = r.result.Hosts[h]
			}
			fmt.Fprintf(w, "  %s: %s\n", side.what, hostRanges(names))
		}
	}
}

// writeClasses writes what all links of a level have in common.
func (r *comparison) writeClasses(w io.Writer) {
	if len(r.result.Classes) == 0 {
		return
	}
	fmt.Fprintln(w)
	t := columns.New(w, "times as slow as the reference", "links", "latency", "bandwidth")
	links := 0
	for _, k := range r.result.Classes {
		t.Row(k.Name, k.Links, withSpread(k.Latency, k.LatencySpread), withSpread(k.Bandwidth, k.BandwidthSpread))
		links += k.Links
	}
	t.Row("the middle of all", links, times(r.result.Latency), times(r.result.Bandwidth))
	t.Flush()
}

// writeLinks writes the links' figures, apart from what they have in common.
func (r *comparison) writeLinks(w io.Writer, all bool) {
	links := r.result.Links
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
		rate := times(l.Bandwidth[0].Slower)
		if back := times(l.Bandwidth[1].Slower); back != rate {
			rate += " / " + back
		}
		t.Row(r.linkName(l), times(l.Latency.Slower), rate, l.Verdict)
	}
	t.Flush()
}

// describe says what a side is.
func (s side) describe() string {
	names := map[string]bool{}
	for v := range s.graph.Hosts() {
		names[s.graph.Name(v)] = true
	}
	text := fmt.Sprintf("%s, %s", s.file, words.Count(len(names), "host"))
	if ranks := s.graph.Hosts(); ranks > len(names) {
		text += fmt.Sprintf(" of %d ranks", ranks)
	}
	if date := s.network.Measured().Date; date != "" {
		text += ", " + date
	}
	return text
}

// times writes a ratio.
func times(x float64) string {
	if math.IsNaN(x) {
		return "-"
	}
	return fmt.Sprintf("%.2f", x)
}

func withSpread(x, spread float64) string {
	if math.IsNaN(x) || math.IsNaN(spread) {
		return times(x)
	}
	return fmt.Sprintf("%s ± %.1f %%", times(x), 100*math.Expm1(spread))
}

// hostRanges shortens a list of names: h8-h15,login and 12 more.
func hostRanges(names []string) string {
	type numbered struct {
		prefix, digits string
		number         int
	}
	all := make([]numbered, len(names))
	for i, name := range names {
		digits := strings.TrimRight(name, "0123456789")
		all[i] = numbered{digits, name[len(digits):], -1}
		if n, err := strconv.Atoi(all[i].digits); err == nil {
			all[i].number = n
		}
	}
	slices.SortFunc(all, func(a, b numbered) int {
		return cmp.Or(cmp.Compare(a.prefix, b.prefix), cmp.Compare(a.number, b.number), cmp.Compare(a.digits, b.digits))
	})
	// The next name has as many digits, or one more after 9, 99 and so on.
	next := func(a, b numbered) bool {
		return a.prefix == b.prefix && a.number >= 0 && b.digits == fmt.Sprintf("%0*d", len(a.digits), a.number+1)
	}
	var pieces []string
	for i := 0; i < len(all); {
		if len(pieces) == maxRanges {
			pieces = append(pieces[:maxRanges-1], fmt.Sprintf("%s and %d more", pieces[maxRanges-1], len(all)-i))
			break
		}
		j := i
		for j+1 < len(all) && next(all[j], all[j+1]) {
			j++
		}
		first, last := all[i].prefix+all[i].digits, all[j].prefix+all[j].digits
		switch {
		case j == i:
			pieces = append(pieces, first)
		case j == i+1 && len(pieces) < maxRanges-1:
			pieces = append(pieces, first, last)
		default:
			pieces = append(pieces, first+"-"+last)
		}
		i = j + 1
	}
	return strings.Join(pieces, ",")
}
