package main

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"

	"github.com/topocast/topocast/internal/outfile"
	"github.com/topocast/topocast/internal/share"
	"github.com/topocast/topocast/mpi"
)

// standard is the path that means standard input or output.
const standard = "-"

// An outputFile is a file that a command writes at its end: a path, "-" for
// standard output, or "" for none.
type outputFile struct {
	flag   string // by which errors name it
	path   string
	stdout io.Writer
}

// checkOutputs refuses a file that cannot be written, before anything is measured for
// it. It is collective: rank 0, which is to write, tells the others.
func checkOutputs(comm mpi.Communicator, files ...outputFile) error {
	var found error
	for i, f := range files {
		if found == nil && comm.Rank() == 0 {
			found = f.check(files[:i])
		}
	}
	return agree(comm, "output files", found)
}

// agree makes a mistake of the caller that rank 0 has found in something one of all ranks. It is collective.
func agree(comm mpi.Communicator, what string, found error) error {
	refused, failed := share.Star(comm, 0, 0).Agree(found)
	switch {
	case refused != nil:
		return &inputError{refused}
	case failed != nil: // the communicator, which is no mistake of the caller
		return fmt.Errorf("%s: %w", what, failed)
	}
	return nil
}

// check is checkOutputs for one rank; the file must be none of the others.
func (f outputFile) check(others []outputFile) error {
	if f.path == "" {
		return nil
	}
	for _, other := range others {
		if other.path == f.path && f.path != os.DevNull {
			return badInput("%s and %s: both are %s", other.flag, f.flag, f.path)
		}
	}
	if f.path == standard {
		return nil
	}
	if err := outfile.Check(f.path); err != nil {
		return badInput("%s: %w", f.flag, err)
	}
	return nil
}

// save writes the file and returns its name, or "" for none. If the file cannot be
// written, what write has to say is kept in another one: at is its name, and
// the error tells both.
func (f outputFile) save(write func(io.Writer) error) (at string, err error) {
	switch f.path {
	case "":
		return "", nil
	case standard:
		at, err = "standard output", write(f.stdout)
	default:
		at, err = f.path, outfile.Write(f.path, write)
	}
	if err == nil {
		return at, nil
	}
	var inPath *fs.PathError
	if !errors.As(err, &inPath) {
		return "", err // not the file is to blame
	}
	at, failed := keep(filepath.Base(f.path), write)
	if failed != nil {
		return "", fmt.Errorf("%s: %w; and no other place takes it: %w", f.flag, err, failed)
	}
	return at, fmt.Errorf("%s: %w; kept in %s", f.flag, err, at)
}

// keep writes a new file where that is possible: here, at home, or among
// the temporary files, which some clusters delete with the job.
func keep(name string, write func(io.Writer) error) (string, error) {
	if name == standard {
		name = "stdout"
	}
	folders := []string{".", os.TempDir()}
	if home, err := os.UserHomeDir(); err == nil {
		folders = []string{".", home, os.TempDir()}
	}
	var first error
	for _, folder := range folders {
		path, err := keepIn(folder, "kept-*-"+name, write)
		if err == nil {
			return path, nil
		}
		if first == nil {
			first = err
		}
	}
	return "", first
}

func keepIn(folder, pattern string, write func(io.Writer) error) (string, error) {
	f, err := os.CreateTemp(folder, pattern)
	if err != nil {
		return "", err
	}
	err = write(f)
	if err == nil {
		err = f.Sync()
	}
	if closing := f.Close(); err == nil {
		err = closing
	}
	if err != nil {
		os.Remove(f.Name())
		return "", err
	}
	return f.Name(), nil
}

// reportWriter is where a command reports: standard output, unless one of its
// files goes there.
func reportWriter(c *cobra.Command, files ...outputFile) io.Writer {
	for _, f := range files {
		if f.path == standard {
			return c.ErrOrStderr()
		}
	}
	return c.OutOrStdout()
}

// A checkedWriter keeps the first error, for those who print and do not look.
type checkedWriter struct {
	io.Writer
	err error
}

func (w *checkedWriter) Write(p []byte) (int, error) {
	if w.err != nil {
		return 0, w.err
	}
	n, err := w.Writer.Write(p)
	w.err = err
	return n, err
}
