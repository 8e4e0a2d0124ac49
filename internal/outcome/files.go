package outcome

import (
	"encoding/csv"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strconv"

	"github.com/topocast/topocast/internal/jsonfile"
	"github.com/topocast/topocast/internal/outfile"
	"github.com/topocast/topocast/internal/words"
	"github.com/topocast/topocast/topology/draw"
)

// WriteJSON writes the outcome for programs: numbers with all digits, in the units of their
// columns; what is not known is null.
func (o *Outcome) WriteJSON(w io.Writer) error {
	type column struct {
		Name string `json:"name"`
		Unit string `json:"unit,omitempty"`
	}
	type table struct {
		Name    string   `json:"name"`
		Title   string   `json:"title,omitempty"`
		Columns []column `json:"columns"`
		Rows    [][]any  `json:"rows"`
	}
	type comparison struct {
		What    string   `json:"what"`
		Unit    string   `json:"unit,omitempty"`
		Kind    string   `json:"kind"`
		Printed *float64 `json:"printed"`
		Ours    *float64 `json:"ours"`  // null: not reproduced
		Off     *float64 `json:"off"`   // relative to the printed one
		Holds   bool     `json:"holds"` // within 10 %, or a bound that holds
	}
	type section struct {
		Title    string       `json:"title"`
		Text     []string     `json:"text"`
		Tables   []table      `json:"tables"`
		Compared []comparison `json:"compared"`
		Causes   []string     `json:"causes"`
	}
	type tally struct {
		All     int      `json:"all"`
		Hold    int      `json:"hold"` // within 10 %, or bounds that hold
		Missing int      `json:"not_reproduced"`
		Off     *float64 `json:"median_off"` // of those that were reproduced
	}
	type summary struct {
		Measured  tally `json:"measured"` // under the conditions of the source
		Otherwise tally `json:"other_conditions"`
		Computed  tally `json:"computed"`
		Bounds    tally `json:"bounds"`
		Inputs    tally `json:"inputs"`
	}
	counted := func(t Tally) tally { return tally{t.All, t.Hold, t.Missing, jsonfile.Known(t.Off)} }
	sum := o.Summary()
	out := struct {
		Format   string    `json:"format"`
		Version  int       `json:"version"`
		Name     string    `json:"experiment"`
		Source   string    `json:"source"`
		Where    string    `json:"where"`
		Sections []section `json:"sections"`
		Summary  summary   `json:"summary"`
		Warnings []string  `json:"warnings"`
		Detail   any       `json:"detail,omitempty"`
	}{
		"topocast/experiment", 2, o.Name, o.Source, o.Where,
		[]section{},
		summary{counted(sum.Measured), counted(sum.Otherwise), counted(sum.Computed), counted(sum.Bounds), counted(sum.Inputs)},
		append([]string{}, o.Warnings...), o.Detail,
	}
	for _, s := range o.Sections {
		x := section{s.Title, append([]string{}, s.Text...), []table{}, []comparison{}, append([]string{}, s.Causes...)}
		for _, t := range s.Tables {
			y := table{Name: t.Name, Title: t.Title, Rows: [][]any{}}
			for _, c := range t.Columns {
				y.Columns = append(y.Columns, column{c.Name, c.Unit})
			}
			for _, row := range t.Rows {
				cells := make([]any, len(row))
				for k, cell := range row {
					if cells[k] = cell; t.Columns[k].text {
						continue
					}
					if v, is := cell.(float64); is {
						cells[k] = jsonfile.Known(v)
					}
				}
				y.Rows = append(y.Rows, cells)
			}
			x.Tables = append(x.Tables, y)
		}
		for _, c := range s.Compared {
			x.Compared = append(x.Compared, comparison{
				c.What, c.Unit, c.Kind.String(), jsonfile.Known(c.Printed), jsonfile.Known(c.Ours), jsonfile.Known(c.Off()), c.Holds(),
			})
		}
		out.Sections = append(out.Sections, x)
	}
	return json.NewEncoder(w).Encode(out)
}

