// Package decision writes tuned broadcasts as one decision function over ranks, roots and sizes, for people and for
// programs, as Reinfjell 2023 has it in figure 6.12.
//
//	decision.Write(os.Stdout, decision.Text, tuned.Tunings())
package decision

import (
	"fmt"
	"io"
	"math"
	"slices"
	"strings"

	"github.com/topocast/topocast/bcast/table"
	"github.com/topocast/topocast/internal/columns"
	"github.com/topocast/topocast/internal/hostlist"
	"github.com/topocast/topocast/internal/quantity"
	"github.com/topocast/topocast/internal/words"
)

// A Language is one in which Write writes.
type Language string

// The languages.
const (
	Text Language = "text" // for people
	Go   Language = "go"   // a file with the function ChooseBcast
	C    Language = "c"    // a file with the function choose_bcast, C99
)

// Languages lists them.
func Languages() []Language { return []Language{Text, Go, C} }

// Write writes the tunings as one decision function. Neighbouring sizes with one choice are one branch, and so are roots
// with the same branches. A size that was not tuned belongs to the next larger one that was, and the longest have the
// choice of the largest. Of several tunings for one number of ranks the last one counts. Errors of the writer are not looked at.
func Write(w io.Writer, l Language, tunings []table.Tuning) {
	var kept []table.Tuning // by number of ranks
	for i := len(tunings) - 1; i >= 0; i-- {
		t := tunings[i]
		if len(t.Cells) > 0 && !slices.ContainsFunc(kept, func(k table.Tuning) bool { return k.Ranks == t.Ranks }) {
			kept = append(kept, t)
		}
	}
	slices.SortFunc(kept, func(a, b table.Tuning) int { return a.Ranks - b.Ranks })
	if l != Text {
		writeCode(w, l, kept)
		return
	}
	for _, t := range kept {
		writeText(w, t)
	}
}

// A branch is the choice for messages of up to so many bytes, and more than those of the
// branch before; the last one of a list is for all that are longer, too.
type branch struct {
	upTo   int64
	choice table.Choice
}

// A rootBranch is the same list of branches for some roots.
type rootBranch struct {
	roots    []int // ascending; nil: all
	branches []branch
}

// sameWay tells whether two choices do a broadcast alike.
func sameWay(a, b table.Choice) bool {
	return a.Topology == b.Topology && a.Algorithm == b.Algorithm && a.Segment == b.Segment && a.Blocking == b.Blocking
}

// named is the algorithm, and the topology in brackets.
func named(c table.Choice) string {
	if c.Topology == "" {
		return c.Algorithm
	}
	return c.Algorithm + " (" + c.Topology + ")"
}

// line describes a choice without its times.
func line(c table.Choice) string {
	s := named(c)
	if c.Segment > 0 {
		s += ", segments of " + quantity.Bytes(c.Segment)
	}
	if c.Blocking {
		s += ", blocking"
	}
	return s
}

// decide merges the cells of a tuning.
func decide(t table.Tuning) []rootBranch {
	classes := 1
	for _, c := range t.RootClass {
		classes = max(classes, c+1)
	}
	lists := make([][]branch, classes)
	for _, c := range t.Cells {
		list := &lists[c.RootClass]
		if n := len(*list); n > 0 && sameWay((*list)[n-1].choice, c.Choice) {
			(*list)[n-1].upTo = c.Bytes
			continue
		}
		*list = append(*list, branch{c.Bytes, c.Choice})
	}
	alike := func(a, b branch) bool { return a.upTo == b.upTo && sameWay(a.choice, b.choice) }
	var merged []rootBranch
	of := make([]int, classes) // class -> index into merged
	for class, list := range lists {
		of[class] = slices.IndexFunc(merged, func(m rootBranch) bool { return slices.EqualFunc(m.branches, list, alike) })
		if of[class] < 0 {
			of[class] = len(merged)
			merged = append(merged, rootBranch{branches: list})
		}
	}
	if len(merged) > 1 {
		for rank, class := range t.RootClass {
			merged[of[class]].roots = append(merged[of[class]].roots, rank)
		}
	}
	return merged
}

// ranges are the first and last of each run of ascending numbers.
func ranges(numbers []int) [][2]int {
	var out [][2]int
	for _, x := range numbers {
		if n := len(out); n > 0 && out[n-1][1] == x-1 {
			out[n-1][1] = x
			continue
		}
		out = append(out, [2]int{x, x})
	}
	return out
}

