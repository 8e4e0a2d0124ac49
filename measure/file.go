package measure

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/topocast/topocast/internal/jsonfile"
	"github.com/topocast/topocast/internal/outfile"
	"github.com/topocast/topocast/measure/harness"
	"github.com/topocast/topocast/mpi"
)

// Write writes the result as JSON of the format "topocast/measurement",
// version 2: the conditions, then one line per reading, whose numbers are named
// by "columns". The same result gives the same bytes.
func (r *Result) Write(w io.Writer) error {
	head, err := json.Marshal(r.header())
	if err != nil {
		return fmt.Errorf("measure: write result: %w", err)
	}
	b := bufio.NewWriter(w)
	b.Write(head[:len(head)-1]) // bufio keeps the first error for Flush
	b.WriteString(`,"readings":[`)
	var line []byte
	for i := range r.readings {
		x := &r.readings[i]
		line = line[:0]
		if i > 0 {
			line = append(line, ',')
		}
		line = appendRow(append(line, '\n'), x)
		b.Write(line)
	}
	b.WriteString("\n]}\n")
	if err := b.Flush(); err != nil {
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

// ReadResult reads what Write has written, or what is left of a
// Settings.Journal; the result is then Stopped by StoppedUnfinished. It refuses
// other formats, newer versions, keys that it does not know, and numbers that cannot
// be: the result is one that Run could have returned. An error that wraps
// ErrFormat says that it is another kind of file.
func ReadResult(r io.Reader) (*Result, error) {
	data, err := io.ReadAll(r)
	if err != nil {
		return nil, fmt.Errorf("measure: read result: %w", err)
	}
	result, err := decode(data)
	if err != nil {
		return nil, fmt.Errorf("measure: read result: %w", err)
	}
	return result, nil
}

// ErrFormat says that a file holds no measurement. ReadResult and ReadFile
// return it, wrapped.
var ErrFormat = errors.New("not a measurement of topocast")

func decode(data []byte) (*Result, error) {
	var kind struct {
		Format  string `json:"format"`
		Version int    `json:"version"`
	}
	// The first value alone: a journal is many.
	if err := json.NewDecoder(bytes.NewReader(data)).Decode(&kind); err != nil {
		if !bytes.Contains(data, []byte(fileFormat)) {
			return nil, fmt.Errorf("%w: not a whole JSON file: %w", ErrFormat, err)
		}
		return nil, fmt.Errorf("not a whole JSON file: %w", err)
	}
	switch {
	case kind.Format != fileFormat && kind.Format != journalFormat:
		return nil, fmt.Errorf("%w: format %q: want %q", ErrFormat, kind.Format, fileFormat)
	case kind.Version < 1:
		return nil, fmt.Errorf("version %d: want %d", kind.Version, fileVersion)
	case kind.Version > fileVersion:
		return nil, fmt.Errorf("version %d is newer than this program: want %d", kind.Version, fileVersion)
	case kind.Format == journalFormat:
		return decodeJournal(data)
	}
	var f file
	if err := jsonfile.Decode(bytes.NewReader(data), &f); err != nil {
		return nil, err
	}
	if err := f.check(); err != nil {
		return nil, err
	}
	result := f.result()
	for i, row := range f.Readings {
		x, err := f.reading(row)
		if err != nil {
			return nil, fmt.Errorf("reading %d: %w", i, err)
		}
		if i > 0 && compareReadings(result.readings[i-1], x) >= 0 {
			return nil, fmt.Errorf("reading %d: not in ascending order of repetition, size, from and to", i)
		}
		result.readings = append(result.readings, x)
	}
	return result, nil
}

// shareResult gives the result of rank 0 to all ranks, as the bytes of its
// file. It is collective.
func shareResult(comm mpi.Communicator, r *Result) (*Result, error) {
	var data []byte
	if comm.Rank() == 0 {
		var b bytes.Buffer
		if err := r.Write(&b); err != nil {
			return nil, err
		}
		data = b.Bytes()
	}
	data, err := harness.Tell(comm, data)
	if err != nil {
		return nil, fmt.Errorf("measure: sharing the result: %w", err)
	}
	if comm.Rank() == 0 {
		return r, nil
	}
	return ReadResult(bytes.NewReader(data))
}
