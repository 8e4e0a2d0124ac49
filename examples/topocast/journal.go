package main

import (
	"context"
	"fmt"
	"io"
	"os"
	"slices"

	"github.com/topocast/topocast/internal/cli"
	"github.com/topocast/topocast/measure/record"
	"github.com/topocast/topocast/mpi"
)

// A journal is a file of measurements beside the one that a command will write, with what is measured until then: the
// launcher may end the job at any time, a second after Ctrl-C or at the end of a batch job.
type journal struct {
	path string
	file *os.File
	stop func() bool // of the notice
}

// journalSuffix makes the journal's name of the file's.
const journalSuffix = ".part"

// beginJournal begins the journal of a file with what begin writes. It takes the place of an earlier one only when all of
// that is in it. It returns nil where there is no place for one. After a signal to a launched job a notice says what
// the journal is for: other jobs have all the time that it takes to save.
func beginJournal(ctx context.Context, path, use string, stderr io.Writer, begin func(io.Writer) error) *journal {
	if path == "" || path == cli.Standard {
		return nil
	}
	if info, err := os.Stat(path); err == nil && !info.Mode().IsRegular() {
		return nil
	}
	path += journalSuffix
	const unready = ".new"
	file, err := os.Create(path + unready)
	if err == nil {
		if err = begin(file); err == nil {
			err = os.Rename(path+unready, path)
		}
		if err != nil {
			_ = file.Close()
			_ = os.Remove(path + unready)
		}
	}
	if err != nil {
		fmt.Fprintf(stderr, "warning: measurements are not kept while they are measured: %v\n", err)
		return nil
	}
	j := &journal{path: path, file: file, stop: func() bool { return true }}
	if mpi.Launched() == 0 {
		j.stop = context.AfterFunc(ctx, func() {
			fmt.Fprintf(stderr, "stopping; if the launcher ends the job before all is saved, "+use+"\n", path)
		})
	}
	return j
}

// record is where measurements go; nil if they go nowhere.
func (j *journal) record() *record.Writer {
	if j == nil {
		return nil
	}
	return record.NewWriter(j.file, nil)
}

// end closes the journal, and removes it if what it is for is in its place, or
// if no measurement is in it.
func (j *journal) end(saved bool) {
	if j == nil {
		return
	}
	j.stop()
	info, unknown := j.file.Stat()
	_ = j.file.Close() // errors of writing were printed when they came
	saved = saved || unknown == nil && info.Size() == 0
	if !saved {
		f, err := cli.ReadFile(j.path, record.Read)
		saved = err == nil && !slices.ContainsFunc(f.Sections, func(s *record.Section) bool { return s.NumRows() > 0 })
	}
	if saved {
		_ = os.Remove(j.path)
	}
}
