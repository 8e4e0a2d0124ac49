// Package decision writes tuned broadcasts as one decision function over ranks, roots and sizes, for people and for
// programs, as Reinfjell 2023 has it in figure 6.12.
//
//	decision.Write(os.Stdout, decision.Text, tuned.Tunings())
package decision

import (
	_ "embed"
	"fmt"
	"io"
	"math"
	"slices"
	"strings"
	"text/template"

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
	UpTo   int64
	Choice table.Choice
}

// A rootBranch is the same list of branches for some roots.
type rootBranch struct {
	Roots    []int // ascending; nil: all
	Branches []branch
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
		if n := len(*list); n > 0 && sameWay((*list)[n-1].Choice, c.Choice) {
			(*list)[n-1].UpTo = c.Bytes
			continue
		}
		*list = append(*list, branch{c.Bytes, c.Choice})
	}
	alike := func(a, b branch) bool { return a.UpTo == b.UpTo && sameWay(a.Choice, b.Choice) }
	var merged []rootBranch
	of := make([]int, classes) // class -> index into merged
	for class, list := range lists {
		of[class] = slices.IndexFunc(merged, func(m rootBranch) bool { return slices.EqualFunc(m.Branches, list, alike) })
		if of[class] < 0 {
			of[class] = len(merged)
			merged = append(merged, rootBranch{Branches: list})
		}
	}
	if len(merged) > 1 {
		for rank, class := range t.RootClass {
			merged[of[class]].Roots = append(merged[of[class]].Roots, rank)
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
		if r.Roots != nil {
			fmt.Fprintf(w, "  root %s\n", hostlist.Numbers(r.Roots))
			indent = "    "
		}
		rows := columns.New(w)
		for i, b := range r.Branches {
			sizes := "up to " + quantity.Bytes(b.UpTo)
			if i == len(r.Branches)-1 {
				sizes = "longer"
				if i == 0 {
					sizes = "all sizes"
				}
			}
			rows.Row(indent+sizes, line(b.Choice))
		}
		if len(r.Branches) == 0 {
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

// The code of the function in a language with braces, without indents.
var (
	//go:embed go.tmpl
	goCode string
	//go:embed c.tmpl
	cCode string
)

// writeCode writes the function in Go or C.
func writeCode(w io.Writer, l Language, tunings []table.Tuning) {
	text, indent := goCode, "\t"
	if l == C {
		text, indent = cCode, "    "
	}
	functions := template.FuncMap{
		"heading": heading, "decide": decide, "named": named, "isOneOf": isOneOf,
		"isLast": func(i, count int) bool { return i == count-1 },
	}
	var code strings.Builder
	if err := template.Must(template.New("").Funcs(functions).Parse(text)).Execute(&code, tunings); err != nil {
		panic(err) // a mistake of the template
	}
	depth := 0
	for line := range strings.Lines(code.String()) {
		if strings.HasPrefix(line, "}") {
			depth--
		}
		if strings.TrimSpace(line) != "" {
			line = strings.Repeat(indent, depth) + line
		}
		io.WriteString(w, line)
		if strings.HasSuffix(line, "{\n") {
			depth++
		}
	}
}

// isOneOf is the condition, in both languages, that the root is one of ascending numbers.
func isOneOf(roots []int) string {
	var parts []string
	for _, x := range ranges(roots) {
		if x[0] == x[1] {
			parts = append(parts, fmt.Sprintf("root == %d", x[0]))
		} else {
			parts = append(parts, fmt.Sprintf("(root >= %d && root <= %d)", x[0], x[1]))
		}
	}
	if len(parts) == 1 {
		return strings.Trim(parts[0], "()")
	}
	return strings.Join(parts, " || ")
}
