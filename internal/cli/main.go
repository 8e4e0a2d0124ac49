// Package cli is what the programs of the repository share as command lines: exit statuses and errors,
// the ranks that a command works on (of a job, in process, simulated), files that are written whole,
// sizes, and help.
package cli

import (
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/spf13/cobra"

	"github.com/topocast/topocast/mpi"
)

// The exit statuses of all commands.
const (
	StatusFine      = 0
	StatusFailed    = 1
	StatusInput     = 2
	StatusDifferent = 3
	StatusUnknown   = 4
)

// StatusHelp explains the exit statuses.
const StatusHelp = `Exit status of all commands:
  0  fine
  1  the run failed
  2  wrong input
  3  a difference or a fault was found (compare, check)
  4  cannot tell: too little was measured (compare, check, network bisect)`

// Execute runs a command line and returns its exit status. The first Ctrl-C ends a measurement early and
// keeps what was measured. A second one ends the process.
func Execute(root *cobra.Command, args []string, stdout, stderr io.Writer) int {
	signals := make(chan os.Signal, 2)
	signal.Notify(signals, os.Interrupt, syscall.SIGTERM)
	defer func() {
		signal.Stop(signals)
		close(signals)
	}()
	var again func()
	if mpi.Launched() < 0 {
		again = func() { os.Exit(StatusFailed) }
	}
	ctx := untilSignal(signals, time.Now, again)
	out := &checkedWriter{Writer: stdout}
	root.SetArgs(args)
	root.SetOut(out)
	root.SetErr(stderr)
	err := root.ExecuteContext(ctx)
	var found Answer
	if out.err != nil && (err == nil || errors.As(err, &found)) {
		err = fmt.Errorf("standard output: %w", out.err) // nobody has seen the result
	}
	if err != nil {
		return Report(stderr, root.Name(), err)
	}
	return StatusFine
}

// An InputError is a mistake of the caller. Its exit status is StatusInput.
type InputError struct{ error }

// Unwrap returns the mistake itself.
func (e *InputError) Unwrap() error { return e.error }

// BadInput formats an InputError.
func BadInput(format string, args ...any) error {
	return &InputError{fmt.Errorf(format, args...)}
}

// An Answer is not an error: it is the exit status of a command that has printed what it found.
type Answer int

func (a Answer) Error() string { return fmt.Sprintf("the answer is status %d", int(a)) }

// Report prints an error on one line and returns the exit status. All ranks of a job parse the same
// command line and find the same mistake. Rank 0 alone prints it. The others return 0: the launcher
// could end rank 0 before it has printed.
func Report(stderr io.Writer, program string, err error) int {
	var found Answer
	if errors.As(err, &found) {
		return int(found)
	}
	var input *InputError
	wrongInput := errors.As(err, &input)
	if wrongInput && mpi.Launched() > 0 {
		return StatusFine
	}
	fmt.Fprintf(stderr, "%s: %s\n", program, plain(err.Error()))
	if wrongInput {
		return StatusInput
	}
	return StatusFailed
}

// packages are the names with which errors of the library begin.
var packages = []string{
	"adaptive", "bcast", "check", "cluster", "compare", "concurrent", "encode", "fit", "gen", "harness", "local", "measure", "model", "mpi",
	"pingpong", "placement", "plogp", "record", "rules", "schedule", "servet", "simnet", "table", "throughput", "topology", "tuner",
}

// plain takes the names of packages out of a message. A user of a program does not know them.
func plain(message string) string {
	parts := strings.Split(message, ": ")
	last := parts[len(parts)-1]
	kept := slices.DeleteFunc(parts[:len(parts)-1], func(part string) bool { return slices.Contains(packages, part) })
	return strings.Join(append(kept, last), ": ")
}
