// Package columns prints tables for people: names of columns, and rows of as many cells below them, two blanks apart. On a
// terminal the names are bold, unless NO_COLOR is set (no-color.org).
package columns

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"strings"
	"text/tabwriter"

	"golang.org/x/term"
)

// A Table is a table that is being filled.
type Table struct {
	w       io.Writer
	rows    [][]string
	isNamed bool // the first row has names
	bold    bool
}

// New begins a table with the names of its columns; without any it has rows alone.
func New(w io.Writer, names ...string) *Table {
	t := &Table{w: w}
	if len(names) > 0 {
		t.rows = [][]string{names}
		t.isNamed = true
		t.bold = onTerminal(w) && os.Getenv("NO_COLOR") == ""
	}
	return t
}

// Row adds a row. Cells are written as fmt.Sprint writes them.
func (t *Table) Row(cells ...any) {
	row := make([]string, len(cells))
	for i, c := range cells {
		row[i] = fmt.Sprint(c)
	}
	t.rows = append(t.rows, row)
}

// FlushFirst is Flush of the first rows only, and a line that says how many more there are.
func (t *Table) FlushFirst(most int) {
	names := 0
	if t.isNamed {
		names = 1
	}
	more := len(t.rows) - names - most
	t.rows = t.rows[:min(len(t.rows), names+most)]
	t.Flush()
	if more > 0 {
		fmt.Fprintf(t.w, "and %d more; --json lists all\n", more)
	}
}

// Flush writes the table, without blanks at the ends of lines. It does not look at errors of the writer.
func (t *Table) Flush() {
	var aligned bytes.Buffer
	columns := tabwriter.NewWriter(&aligned, 0, 0, 2, ' ', 0)
	for _, row := range t.rows {
		fmt.Fprintln(columns, strings.Join(row, "\t"))
	}
	columns.Flush() // into memory
	first := true
	for line := range strings.Lines(aligned.String()) {
		line = strings.TrimRight(line, " \n")
		if first && t.bold {
			line = "\x1b[1m" + line + "\x1b[0m"
		}
		first = false
		fmt.Fprintln(t.w, line)
	}
}

// onTerminal tells whether a person reads what is written: w is a terminal, or has the descriptor of one.
func onTerminal(w io.Writer) bool {
	f, ok := w.(interface{ Fd() uintptr })
	return ok && term.IsTerminal(int(f.Fd()))
}
