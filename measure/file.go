package measure

import (
	"fmt"
	"slices"

	"github.com/topocast/topocast/measure/record"
)

// File is the result as a file with one section, which its methods Write and WriteFile write. The same result gives the same
// bytes.
func (r *Result) File() *record.File {
	s := r.Section()
	return &record.File{Header: r.Header, Sections: []*record.Section{s}, Unfinished: s.Unfinished}
}

// ReadFile reads the latencies of a file, see FromFile. An error that wraps record.ErrFormat says that it is another
// kind of file.
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

// FromFile makes a result of the first section of latencies of a file, as record.Read has read it. That of a file under way
// is Stopped by harness.StoppedUnfinished. It refuses numbers that cannot be: the result is one that Run could have
// returned. Columns that it does not know are left out.
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
