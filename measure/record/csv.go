package record

import (
	"encoding/csv"
	"fmt"
	"io"
	"math"
	"slices"
)

// WriteCSV writes a section as a table: a line of its columns, "size" as
// "size_bytes" in bytes, and the hosts of the ranks where it has "from" and
// "to". What was not measured is an empty cell. Numbers have a point and all
// their digits.
func (f *File) WriteCSV(w io.Writer, s *Section) error {
	size, from, to := s.Column(ColumnSize), s.Column(ColumnFrom), s.Column(ColumnTo)
	hosts := from >= 0 && to >= 0
	cells := slices.Clone(s.Columns)
	if size >= 0 {
		cells[size] = "size_bytes"
	}
	if hosts {
		cells = append(cells, "from_host", "to_host")
	}
	table := csv.NewWriter(w)
	_ = table.Write(cells) // Error has the first error of all
	for k := range s.NumRows() {
		row := s.Row(k)
		cells = cells[:0]
		for i, v := range row {
			if i == size {
				v = float64(s.Sizes[int(v)])
			}
			if math.IsNaN(v) {
				cells = append(cells, "")
			} else {
				cells = append(cells, string(appendNumber(nil, v)))
			}
		}
		if hosts {
			cells = append(cells, f.Hosts[int(row[from])], f.Hosts[int(row[to])])
		}
		_ = table.Write(cells)
	}
	table.Flush()
	if err := table.Error(); err != nil {
		return fmt.Errorf("record: write table: %w", err)
	}
	return nil
}
