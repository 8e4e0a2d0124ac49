package outcome

import (
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/topocast/topocast/internal/quantity"
	"github.com/topocast/topocast/internal/words"
)

// width is that of a terminal which nobody has widened.
const width = 80

// WriteText writes the outcome for a terminal of 80 columns.
func (o *Outcome) WriteText(w io.Writer) error {
	var b strings.Builder
	paragraph := func(text string) { b.WriteString(words.Fill(text, width) + "\n") }
	paragraph(o.Source)
	if o.Where != "" {
		paragraph(o.Where)
	}
	for _, s := range o.Sections {
		b.WriteByte('\n')
		paragraph(s.Title)
		b.WriteString(strings.Repeat("-", min(width, utf8.RuneCountInString(s.Title))) + "\n")
		for _, text := range s.Text {
			paragraph(text)
		}
		for _, t := range s.Tables {
			b.WriteByte('\n')
			t.write(&b)
		}
		for _, t := range s.comparisons() {
			b.WriteByte('\n')
			t.write(&b)
		}
		if len(s.Causes) > 0 {
			b.WriteByte('\n')
			for _, cause := range s.Causes {
				paragraph(causeHead + cause)
			}
		}
	}
	if text := o.Summary().sentences(); text != "" {
		b.WriteByte('\n')
		paragraph(text)
	}
	if len(o.Warnings) > 0 {
		b.WriteByte('\n')
		for _, warning := range o.Warnings {
			paragraph("warning: " + warning)
		}
	}
	_, err := io.WriteString(w, b.String())
	return err
}

// causeHead begins what is said of the cause of a difference.
const causeHead = "Why: "

// notReproduced stands where our number, and so its difference, would be.
const notReproduced = "not reproduced"

// comparisons are tables of what the source prints, one for each kind.
func (s *Section) comparisons() []*Table {
	var all []*Table
	for _, k := range []struct {
		kinds       []Kind
		title, last string
	}{
		{[]Kind{Measured}, "printed by the source, and measured by us under its conditions", "off by"},
		{[]Kind{Otherwise}, "printed by the source, and measured by us under other conditions", "off by"},
		{[]Kind{Computed}, "printed by the source, and computed from its own equations and tables", "off by"},
		{[]Kind{AtLeast, AtMost, About}, "bounds that the source prints, and ours (about: within a quarter)", "holds"},
		{[]Kind{Input}, "inputs: printed by the source, by which the machine was made, and measured on it", "off by"},
	} {
		t := &Table{Name: "printed", Title: k.title, Columns: []Column{Text("what")}}
		for _, name := range []string{"printed", "ours", k.last} {
			t.Columns = append(t.Columns, Column{Name: name, text: true, right: true})
		}
		for _, c := range s.Compared {
			if slices.Contains(k.kinds, c.Kind) {
				t.Rows = append(t.Rows, c.cells())
			}
		}
		if t.Rows != nil {
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
		last = notReproduced
	}
	return []any{c.What, printed, withUnit(c.Ours, c.Unit), last}
}

// signed is a difference in percent with its sign.
func signed(x float64) string {
	if x > 0 {
		return "+" + quantity.Percent(x)
	}
	return quantity.Percent(x)
}

func withUnit(x float64, unit string) string {
	text := show(x, unit)
	if unit == "%" && !math.IsNaN(x) {
		text += " %"
	}
	return text
}

// show is a number as a cell has it.
func show(x float64, unit string) string {
	switch {
	case math.IsNaN(x):
		return "-"
	case unit == "s":
		return quantity.Seconds(x)
	case unit == "B/s":
		return quantity.Rate(x)
	case unit == "B" && x == math.Trunc(x) && math.Abs(x) < 1<<53:
		return quantity.Bytes(int64(x))
	case unit == "%":
		return fmt.Sprintf("%.2f", x)
	}
	return fmt.Sprintf("%.4g", x)
}

// head is the name of a column with the unit that its cells do not have.
func (c Column) head() string {
	switch c.Unit {
	case "", "s", "B/s", "B":
		return c.Name
	}
	return c.Name + " (" + c.Unit + ")"
}

// decimals is how many plain numbers of column k have, so that the largest has three digits or all before the
// point, and the column is even; 0 if all are whole.
func (t *Table) decimals(k int) int {
	largest, whole := 0.0, true
	for _, row := range t.Rows {
		if v, is := row[k].(float64); is && !math.IsNaN(v) && !math.IsInf(v, 0) {
			largest = max(largest, math.Abs(v))
			whole = whole && v == math.Trunc(v)
		}
	}
	if whole {
		return 0
	}
	const digits = 3
	return min(9, max(0, digits-1-int(math.Floor(math.Log10(largest)))))
}

// cells are the rows as text.
func (t *Table) cells() [][]string {
	rows := make([][]string, len(t.Rows))
	decimals := make([]int, len(t.Columns))
	for k := range t.Columns {
		decimals[k] = t.decimals(k)
	}
	for i, row := range t.Rows {
		for k, cell := range row {
			text := ""
			switch v := cell.(type) {
			case string:
				text = v
			case int:
				if text = fmt.Sprint(v); t.Columns[k].Unit != "" {
					text = show(float64(v), t.Columns[k].Unit)
				}
			case float64:
				if text = show(v, t.Columns[k].Unit); t.Columns[k].Unit == "" && !math.IsNaN(v) {
					text = strconv.FormatFloat(v, 'f', decimals[k], 64)
				}
			}
			rows[i] = append(rows[i], text)
		}
	}
	return rows
}

// write aligns names on the left, and numbers on the right, by what is seen rather than by bytes. What is wider than
// a terminal is made to fit: names are broken, and columns that still have no room follow below the others.
func (t *Table) write(b *strings.Builder) {
	if t.Title != "" {
		b.WriteString(words.Fill(t.Title, width) + "\n")
	}
	head := make([]string, len(t.Columns))
	for k, c := range t.Columns {
		head[k] = c.head()
	}
	rows := t.narrow(append([][]string{head}, t.cells()...))
	have := widths(rows)
	for i, part := range t.parts(have) {
		if i > 0 {
			b.WriteByte('\n')
		}
		for _, row := range rows {
			var line strings.Builder
			for n, k := range part {
				blank := strings.Repeat(" ", have[k]-utf8.RuneCountInString(row[k]))
				if n > 0 {
					line.WriteString(strings.Repeat(" ", gap))
				}
				if t.left(k) {
					line.WriteString(row[k] + blank)
				} else {
					line.WriteString(blank + row[k])
				}
			}
			if text := strings.TrimRight(line.String(), " "); text != "" { // else another part has what goes on here
				b.WriteString(text + "\n")
			}
		}
	}
}
