package measure

import (
	"fmt"
	"io"
	"slices"

	"github.com/topocast/topocast/measure/record"
)

// file is the result as a file with one section.
func (r *Result) file() *record.File {
	s := r.Section()
	return &record.File{Header: r.Header, Sections: []*record.Section{s}, Unfinished: s.Unfinished}
}

// Write writes the result as a file of the format "topocast/measurement" with
// one section, see package record. The same result gives the same bytes.
func (r *Result) Write(w io.Writer) error { return r.file().Write(w) }

// WriteFile writes the result to a file, which appears whole or not at all.
// Links are followed; devices and pipes are written into.
func (r *Result) WriteFile(path string) error { return r.file().WriteFile(path) }

// ReadFile reads a result from a file written by WriteFile.
func ReadFile(path string) (*Result, error) {
	f, err := record.ReadFile(path)
	if err != nil {
		return nil, fmt.Errorf("measure: read result: %w", err)
	}
	r, err := FromFile(f)
	if err != nil {
		return nil, fmt.Errorf("%w (%s)", err, path)
	}
	return r, nil
}

// ReadResult reads the first section of latencies of a file, as
// Write or a Settings.Record has written it. That of a file under way is
// Stopped by harness.StoppedUnfinished. It refuses what record.Read does, and numbers
// that cannot be: the result is one that Run could have returned. Columns that
// it does not know are left out. An error that wraps record.ErrFormat says that it is
// another kind of file.
func ReadResult(r io.Reader) (*Result, error) {
	f, err := record.Read(r)
	if err != nil {
		return nil, fmt.Errorf("measure: read result: %w", err)
	}
	return FromFile(f)
}

// FromFile makes a result of the first section of latencies of a file, as
// ReadResult does.
func FromFile(f *record.File) (*Result, error) {
	s := f.Section(KindLatency)
	if s == nil {
		return nil, fmt.Errorf("measure: read result: %w", noLatencies(f))
	}
	r, err := resultOf(f, s)
	if err != nil {
		return nil, fmt.Errorf("measure: read result: %w", err)
	}
	return r, nil
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
