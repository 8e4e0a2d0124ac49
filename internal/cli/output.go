package cli

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"

	"github.com/spf13/cobra"

	"github.com/topocast/topocast/internal/outfile"
	"github.com/topocast/topocast/internal/share"
	"github.com/topocast/topocast/mpi"
)

// Standard is the path that means standard input or output.
const Standard = "-"

// An Output is a flag that names the file which a command writes at its end: a path, "-" for
// standard output, or "" for none.
type Output struct {
	Flag    string // by which errors name it
	Path    string
	command *cobra.Command
	flags   *Flags
}

// Output adds the flag of a file to a command. Before the command works, the file is checked: it can be
// written, no other file of the command is the same, and it is not standard output if JSON goes there.
func (s *Flags) Output(c *cobra.Command, name, shorthand, path, usage string) *Output {
	o := (&Output{Flag: "--" + name, command: c, flags: s}).Another(path)
	c.Flags().StringVarP(&o.Path, name, shorthand, path, usage)
	return o
}

// Another returns another file of the same flag, which is checked with those of the command.
func (o *Output) Another(path string) *Output {
	other := &Output{o.Flag, path, o.command, o.flags}
	o.flags.outputs = append(o.flags.outputs, other)
	return other
}

// outputsOf are the files of a command.
func (s *Flags) outputsOf(c *cobra.Command) []*Output {
	var of []*Output
	for _, o := range s.outputs {
		if o.command == c {
			of = append(of, o)
		}
	}
	return of
}

// checkOutputs refuses a file that cannot be written, before anything is measured for
// it. It is collective: rank 0, which is to write, tells the others.
func checkOutputs(comm mpi.Communicator, files ...*Output) error {
	var found error
	if comm.Rank() == 0 {
		found = check(files)
	}
	return Agree(comm, "output files", found)
}

// Agree makes a mistake of the caller that rank 0 has found in something one of all ranks. It is collective.
func Agree(comm mpi.Communicator, what string, found error) error {
	refused, failed := share.Star(comm, 0, 0).Agree(found)
	switch {
	case refused != nil:
		return BadInput("%w", refused)
	case failed != nil: // the communicator, which is no mistake of the caller
		return fmt.Errorf("%s: %w", what, failed)
	}
	return nil
}

// Check refuses a file that cannot be written, for a command that works on no ranks. Flags.Run checks the files of others.
func (o *Output) Check() error { return check([]*Output{o}) }

// check is checkOutputs for one rank.
func check(files []*Output) error {
	for i, f := range files {
		if f.Path == "" {
			continue
		}
		for _, other := range files[:i] {
			if other.Path == f.Path && f.Path != os.DevNull {
				return BadInput("%s and %s: both are %s", other.Flag, f.Flag, f.Path)
			}
		}
		if f.Path == Standard {
			continue
		}
		if err := outfile.Check(f.Path); err != nil {
			return BadInput("%s: %w", f.Flag, err)
		}
	}
	return nil
}

// Save writes the file and returns its name, or "" for none. If the file cannot be
// written, what write has to say is kept in another one: at is its name, and
// the error tells both.
func (o *Output) Save(write func(io.Writer) error) (at string, err error) {
	switch o.Path {
	case "":
		return "", nil
	case Standard:
		at, err = "standard output", write(o.command.OutOrStdout())
	default:
		at, err = o.Path, outfile.Write(o.Path, write)
	}
	if err == nil {
		return at, nil
	}
	return o.Elsewhere(err, write)
}

// Elsewhere keeps what was to go into the file in another one, after an error that it returns with the name of that file.
func (o *Output) Elsewhere(err error, write func(io.Writer) error) (at string, _ error) {
	var inPath *fs.PathError
	if !errors.As(err, &inPath) {
		return "", err // not the file is to blame
	}
	at, failed := keep(filepath.Base(o.Path), write)
	if failed != nil {
		return "", fmt.Errorf("%s: %w; and no other place takes it: %w", o.Flag, err, failed)
	}
	return at, fmt.Errorf("%s: %w; kept in %s", o.Flag, err, at)
}

// SaveAndSay is Save, with one line on standard output that says where the file is. Nothing is said of standard output.
func (o *Output) SaveAndSay(what string, write func(io.Writer) error) error {
	at, err := o.Save(write)
	if err == nil && at != "" && o.Path != Standard {
		_, err = fmt.Fprintf(o.command.OutOrStdout(), "%s written to %s\n", what, at)
	}
	return err
}

// keep writes a new file where that is possible: here, at home, or among
// the temporary files, which some clusters delete with the job.
func keep(name string, write func(io.Writer) error) (string, error) {
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
	if err := errors.Join(f.Close(), outfile.Write(f.Name(), write)); err != nil {
		os.Remove(f.Name())
		return "", err
	}
	return f.Name(), nil
}

// Report returns where a command reports: standard output, unless one of its files goes there.
func (s *Flags) Report(c *cobra.Command) io.Writer {
	if slices.ContainsFunc(s.outputsOf(c), func(o *Output) bool { return o.Path == Standard }) {
		return c.ErrOrStderr()
	}
	return c.OutOrStdout()
}

// Print prints what a command has found: as JSON or as text, whichever the flags ask for. Both write into memory, and nothing is
// printed of what has an error. That standard output takes nothing is what Execute tells.
func (s *Flags) Print(c *cobra.Command, text, asJSON func(io.Writer) error) error {
	p, write := &page{to: s.Report(c)}, text
	if s.JSON {
		p.to, write = c.OutOrStdout(), asJSON
	}
	err := write(p)
	if err == nil {
		_, _ = p.WriteTo(p.to)
	}
	return err
}

// A page is what is to be printed. It has the descriptor of where it will go.
type page struct {
	bytes.Buffer
	to io.Writer
}

// Fd is the descriptor, or that of nothing.
func (p *page) Fd() uintptr {
	if f, ok := p.to.(interface{ Fd() uintptr }); ok {
		return f.Fd()
	}
	return ^uintptr(0)
}

// A checkedWriter keeps the first error, for those who print and do not look.
type checkedWriter struct {
	io.Writer
	err error
}

// Fd is the descriptor of what is written to; without one it is that of nothing. Launchers such as Open MPI's give ranks a
// terminal of their own, and may write to a file themselves.
func (w *checkedWriter) Fd() uintptr {
	if f, ok := w.Writer.(interface{ Fd() uintptr }); ok && mpi.Launched() < 0 {
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
