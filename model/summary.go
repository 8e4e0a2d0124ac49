package model

import (
	"fmt"
	"io"
	"strings"
	"text/tabwriter"

	"github.com/topocast/topocast/internal/quantity"
	"github.com/topocast/topocast/internal/words"
)

// Summary writes what a person wants to know of the network: its size, how it
// was measured, a table of its levels with typical times, what ranks share inside hosts, and the warnings.
func (n *Network) Summary(w io.Writer) error {
	var b strings.Builder
	family := string(n.fit.Family)
	if family == "" {
		family = "graph"
	}
	fmt.Fprintf(&b, "network of %d ranks", n.Ranks())
	if len(n.hosts) > 0 {
		fmt.Fprintf(&b, " on %d hosts", len(n.hosts))
	}
	fmt.Fprintf(&b, ", %s, %s, %s\n", family, words.Count(n.graph.Vertices()-n.graph.Hosts(), "switch"), words.Count(n.graph.NumArcs(), "arc"))
	for _, line := range []struct{ name, text string }{
		{"date", n.measured.Date}, {"tool", n.measured.Tool}, {"library", n.measured.Library},
	} {
		if line.text != "" {
			fmt.Fprintf(&b, "%s: %s\n", line.name, line.text)
		}
	}
	t := tabwriter.NewWriter(&b, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintf(t, "level\tgroups\tlatency\tbandwidth\t8 B\t64 KiB\t1 MiB\tspread\t\n")
	for i := range n.levels {
		l := &n.levels[i]
		name, groups := n.hierarchy.LevelName(i), len(n.hierarchy.GroupsAt(i))
		fmt.Fprintf(t, "%s\t%d\t%s\t%s\t%s\t%s\t%s\t%s\t\n", name, groups, quantity.Seconds(l.Latency), quantity.Rate(l.Bandwidth()),
			quantity.Seconds(l.Time(8)), quantity.Seconds(l.Time(64<<10)), quantity.Seconds(l.Time(1<<20)), quantity.Percent(l.Spread))
	}
	t.Flush()
	for _, r := range n.resources {
		fmt.Fprintf(&b, "%s\n", r)
	}
	for _, warning := range n.warnings {
		fmt.Fprintf(&b, "warning: %s\n", warning)
	}
	_, err := io.WriteString(w, b.String())
	return err
}

// String is the first line of the summary.
func (n *Network) String() string {
	var b strings.Builder
	_ = n.Summary(&b) // a Builder does not fail
	line, _, _ := strings.Cut(b.String(), "\n")
	return line
}
