package cli

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

// Standard is the path that means standard input or output.
const Standard = "-"

// An Output is a file that a command writes at its end: a path, "-" for
// standard output, or "" for none.
type Output struct {
	Flag   string // by which errors name it
	Path   string
	stdout io.Writer
}

// NewOutput returns the file of a flag. Path "-" is stdout.
func NewOutput(flag, path string, stdout io.Writer) Output { return Output{flag, path, stdout} }

// CheckOutputs refuses a file that cannot be written, before anything is measured for
// it. It is collective: rank 0, which is to write, tells the others.
func CheckOutputs(comm mpi.Communicator, files ...Output) error {
	var found error
	for i, f := range files {
		if found == nil && comm.Rank() == 0 {
			found = f.Check(files[:i])
		}
	}
	return Agree(comm, "output files", found)
}

// Agree makes a mistake of the caller that rank 0 has found in something one of all ranks. It is collective.
func Agree(comm mpi.Communicator, what string, found error) error {
	refused, failed := share.Star(comm, 0, 0).Agree(found)
	switch {
	case refused != nil:
		return &InputError{refused}
	case failed != nil: // the communicator, which is no mistake of the caller
		return fmt.Errorf("%s: %w", what, failed)
	}
	return nil
}

// Check is CheckOutputs for one rank; the file must be none of the others.
func (f Output) Check(others []Output) error {
	if f.Path == "" {
		return nil
	}
	for _, other := range others {
		if other.Path == f.Path && f.Path != os.DevNull {
			return BadInput("%s and %s: both are %s", other.Flag, f.Flag, f.Path)
		}
	}
	if f.Path == Standard {
		return nil
	}
	if err := outfile.Check(f.Path); err != nil {
		return BadInput("%s: %w", f.Flag, err)
	}
	return nil
}

// Save writes the file and returns its name, or "" for none. If the file cannot be
// written, what write has to say is kept in another one: at is its name, and
// the error tells both.
func (f Output) Save(write func(io.Writer) error) (at string, err error) {
	switch f.Path {
	case "":
		return "", nil
	case Standard:
		at, err = "standard output", write(f.stdout)
	default:
		at, err = f.Path, outfile.Write(f.Path, write)
	}
	if err == nil {
		return at, nil
	}
	var inPath *fs.PathError
	if !errors.As(err, &inPath) {
		return "", err // not the file is to blame
	}
	at, failed := Keep(filepath.Base(f.Path), write)
	if failed != nil {
		return "", fmt.Errorf("%s: %w; and no other place takes it: %w", f.Flag, err, failed)
	}
	return at, fmt.Errorf("%s: %w; kept in %s", f.Flag, err, at)
}

// SaveAndSay is Save, with one line on w that says where the file is. Nothing is said of standard output.
func (f Output) SaveAndSay(w io.Writer, what string, write func(io.Writer) error) error {
	at, err := f.Save(write)
	if err == nil && at != "" && f.Path != Standard {
		_, err = fmt.Fprintf(w, "%s written to %s\n", what, at)
	}
	return err
}

// Keep writes a new file where that is possible: here, at home, or among
// the temporary files, which some clusters delete with the job.
func Keep(name string, write func(io.Writer) error) (string, error) {
	if name == Standard {
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

// ReportWriter is where a command reports: standard output, unless one of its
// files goes there.
func ReportWriter(c *cobra.Command, files ...Output) io.Writer {
	for _, f := range files {
		if f.Path == Standard {
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

// Fd is the descriptor of what is written to; without one it is that of nothing.
func (w *checkedWriter) Fd() uintptr {
	if f, ok := w.Writer.(interface{ Fd() uintptr }); ok {
		return f.Fd()
	}
	return ^uintptr(0)
}

func (w *checkedWriter) Write(p []byte) (int, error) {
	if w.err != nil {
		return 0, w.err
	}
	n, err := w.Writer.Write(p)
	w.err = err
	return n, err
}
