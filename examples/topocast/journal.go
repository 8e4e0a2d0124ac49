package main

import (
	"context"
	"fmt"
	"io"
	"os"
)

// A journal is a file of readings beside the one that a command will write, as
// long as the launcher may end the job at any time: a second after Ctrl-C, or
// at the end of a batch job. The command reconstruct reads it.
type journal struct {
	file *os.File
	stop func() bool // of the notice
}

// journalSuffix makes the journal's name of the file's.
const journalSuffix = ".part"

// beginJournal begins a journal beside a file on rank 0 of a launched job; nil
// otherwise, where signals leave all the time that it takes to save, and where
// there is no place for one.
func beginJournal(ctx context.Context, path string, stderr io.Writer) *journal {
	if launchedRank() != 0 || path == "" || path == standard {
		return nil
	}
	if info, err := os.Stat(path); err == nil && !info.Mode().IsRegular() {
		return nil
	}
	f, err := os.Create(path + journalSuffix)
	if err != nil {
		fmt.Fprintf(stderr, "warning: readings are not kept while they are measured: %v\n", err)
		return nil
	}
	return &journal{f, context.AfterFunc(ctx, func() {
		fmt.Fprintf(stderr, "stopping; if the launcher ends the job before all is saved, topocast reconstruct reads %s\n", f.Name())
	})}
}

// writer is where readings go; nil if they go nowhere.
func (j *journal) writer() io.Writer {
	if j == nil {
		return nil
	}
	return j.file
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
		_ = os.Remove(j.file.Name())
	}
}
