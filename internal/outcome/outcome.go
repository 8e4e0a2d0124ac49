package outcome

import (
	"fmt"
	"slices"

	"github.com/topocast/topocast/internal/jsonfile"
	"github.com/topocast/topocast/topology/draw"
)

// An Outcome is what repeating the experiments of one source gave.
type Outcome struct {
	Name     string     `json:"experiment"` // of the command: zhu
	Source   string     `json:"source"`     // author, year, title
	Where    string     `json:"where"`      // on what machine, simulated or real, and under which library
	Sections []*Section `json:"sections"`
	Warnings []string   `json:"warnings"`
	// Detail goes into the JSON alone: what the tables were made from. nil: nothing.
	Detail any `json:"detail,omitempty"`
}

// A Section is one experiment: a table or a figure of the source, and what belongs to it.
type Section struct {
	Title    string       `json:"title"`
	Text     []string     `json:"text"` // paragraphs: what was done, what differs from the source
	Tables   []*Table     `json:"tables"`
	Compared []Comparison `json:"compared"`
	Causes   []string     `json:"causes"` // below them: why numbers differ
	Figures  []Figure     `json:"-"`
}

// A Table is rows of numbers and names.
type Table struct {
	Name    string   `json:"name"` // table-2
	Title   string   `json:"-"`    // above it; "": none
	Columns []Column `json:"columns"`
	Rows    [][]any  `json:"rows"` // a string, a float64 or nil (a number that is not known), one per column
}

// A Column says what stands in it.
type Column struct {
	Name string `json:"name"`
	// Unit of the numbers: "s", "B/s" and "B" are written with the prefix that fits, "%" with two
	// decimals; "" are plain numbers. The column's head has it where the cells do not.
	Unit  string `json:"unit,omitempty"`
	text  bool
	right bool // names stand on the right, for they are numbers with units of their own
}

// Number is a column of numbers.
func Number(name, unit string) Column { return Column{Name: name, Unit: unit} }

// Text is a column of names.
func Text(name string) Column { return Column{Name: name, text: true} }

// values is a column of numbers with their units.
func values(name string) Column { return Column{Name: name, text: true, right: true} }

// left says that a column is one of names, which stand on the left.
func (c Column) left() bool { return c.text && !c.right }

// A Figure is a drawing and the name of its file, without extension.
type Figure struct {
	Name    string
	Picture *draw.Figure
}

// Section begins a section.
func (o *Outcome) Section(title string) *Section {
	s := &Section{Title: title}
	o.Sections = append(o.Sections, s)
	return s
}

// Warn adds a warning, unless the outcome has it already.
func (o *Outcome) Warn(format string, args ...any) {
	if text := fmt.Sprintf(format, args...); !slices.Contains(o.Warnings, text) {
		o.Warnings = append(o.Warnings, text)
	}
}

// Say adds a paragraph.
func (s *Section) Say(format string, args ...any) {
	s.Text = append(s.Text, fmt.Sprintf(format, args...))
}

// Because says why numbers of ours differ from the source's: an input that was chosen, the paper, or a fault of ours.
func (s *Section) Because(format string, args ...any) {
	s.Causes = append(s.Causes, fmt.Sprintf(format, args...))
}

// Table begins a table. Columns of names come before those of numbers.
func (s *Section) Table(name string, columns ...Column) *Table {
	t := &Table{Name: name, Columns: columns}
	s.Tables = append(s.Tables, t)
	return t
}

// Row adds a row: a string per column of names, a float64 (NaN: not known) or an int per column of numbers.
// It panics if it does not fit the columns, which is a mistake of the program.
func (t *Table) Row(cells ...any) {
	if len(cells) != len(t.Columns) {
		panic(fmt.Sprintf("outcome: table %s: a row of %d cells for %d columns", t.Name, len(cells), len(t.Columns)))
	}
	for k, cell := range cells {
		fits := false
		switch v := cell.(type) {
		case string:
			fits = t.Columns[k].text
		case int:
			fits, cells[k] = !t.Columns[k].text, float64(v)
		case float64:
			fits = !t.Columns[k].text
			if jsonfile.Known(v) == nil {
				cells[k] = nil
			}
		}
		if !fits {
			panic(fmt.Sprintf("outcome: table %s: column %s: %v (%T)", t.Name, t.Columns[k].Name, cell, cell))
		}
	}
	t.Rows = append(t.Rows, cells)
}

// Figure adds a figure, unless drawing it failed. It returns that error.
func (s *Section) Figure(name string, picture *draw.Figure, err error) error {
	if err == nil {
		s.Figures = append(s.Figures, Figure{name, picture})
	}
	return err
}
