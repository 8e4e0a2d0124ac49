package measure

import (
	"fmt"
	"io"
	"os"
	"slices"

	"github.com/topocast/topocast/internal/outfile"
	"github.com/topocast/topocast/measure/record"
)

// Write writes the result as a file of the format "topocast/measurement" with
// one section, see package record. The same result gives the same bytes.
func (r *Result) Write(w io.Writer) error {
	out := record.NewWriter(w, &r.Header)
	s := r.section()
	out.Begin(s)
	var row []float64
	for i := range r.readings {
		row = r.readings[i].appendRow(row[:0])
		out.Rows(row)
	}
	out.End(s)
	err := out.Err()
	if !s.Unfinished {
		err = out.Close()
	}
	if err != nil {
		return fmt.Errorf("measure: write result: %w", err)
	}
	return nil
}

// WriteFile writes the result to a file, which appears whole or not at all.
// Links are followed; devices and pipes are written into.
func (r *Result) WriteFile(path string) error {
	if err := outfile.Write(path, r.Write); err != nil {
		return fmt.Errorf("measure: write file: %w", err)
	}
	return nil
}

// ReadFile reads a result from a file written by WriteFile.
func ReadFile(path string) (*Result, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, fmt.Errorf("measure: read result: %w", err)
	}
	defer f.Close()
	r, err := ReadResult(f)
	if err != nil {
		return nil, fmt.Errorf("%w (%s)", err, path)
	}
	return r, nil
}

// ReadResult reads the first section of latencies of a file, as
// Write or a Settings.Journal has written it. That of a file under way is
// Stopped by harness.StoppedUnfinished. It refuses what record.Read does, and numbers
// that cannot be: the result is one that Run could have returned. Columns that
// it does not know are left out. An error that wraps ErrFormat says that it is
// another kind of file.
func ReadResult(r io.Reader) (*Result, error) {
	f, err := record.Read(r)
	if err != nil {
		return nil, fmt.Errorf("measure: read result: %w", err)
	}
	result, err := resultOf(f)
	if err != nil {
		return nil, fmt.Errorf("measure: read result: %w", err)
	}
	return result, nil
}

// FromFile makes a result of the first section of latencies of a file, as
// ReadResult does.
func FromFile(f *record.File) (*Result, error) {
	result, err := resultOf(f)
	if err != nil {
		return nil, fmt.Errorf("measure: result of a file: %w", err)
	}
	return result, nil
}

func resultOf(f *record.File) (*Result, error) {
	s := f.Section(KindLatency)
	if s == nil {
		return nil, noLatencies(f)
	}
	rows, err := newRowReader(s, f.Ranks)
	if err != nil {
		return nil, err
	}
	readings := slices.Grow([]Reading(nil), s.NumRows())
	for i := range s.NumRows() {
		x, err := rows.reading(s.Row(i))
		if err != nil {
			return nil, fmt.Errorf("measurement %d: %w", i+1, err)
		}
		readings = append(readings, x)
	}
	return rows.result(f.Header, s, readings)
}

func noLatencies(f *record.File) error {
	var kinds []string
	for _, s := range f.Sections {
		kinds = append(kinds, s.Kind)
	}
	if kinds == nil {
		return fmt.Errorf("the file holds no latencies: nothing was measured yet")
	}
	return fmt.Errorf("the file holds no latencies but %q", slices.Compact(kinds))
}

// ErrFormat says that a file holds no measurement. ReadResult and ReadFile
// return it, wrapped.
var ErrFormat = record.ErrFormat