func writeText(w io.Writer, t table.Tuning) {
	fmt.Fprintf(w, "%s\n", heading(t))
	for _, r := range decide(t) {
		indent := "  "
		if r.roots != nil {
			fmt.Fprintf(w, "  root %s\n", hostlist.Numbers(r.roots))
			indent = "    "
		}
		rows := columns.New(w)
		for i, b := range r.branches {
			sizes := "up to " + quantity.Bytes(b.upTo)
			if i == len(r.branches)-1 {
				sizes = "longer"
				if i == 0 {
					sizes = "all sizes"
				}
			}
			rows.Row(indent+sizes, line(b.choice))
		}
		if len(r.branches) == 0 {
			rows.Row(indent + "not tuned")
		}
		rows.Flush()
	}
}

// heading says what a tuning holds for.
func heading(t table.Tuning) string {
	parts := []string{words.Count(t.Ranks, "rank")}
	if t.Library != "" {
		parts = append([]string{t.Library}, parts...)
	}
	parts = append(parts, "places "+t.Places)
	least, most := int64(math.MaxInt64), int64(0)
	for _, c := range t.Cells {
		least, most = min(least, c.Bytes), max(most, c.Bytes)
	}
	switch {
	case least < most:
		parts = append(parts, "for "+quantity.Bytes(least)+" to "+quantity.Bytes(most))
	case least == most:
		parts = append(parts, "for "+quantity.Bytes(most))
	}
	if t.Date != "" {
		parts = append(parts, "tuned "+t.Date)
	}
	return strings.Join(parts, ", ")
}

// A code writes the same function in a language with braces.
type code struct {
	out    io.Writer
	l      Language
	indent int
}

func (c *code) line(format string, args ...any) {
	step := "\t"
	if c.l == C {
		step = "    "
	}
	fmt.Fprintf(c.out, "%s%s\n", strings.Repeat(step, c.indent), fmt.Sprintf(format, args...))
}

func (c *code) begin(condition string) {
	if c.l == C {
		condition = "(" + condition + ")"
	}
	c.line("if %s {", condition)
	c.indent++
}

func (c *code) end() {
	c.indent--
	c.line("}")
}

func (c *code) choose(x table.Choice) {
	if c.l == C {
		blocking := 0
		if x.Blocking {
			blocking = 1
		}
		c.line("return (struct bcast_choice){%q, %d, %d};", named(x), x.Segment, blocking)
		return
	}
	c.line("return %q, %d, %v", named(x), x.Segment, x.Blocking)
}

func writeCode(out io.Writer, l Language, tunings []table.Tuning) {
	c := &code{out: out, l: l}
	c.line("// Code generated by topocast bcast tune; DO NOT EDIT.")
	c.line("//")
	c.line("// How a message is broadcast best: the algorithm with its settings, and in brackets the")
	c.line("// topology that it follows where that is not the one that was found; the bytes of a")
	c.line("// segment (0: the message is sent whole), and whether by blocking sends and receives.")
	c.line("// Not tuned: %q, MPI_Bcast. Tuned for", table.Native)
	for _, t := range tunings {
		c.line("//")
		c.line("//	%q", heading(t))
	}
	c.line("")
	if l == C {
		c.line("struct bcast_choice {")
		c.line("    const char *algorithm;")
		c.line("    long long segment;")
		c.line("    int blocking;")
		c.line("};")
		c.line("")
		c.line("struct bcast_choice choose_bcast(long long bytes, int ranks, int root)")
		c.line("{")
	} else {
		c.line("package tuned")
		c.line("")
		c.line("func ChooseBcast(bytes int64, ranks, root int) (algorithm string, segment int64, blocking bool) {")
	}
	c.indent++
	for _, t := range tunings {
		c.begin(fmt.Sprintf("ranks == %d", t.Ranks))
		all := decide(t)
		for i, r := range all {
			last := i == len(all)-1 // the roots that are left
			if !last {
				c.begin(isOneOf("root", r.roots))
			}
			c.sizes(r.branches)
			if !last {
				c.end()
			}
		}
		c.end()
	}
	c.choose(table.Choice{Algorithm: table.Native})
	c.indent--
	c.line("}")
}

func (c *code) sizes(branches []branch) {
	for i, b := range branches {
		if i == len(branches)-1 {
			c.choose(b.choice)
			return
		}
		c.begin(fmt.Sprintf("bytes <= %d", b.upTo))
		c.choose(b.choice)
		c.end()
	}
	c.choose(table.Choice{Algorithm: table.Native})
}

// isOneOf is the condition, in both languages, that a variable is one of ascending numbers.
func isOneOf(name string, numbers []int) string {
	var parts []string
	all := ranges(numbers)
	for _, x := range all {
		switch {
		case x[0] == x[1]:
			parts = append(parts, fmt.Sprintf("%s == %d", name, x[0]))
		case len(all) == 1:
			parts = append(parts, fmt.Sprintf("%s >= %d && %s <= %d", name, x[0], name, x[1]))
		default:
			parts = append(parts, fmt.Sprintf("(%s >= %d && %s <= %d)", name, x[0], name, x[1]))
		}
	}
	return strings.Join(parts, " || ")
}
