package outcome

import (
	"bufio"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"github.com/topocast/topocast/internal/outfile"
)

// markdownFigures is the folder of a page's figures, beside the page.
const markdownFigures = "img/papers"

// WriteMarkdown writes a page of results: an introduction, what agrees by source and kind, and of each section the numbers
// that it compares, why they differ, and its last figure, which is written to img/papers beside the page.
// Inputs are counted and not listed. A section that compares nothing but says why others differ has its own tables.
func WriteMarkdown(path, intro string, outcomes ...*Outcome) error {
	if err := os.MkdirAll(filepath.Join(filepath.Dir(path), markdownFigures), 0o777); err != nil {
		return err
	}
	for _, o := range outcomes {
		for _, s := range o.Sections {
			if f, cited := s.cited(); cited {
				if err := outfile.Write(filepath.Join(filepath.Dir(path), o.figurePath(f)), f.Picture.SVG); err != nil {
					return err
				}
			}
		}
	}
	return outfile.Write(path, func(w io.Writer) error {
		out := bufio.NewWriter(w)
		fmt.Fprintf(out, "%s\n## What repeats, by kind\n\n", intro)
		rows := [][]string{}
		all := &Outcome{}
		for _, o := range outcomes {
			rows = append(rows, o.Summary().row(o.Name))
			all.Sections = append(all.Sections, o.Sections...)
		}
		markdownTable(out, summaryHead(), append(rows, all.Summary().row("all")))
		for _, o := range outcomes {
			o.markdown(out)
		}
		return out.Flush()
	})
}

// figurePath is that of a figure from the folder of the page.
func (o *Outcome) figurePath(f Figure) string {
	return markdownFigures + "/" + o.Name + "-" + f.Name + ".svg"
}

// cited is the figure that a page shows of a section: the last one of those that compare numbers.
func (s *Section) cited() (f Figure, is bool) {
	if len(s.Figures) == 0 || len(s.listed()) == 0 {
		return f, false
	}
	return s.Figures[len(s.Figures)-1], true
}

// listed are the tables of comparisons but for inputs.
func (s *Section) listed() []*Table {
	own := &Section{}
	for _, c := range s.Compared {
		if c.Kind != Input {
			own.Compared = append(own.Compared, c)
		}
	}
	return own.comparisons()
}

func (o *Outcome) markdown(w io.Writer) {
	fmt.Fprintf(w, "\n## %s\n\n%s\n%s\n\n%s\n", o.Name, o.Source, o.Where, o.Summary().sentences())
	for _, s := range o.Sections {
		tables := s.listed()
		switch {
		case tables == nil && len(s.Causes) == 0:
			continue
		case tables == nil: // it says why numbers of another section differ
			tables = s.Tables
		}
		fmt.Fprintf(w, "\n### %s\n", s.Title)
		for _, t := range tables {
			head := make([]string, len(t.Columns))
			for k, c := range t.Columns {
				head[k] = c.head()
			}
			fmt.Fprintln(w)
			if t.Title != "" {
				fmt.Fprintf(w, "%s:\n\n", strings.ToUpper(t.Title[:1])+t.Title[1:])
			}
			markdownTable(w, head, t.cells())
		}
		for k, cause := range s.Causes {
			if k == 0 {
				fmt.Fprint(w, "\nWhy:\n\n")
			}
			fmt.Fprintf(w, "- %s\n", cause)
		}
		if f, cited := s.cited(); cited {
			fmt.Fprintf(w, "\n![%s](%s)\n", s.Title, o.figurePath(f))
		}
	}
}

// markdownTable writes names on the left and numbers on the right.
func markdownTable(w io.Writer, head []string, rows [][]string) {
	line := func(cells []string) {
		for _, cell := range cells {
			fmt.Fprintf(w, "| %s ", strings.ReplaceAll(cell, "|", "\\|"))
		}
		fmt.Fprintln(w, "|")
	}
	line(head)
	fmt.Fprintln(w, "|---"+strings.Repeat("|---:", len(head)-1)+"|")
	for _, row := range rows {
		line(row)
	}
}
