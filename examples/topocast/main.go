// Command topocast measures how long messages take on a machine, works out how
// it is wired, predicts transfer times, and broadcasts along the wiring.
//
// It needs no MPI: without it, ranks are threads of one process, pinned to the
// cores. Started by mpirun, it works on the ranks of the job.
package main

import (
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"syscall"
	"time"

	"github.com/spf13/cobra"

	"github.com/topocast/topocast/mpi"
)

func main() {
	mpi.Exit(run(os.Args[1:], os.Stdout, os.Stderr))
}

// The exit statuses of all commands; the help of the root command lists them.
const (
	statusFine      = 0
	statusFailed    = 1
	statusInput     = 2
	statusDifferent = 3
	statusUnknown   = 4
)

const statusHelp = `Exit status of all commands:
  0  fine
  1  the run failed
  2  wrong input
  3  a difference or a fault was found (compare, check, watch)
  4  cannot tell: too little was measured (compare, check, watch, cut)`

// run is main without the process around it, and returns the exit status.
func run(args []string, stdout, stderr io.Writer) int {
	// Ctrl-C ends a measuring run early; what it has is kept. A second one does
	// not wait for that.
	signals := make(chan os.Signal, 2)
	signal.Notify(signals, os.Interrupt, syscall.SIGTERM)
	defer func() {
		signal.Stop(signals)
		close(signals)
	}()
	var again func()
	if mpi.Launched() < 0 {
		again = func() { os.Exit(statusFailed) }
	}
	ctx := untilSignal(signals, time.Now, again)
	out := &checkedWriter{Writer: stdout}
	c := command(runJob)
	c.SetArgs(args)
	c.SetOut(out)
	c.SetErr(stderr)
	err := c.ExecuteContext(ctx)
	var found answer
	if out.err != nil && (err == nil || errors.As(err, &found)) {
		err = fmt.Errorf("standard output: %w", out.err) // nobody has seen what was found
	}
	if err != nil {
		return report(stderr, err)
	}
	return statusFine
}

// command is the whole command line, over the given ranks.
func command(run runner) *cobra.Command {
	root := &cobra.Command{
		Use:   "topocast",
		Short: "Measure a machine's communication, reconstruct its wiring, predict and broadcast along it",
		Long: `Measure a machine's communication, reconstruct its wiring, predict transfer
times and broadcast along it.

Under mpirun or srun it opens the library of its launcher, or the file that
TOPOCAST_MPI names. These libraries are tested, on Linux:

  Open MPI                      4.1.4, 5.0.7, 6.0.0rc2
  MPICH                         4.0.2, 4.2.1, 5.0.2
  standard ABI of MPI 5         libmpi_abi of Open MPI 6.0.0rc2, MPICH 5.0.2

` + statusHelp,
		Version: version(),
		Example: `  topocast discover
  mpirun -n 8 topocast discover --output cluster.json
  topocast reconstruct --unit us latencies.csv`,
		SilenceErrors: true,
		SilenceUsage:  true,
		Args:          cobra.NoArgs,
		RunE:          func(c *cobra.Command, _ []string) error { return c.Help() },
	}
	root.SetVersionTemplate("topocast {{.Version}}\n")
	root.SetFlagErrorFunc(func(c *cobra.Command, err error) error {
		return badInput("%w; see %s --help", err, c.CommandPath())
	})
	root.AddCommand(
		discoverCommand(run), measureCommand(run), bcastCommand(run), tuneCommand(run), checkCommand(run), watchCommand(run), simulateCommand(),
		reconstructCommand(), compareCommand(), reportCommand(), predictCommand(), placeCommand(), experimentCommand(run), rulesCommand(), showCommand(), drawCommand(), exportCommand(), correctCommand(), cutCommand(), joinCommand(),
	)
	fitHelp(root)
	for _, c := range withAllBelow(root) {
		args := c.Args
		c.Args = func(c *cobra.Command, given []string) error {
			if err := args(c, given); err != nil {
				return badInput("%w; see %s --help", err, c.CommandPath())
			}
			return nil
		}
	}
	return root
}

// An inputError is the caller's mistake, and makes the exit status 2.
type inputError struct{ error }

func (e *inputError) Unwrap() error { return e.error }

func badInput(format string, args ...any) error {
	return &inputError{fmt.Errorf(format, args...)}
}

// An answer is no error but what a command has found out and printed; it is
// handed up for its exit status.
type answer int

func (a answer) Error() string { return fmt.Sprintf("the answer is status %d", int(a)) }

// report prints an error on one line and returns the exit status. All ranks of
// a job parse the same command line and find the same mistake: rank 0 tells it.
// The others leave with 0, or the launcher might end rank 0 before it has spoken.
func report(stderr io.Writer, err error) int {
	var found answer
	if errors.As(err, &found) {
		return int(found)
	}
	var input *inputError
	wrongInput := errors.As(err, &input)
	if wrongInput && mpi.Launched() > 0 {
		return statusFine
	}
	fmt.Fprintf(stderr, "topocast: %v\n", err)
	if wrongInput {
		return statusInput
	}
	return statusFailed
}
