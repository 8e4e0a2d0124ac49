package main

import (
	"fmt"
	"io"
	"math"
	"strings"
	"text/tabwriter"

	"github.com/topocast/topocast/internal/quantity"
	"github.com/topocast/topocast/topology"
)

// maxShown bounds the children shown of one group: a picture of thousands of
// lines is none.
const maxShown = 16

// members are what a result groups: ranks, or the rows of a matrix, of which
// nobody knows whether they are cores, hosts or sites.
type members struct {
	noun  string
	names []string // nil: they have numbers only
}

// list writes members of a group.
func (m members) list(x []int) string {
	if m.names == nil {
		return ranges(x)
	}
	pieces := make([]string, len(x))
	for i, id := range x {
		pieces[i] = m.names[id]
	}
	return strings.Join(cut(pieces), ",")
}

// printResult writes what was found, for a person: a table of the levels, the
// tree, and the warnings.
func printResult(w io.Writer, r *topology.Result, m members) error {
	h := r.Hierarchy
	switches := r.Graph.Vertices() - r.Graph.Hosts()
	fmt.Fprintf(w, "%d %s, %s, %d switches, %d links\n\n", h.Hosts(), m.noun, r.Fit.Family, switches, r.Graph.NumArcs()/2)

	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprintf(t, "level\tgroups\t%s each\tlatency\tsupport\n", m.noun)
	for i, l := range h.Levels() {
		at := h.GroupsAt(i)
		least, most := len(at[0].Hosts), len(at[0].Hosts)
		for _, g := range at {
			least, most = min(least, len(g.Hosts)), max(most, len(g.Hosts))
		}
		each := fmt.Sprint(least)
		if most > least {
			each += fmt.Sprintf("-%d", most)
		}
		support := fraction(l.Support) // of the weakest group
		for _, g := range at {
			if best := fraction(g.Support); best > support && g.Support >= l.Support {
				support = fmt.Sprintf("%s-%s", fraction(l.Support), best)
			}
		}
		fmt.Fprintf(t, "%s\t%d\t%s\t%s\t%s\n", h.LevelName(i), len(at), each, quantity.Seconds(l.Latency), support)
	}
	fmt.Fprintf(t, "all\t1\t%d\t%s\t\n", h.Hosts(), quantity.Seconds(h.Groups()[0].Latency))
	t.Flush()

	fmt.Fprintln(w)
	printGroup(w, h, m, 0, "", "")
	for _, warning := range r.Warnings {
		fmt.Fprintf(w, "warning: %s\n", warning)
	}
	return nil
}

// printGroup draws one group and, indented, what is inside. first stands
// before its own line, rest before the lines below.
func printGroup(w io.Writer, h *topology.Hierarchy, m members, index int, first, rest string) {
	group := h.Groups()[index]
	line := fmt.Sprintf("%s%s: %s", first, h.LevelName(group.Level), m.list(group.Hosts))
	if !math.IsNaN(group.Latency) {
		line += "  " + quantity.Seconds(group.Latency)
	}
	if index > 0 && !math.IsNaN(group.Support) {
		line += "  support " + fraction(group.Support)
	}
	fmt.Fprintln(w, line)

	shown := group.Children
	if len(shown) > maxShown {
		shown = shown[:maxShown]
	}
	var loose []int // hosts in none of the children
	if len(group.Children) > 0 {
		for _, x := range group.Hosts {
			if h.Smallest(x) == index {
				loose = append(loose, x)
			}
		}
	}
	for i, c := range shown {
		if i == len(group.Children)-1 && loose == nil {
			printGroup(w, h, m, c, rest+"`-- ", rest+"    ")
		} else {
			printGroup(w, h, m, c, rest+"|-- ", rest+"|   ")
		}
	}
	if more := len(group.Children) - len(shown); more > 0 {
		fmt.Fprintf(w, "%s`-- and %d more groups\n", rest, more)
	}
	if loose != nil {
		fmt.Fprintf(w, "%s`-- alone: %s\n", rest, m.list(loose))
	}
}

// ranges writes ascending numbers as "0-3,8,10-11", cut short in the middle
// when there are many pieces.
func ranges(x []int) string {
	var pieces []string
	for i := 0; i < len(x); {
		j := i
		for j+1 < len(x) && x[j+1] == x[j]+1 {
			j++
		}
		switch {
		case j == i:
			pieces = append(pieces, fmt.Sprint(x[i]))
		default:
			pieces = append(pieces, fmt.Sprintf("%d-%d", x[i], x[j]))
		}
		i = j + 1
	}
	return strings.Join(cut(pieces), ",")
}

// cut leaves out the middle of many pieces.
func cut(pieces []string) []string {
	if len(pieces) <= maxShown {
		return pieces
	}
	return append(append(pieces[:maxShown-2:maxShown-2], "..."), pieces[len(pieces)-1])
}

func fraction(x float64) string {
	if math.IsNaN(x) {
		return "-"
	}
	return fmt.Sprintf("%.2f", x)
}
