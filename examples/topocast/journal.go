package main

import (
	"context"
	"fmt"
	"io"
	"os"

	"github.com/topocast/topocast/internal/cli"
	"github.com/topocast/topocast/measure/record"
	"github.com/topocast/topocast/mpi"
	"github.com/topocast/topocast/mpi/simnet"
)

// A journal is a file of readings beside the one that a command will write, as
// long as the launcher may end the job at any time: a second after Ctrl-C, or
// at the end of a batch job. The command reconstruct reads it.
type journal struct {
	path string
	file *os.File
	stop func() bool // of the notice
}

// journalSuffix makes the journal's name of the file's.
const journalSuffix = ".part"

// beginJournal begins a journal beside a file on rank 0 of a launched job; nil
// otherwise, where signals leave all the time that it takes to save, and where
// there is no place for one.
func beginJournal(ctx context.Context, path string, stderr io.Writer) *journal {
	if mpi.Launched() != 0 || path == "" || path == cli.Standard {
		return nil
	}
	if info, err := os.Stat(path); err == nil && !info.Mode().IsRegular() {
		return nil
	}
	f, err := os.Create(path + journalSuffix)
	if err != nil {
		fmt.Fprintf(stderr, "warning: measurements are not kept while they are measured: %v\n", err)
		return nil
	}
	return &journal{f.Name(), f, context.AfterFunc(ctx, func() {
		fmt.Fprintf(stderr, "stopping; if the launcher ends the job before all is saved, topocast reconstruct reads %s\n", f.Name())
	})}
}

// beginPart begins the file under way beside the one that topocast measure will
// write, on rank 0, with what the file holds already and a section that is to be
// gone on with, or nil: it takes the place of an earlier one only when all of that is in it. It returns nil where there is no place for one; a
// simulation can be repeated.
func beginPart(ctx context.Context, comm mpi.Communicator, path string, f *record.File, open *record.Section, stderr io.Writer) (*journal, *record.Writer) {
	if _, simulated := comm.(*simnet.Comm); simulated || path == "" || path == cli.Standard {
		return nil, nil
	}
	if info, err := os.Stat(path); err == nil && !info.Mode().IsRegular() {
		return nil, nil
	}
	path += journalSuffix
	const unready = ".new"
	file, err := os.Create(path + unready)
	var w *record.Writer
	if err == nil {
		w = record.NewWriter(file, &f.Header)
		for _, s := range f.Sections {
			w.Begin(s)
			w.End(s)
		}
		if open != nil {
			w.Begin(open)
		}
		if err = w.Err(); err == nil {
			err = os.Rename(path+unready, path)
		}
		if err != nil {
			_ = file.Close()
			_ = os.Remove(path + unready)
		}
	}
	if err != nil {
		fmt.Fprintf(stderr, "warning: measurements are not kept while they are measured: %v\n", err)
		return nil, nil
	}
	j := &journal{path: path, file: file, stop: func() bool { return true }}
	if mpi.Launched() == 0 { // others leave all the time that it takes to save
		j.stop = context.AfterFunc(ctx, func() {
			fmt.Fprintf(stderr, "stopping; if the launcher ends the job before all is saved, topocast measure --resume %s goes on\n", path)
		})
	}
	return j, w
}

// record is where measurements go; nil if they go nowhere.
func (j *journal) record() *record.Writer {
	if j == nil {
		return nil
	}
	return record.NewWriter(j.file, nil)
}

// end closes the journal, and removes it if what it is for is in its place, or
// if nothing came.
func (j *journal) end(saved bool) {
	if j == nil {
		return
	}
	j.stop()
	if info, err := j.file.Stat(); err == nil && info.Size() == 0 {
		saved = true
	}
	_ = j.file.Close() // errors of writing were told when they came
	if saved {
		_ = os.Remove(j.path)
	}
}
