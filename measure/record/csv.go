package record

import (
	"bufio"
	"fmt"
	"io"
	"math"
	"strings"
)

// WriteCSV writes a section as a table: a line of its columns, "size" as
// "size_bytes" in bytes, and the hosts of the ranks where it has "from" and
// "to". What was not measured is an empty cell. Numbers have a point and all
// their digits.
func (f *File) WriteCSV(w io.Writer, s *Section) error {
	b := bufio.NewWriter(w) // keeps the first error for Flush
	size, from, to := s.Column(ColumnSize), s.Column(ColumnFrom), s.Column(ColumnTo)
	hosts := from >= 0 && to >= 0
	for i, name := range s.Columns {
		if i > 0 {
			b.WriteByte(',')
		}
		if i == size {
			name = "size_bytes"
		}
		b.WriteString(quoted(name))
	}
	if hosts {
		b.WriteString(",from_host,to_host")
	}
	b.WriteByte('\n')
	var number []byte
	for k := range s.NumRows() {
		row := s.Row(k)
		for i, v := range row {
			if i > 0 {
				b.WriteByte(',')
			}
			if i == size {
				v = float64(s.Sizes[int(v)])
			}
			if !math.IsNaN(v) {
				number = appendNumber(number[:0], v)
				b.Write(number)
			}
		}
		if hosts {
			b.WriteByte(',')
			b.WriteString(quoted(f.Hosts[int(row[from])]))
			b.WriteByte(',')
			b.WriteString(quoted(f.Hosts[int(row[to])]))
		}
		b.WriteByte('\n')
	}
	if err := b.Flush(); err != nil {
		return fmt.Errorf("record: write table: %w", err)
	}
	return nil
}

// quoted is a cell of text, in quotes where it needs them (RFC 4180).
func quoted(text string) string {
	if !strings.ContainsAny(text, ",\"\r\n") {
		return text
	}
	return `"` + strings.ReplaceAll(text, `"`, `""`) + `"`
}
