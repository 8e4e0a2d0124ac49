package record

import (
	"fmt"
	"io"
	"os"

	"github.com/topocast/topocast/internal/outfile"
)

// Write writes the file. The same content gives the same bytes. A file that is
// Unfinished gets no closing line and can be gone on with.
func (f *File) Write(w io.Writer) error {
	out := NewWriter(w, &f.Header)
	for _, s := range f.Sections {
		out.Begin(s)
		out.End(s)
	}
	if f.Unfinished {
		return out.Err()
	}
	return out.Close()
}

// WriteFile writes to a path, where the file appears whole or not at all. Links
// are followed; devices and pipes are written into.
func (f *File) WriteFile(path string) error {
	if err := outfile.Write(path, f.Write); err != nil {
		return fmt.Errorf("record: write file: %w", err)
	}
	return nil
}

// ReadFile reads a file of any version, see Read.
func ReadFile(path string) (*File, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, fmt.Errorf("record: read: %w", err)
	}
	defer f.Close()
	file, err := Read(f)
	if err != nil {
		return nil, fmt.Errorf("%w (%s)", err, path)
	}
	return file, nil
}
