package outcome

import (
	"bufio"
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"
	"strings"
	"unicode/utf8"

	"github.com/topocast/topocast/internal/outfile"
	"github.com/topocast/topocast/internal/words"
)

// Write writes all of the outcomes as Markdown, with lines and tables that can be read in a terminal, and at the end what agrees.
func Write(w io.Writer, outcomes ...*Outcome) error {
	out := bufio.NewWriter(w)
	for _, o := range outcomes {
		o.write(out, false)
	}
	writeSummary(out, outcomes)
	return out.Flush()
}

// pageFigures is the folder of a page's figures, beside the page.
const pageFigures = "img/papers"

// WritePage writes a page of results: an introduction, and what agrees by source and kind. Of each section it has the numbers that
// are compared, why they differ, and the figures, which are files in img/papers beside the page.
// Inputs are counted and not listed. A section that compares nothing but says why others differ has its own tables.
func WritePage(path, intro string, outcomes ...*Outcome) error {
	if err := os.MkdirAll(filepath.Join(filepath.Dir(path), pageFigures), 0o777); err != nil {
		return err
	}
	for _, o := range outcomes {
		for _, s := range o.Sections {
			if !s.onPage() {
				continue
			}
			for _, f := range s.Figures {
				if err := outfile.Write(filepath.Join(filepath.Dir(path), o.figurePath(f)), f.Picture.SVG); err != nil {
					return err
				}
			}
		}
	}
	return outfile.Write(path, func(w io.Writer) error {
		out := bufio.NewWriter(w)
		fmt.Fprint(out, intro)
		writeSummary(out, outcomes)
		for _, o := range outcomes {
			o.write(out, true)
		}
		return out.Flush()
	})
}

// onPage says that a page has the section.
func (s *Section) onPage() bool { return len(s.Causes) > 0 || s.comparisons(false) != nil }

// figurePath is that of a figure from the folder of the page.
func (o *Outcome) figurePath(f Figure) string {
	return pageFigures + "/" + o.Name + "-" + f.Name + ".svg"
}

// width is that of a terminal which nobody has widened.
const width = 80

// write writes the outcome. Brief is what a page has of it.
func (o *Outcome) write(w io.Writer, brief bool) {
	paragraph := func(text string) {
		if !brief {
			text = words.Fill(text, width)
		}
		if text != "" {
			fmt.Fprintf(w, "\n%s\n", text)
		}
	}
	fmt.Fprintf(w, "\n## %s\n", o.Name)
	paragraph(o.Source)
	paragraph(o.Where)
	for _, s := range o.Sections {
		compared := s.comparisons(!brief)
		if brief && !s.onPage() {
			continue
		}
		fmt.Fprintf(w, "\n### %s\n", s.Title)
		tables := compared
		if !brief || compared == nil { // it says why numbers of another section differ
			tables = append(s.Tables[:len(s.Tables):len(s.Tables)], compared...)
		}
		if !brief {
			for _, text := range s.Text {
				paragraph(text)
			}
		}
		for _, t := range tables {
			if t.Title != "" {
				paragraph(t.Title + ":")
			}
			fmt.Fprintln(w)
			t.write(w)
		}
		for k, cause := range s.Causes {
			if k == 0 {
				fmt.Fprint(w, "\nWhy:\n\n")
			}
			if !brief {
				cause = words.Fill(cause, width-2)
			}
			fmt.Fprintln(w, "- "+strings.ReplaceAll(cause, "\n", "\n  "))
		}
		for _, f := range s.Figures {
			if brief {
				fmt.Fprintf(w, "\n![%s](%s)\n", s.Title, o.figurePath(f))
			}
		}
	}
	for _, warning := range o.Warnings {
		paragraph("warning: " + warning)
	}
}

// write aligns names on the left, and numbers on the right, by what is seen rather than by bytes.
func (t *Table) write(w io.Writer) {
	head := make([]string, len(t.Columns))
	for k, c := range t.Columns {
		head[k] = c.head()
	}
	rows := append([][]string{head}, t.cells()...)
	widths := make([]int, len(head))
	for _, row := range rows {
		for k := range row {
			row[k] = strings.ReplaceAll(row[k], "|", "\\|")
			widths[k] = max(widths[k], utf8.RuneCountInString(row[k]))
		}
	}
	for i, row := range rows {
		for k, cell := range row {
			blank := strings.Repeat(" ", widths[k]-utf8.RuneCountInString(cell))
			if t.Columns[k].left() {
				fmt.Fprintf(w, "| %s%s ", cell, blank)
			} else {
				fmt.Fprintf(w, "| %s%s ", blank, cell)
			}
		}
		fmt.Fprintln(w, "|")
		if i > 0 {
			continue
		}
		for k, c := range t.Columns {
			if line := strings.Repeat("-", widths[k]+1); c.left() {
				fmt.Fprintf(w, "|%s-", line)
			} else {
				fmt.Fprintf(w, "|%s:", line)
			}
		}
		fmt.Fprintln(w, "|")
	}
}

// comparisons are tables of what the source prints, one for each group of kinds.
func (s *Section) comparisons(inputs bool) []*Table {
	var all []*Table
	for _, g := range groups() {
		last := "off by"
		if g.first.bound() {
			last = "holds"
		}
		t := &Table{Name: "printed", Title: g.title, Columns: []Column{Text("what"), values("printed"), values("ours"), values(last)}}
		for _, c := range s.Compared {
			if g.has(c.Kind) {
				t.Rows = append(t.Rows, c.cells())
			}
		}
		if t.Rows != nil && (inputs || g.first != Input) {
			all = append(all, t)
		}
	}
	return all
}

// cells are the row of a comparison.
func (c Comparison) cells() []any {
	printed, last := withUnit(c.Printed, c.Unit), signed(c.Off())
	if c.Kind.bound() {
		printed, last = c.Kind.String()+" "+printed, "no"
		if c.Holds() {
			last = "yes"
		}
	}
	if math.IsNaN(c.Ours) {
		last = "not reproduced"
	}
	return []any{c.What, printed, withUnit(c.Ours, c.Unit), last}
}
