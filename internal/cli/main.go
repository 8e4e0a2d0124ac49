// Package cli is what the programs of the repository share as command lines: exit statuses and errors,
// the ranks that a command works on (of a job, in process, simulated), files that are written whole,
// sizes, and help.
package cli

import (
	"context"
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
// keeps what was measured. A second one ends the process. Of commands that measure nothing the first one does.
func Execute(root *cobra.Command, args []string, stdout, stderr io.Writer) int {
	root.InitDefaultCompletionCmd()
	if c, _, err := root.Find([]string{"completion"}); err == nil {
		finishCommands(c)
	}
	ctx := context.Background()
	if c, _, err := root.Find(args); err == nil && takes(c, "ranks") {
		var stop func()
		ctx, stop = signal.NotifyContext(ctx, os.Interrupt, syscall.SIGTERM)
		defer stop()
		if mpi.Launched() < 0 {
			// Somebody will not wait for what the first signal has begun. Launchers may hand on one signal several times, and
			// end the job themselves at a second.
			context.AfterFunc(ctx, func() {
				time.Sleep(oneInterrupt)
				stop()
			})
		}
	}
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

// oneInterrupt is the time within which several signals are one: timeout(1) sends
// its signal to the process and to its group.
const oneInterrupt = 200 * time.Millisecond

// An InputError is a mistake of the caller. Its exit status is StatusInput.
type InputError struct{ error }

// Unwrap returns the mistake itself.
func (e *InputError) Unwrap() error { return e.error }

// BadInput formats an InputError. Errors of the library among the arguments lose the names of its packages. What users
// have written keeps them: a file may be called "model".
func BadInput(format string, args ...any) error {
	for i, x := range args {
		var input *InputError
		if err, is := x.(error); is && !errors.As(err, &input) {
			args[i] = &plainError{err}
		}
	}
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
	message := err.Error()
	if err != error(input) { // its text is plain
		message = plain(message)
	}
	fmt.Fprintf(stderr, "%s: %s\n", program, message)
	if wrongInput {
		return StatusInput
	}
	return StatusFailed
}

// packages are the names with which errors of the library begin. Those of methods of reconstruction, such as linkage, are words of
// users, too.
var packages = []string{
	"adaptive", "bcast", "benchmark", "check", "cluster", "collective", "compare", "concurrent", "contention", "cut", "draw", "encode", "fit",
	"gen", "harness", "local", "measure", "model", "mpi", "oneway", "pingpong", "placement", "plogp", "predict", "record", "reduce", "results",
	"rules", "schedule", "servet", "share", "simnet", "spanner", "table", "throughput", "topology", "tuner",
}

// A plainError is an error of the library, without the names of packages.
type plainError struct{ error }

func (e *plainError) Error() string { return plain(e.error.Error()) }

// Unwrap returns the error of the library.
func (e *plainError) Unwrap() error { return e.error }

// plain takes the names of packages out of a message. A user of a program does not know them.
func plain(message string) string {
	parts := strings.Split(message, ": ")
	last := parts[len(parts)-1]
	kept := slices.DeleteFunc(parts[:len(parts)-1], func(part string) bool { return slices.Contains(packages, part) })
	return strings.Join(append(kept, last), ": ")
}
