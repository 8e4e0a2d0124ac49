package model

import (
	"fmt"
	"io"
	"math"
	"strings"
	"text/tabwriter"
)

// Summary writes what a person wants to know of the network: its size, how it
// was measured, a table of its levels with typical times, and the warnings.
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
	fmt.Fprintf(&b, ", %s, %d switches, %d arcs\n", family, n.graph.Vertices()-n.graph.Hosts(), n.graph.NumArcs())
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
		name, groups := "all", 1
		if h := n.hierarchy; i < len(h.Levels()) {
			groups = len(h.GroupsAt(i))
			if name = h.Levels()[i].Name; name == "" {
				name = fmt.Sprintf("level %d", i)
			}
		}
		fmt.Fprintf(t, "%s\t%d\t%s\t%s\t%s\t%s\t%s\t%s\t\n", name, groups, seconds(l.Latency), rate(l.Bandwidth()),
			seconds(l.Time(8)), seconds(l.Time(64<<10)), seconds(l.Time(1<<20)), percent(l.Spread))
	}
	t.Flush()
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

func seconds(x float64) string {
	switch {
	case math.IsNaN(x):
		return "-"
	case x < 1e-6:
		return fmt.Sprintf("%.4g ns", x*1e9)
	case x < 1e-3:
		return fmt.Sprintf("%.4g us", x*1e6)
	case x < 1:
		return fmt.Sprintf("%.4g ms", x*1e3)
	}
	return fmt.Sprintf("%.4g s", x)
}

func rate(x float64) string {
	switch {
	case math.IsNaN(x):
		return "-"
	case x < 1e9:
		return fmt.Sprintf("%.4g MB/s", x*1e-6)
	}
	return fmt.Sprintf("%.4g GB/s", x*1e-9)
}

func percent(x float64) string {
	if math.IsNaN(x) {
		return "-"
	}
	return fmt.Sprintf("%.1f %%", x*100)
}