// WriteCSV writes all tables of some outcomes, a line per cell, so that tables of any columns are one file: what
// is not known is empty. Of what the source prints, the rows are the numbers' names, with the kind of each.
func WriteCSV(w io.Writer, outcomes ...*Outcome) error {
	out := csv.NewWriter(w)
	line := func(cells ...string) { _ = out.Write(cells) } // Error, below, has the first one
	line("experiment", "section", "table", "row", "column", "unit", "value")
	number := func(x float64) string {
		if jsonfile.Known(x) == nil {
			return ""
		}
		return strconv.FormatFloat(x, 'g', -1, 64)
	}
	for _, o := range outcomes {
		for _, s := range o.Sections {
			for _, t := range s.Tables {
				for i, row := range t.Rows {
					for k, cell := range row {
						c := t.Columns[k]
						text := fmt.Sprint(cell)
						if v, is := cell.(float64); is {
							text = number(v)
						}
						line(o.Name, s.Title, t.Name, fmt.Sprint(i), c.Name, c.Unit, text)
					}
				}
			}
			for _, c := range s.Compared {
				line(o.Name, s.Title, "printed", c.What, "kind", "", c.Kind.String())
				line(o.Name, s.Title, "printed", c.What, "printed", c.Unit, number(c.Printed))
				line(o.Name, s.Title, "printed", c.What, "ours", c.Unit, number(c.Ours))
			}
		}
	}
	out.Flush()
	return out.Error()
}

// WriteFigures writes each figure as SVG into a folder, as "zhu-figure-4.svg", and makes the folder if it is not
// there. It returns the paths.
func (o *Outcome) WriteFigures(folder string) ([]string, error) {
	if err := os.MkdirAll(folder, 0o777); err != nil {
		return nil, err
	}
	var paths []string
	for _, s := range o.Sections {
		for _, f := range s.Figures {
			path := filepath.Join(folder, o.Name+"-"+f.Name+".svg")
			if err := outfile.Write(path, f.Picture.SVG); err != nil {
				return nil, err
			}
			paths = append(paths, path)
		}
	}
	return paths, nil
}

// WritePage writes outcomes as one HTML page that needs nothing else: first of all sources what they print
// and what came out, then each with its tables and figures.
func WritePage(w io.Writer, title string, outcomes ...*Outcome) error {
	p := &draw.Page{Title: title}
	summary := draw.Table{Head: summaryHead(), Left: 1}
	for _, o := range outcomes {
		if sum := o.Summary(); sum.sentences() != "" {
			summary.Rows = append(summary.Rows, sum.row(o.Name))
		}
	}
	if len(summary.Rows) > 0 {
		p.Parts = append(p.Parts, draw.Part{
			Title: "Printed and repeated", Tables: []draw.Table{summary},
			Text: []string{"Measured are printed numbers that our experiment gave under the conditions that the source states. Only they count as agreement. Other conditions are fewer hosts, ranks or repetitions, which the sections name. Computed are numbers that follow from equations and tables of the source. Bounds are printed as at least, at most or about (within a quarter). Inputs are printed numbers by which a simulated machine was made, and repeat nothing. The tables below have each of them."},
		})
	}
	for _, o := range outcomes {
		chapter := draw.Part{Title: o.Name + ": " + o.Source}
		if o.Where != "" {
			chapter.Text = append(chapter.Text, o.Where)
		}
		p.Parts = append(p.Parts, chapter)
		for _, s := range o.Sections {
			part := draw.Part{Title: s.Title, Depth: 1, Text: s.Text}
			for _, t := range s.Tables {
				part.Tables = append(part.Tables, t.drawn())
			}
			for _, t := range s.comparisons() {
				part.Tables = append(part.Tables, t.drawn())
			}
			for _, cause := range s.Causes {
				part.After = append(part.After, causeHead+cause)
			}
			for _, f := range s.Figures {
				part.Figures = append(part.Figures, f.Picture)
			}
			p.Parts = append(p.Parts, part)
		}
		if len(o.Warnings) > 0 {
			p.Parts = append(p.Parts, draw.Part{Title: words.Count(len(o.Warnings), "warning"), Depth: 1, After: o.Warnings})
		}
	}
	return draw.WritePage(w, p)
}

func (t *Table) drawn() draw.Table {
	d := draw.Table{Title: t.Title, Rows: t.cells()}
	for _, c := range t.Columns {
		d.Head = append(d.Head, c.head())
		if c.text && !c.right {
			d.Left++
		}
	}
	return d
}
