// Command topocast measures how long messages take on a machine, works out how
// it is wired, predicts transfer times, and broadcasts along the wiring.
//
// It needs no MPI: without it, ranks are threads of one process, pinned to the
// cores. Built with CC=mpicc go build -tags mpi and started by mpirun, it
// works on the ranks of the job.
package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"strconv"
	"syscall"

	"github.com/spf13/cobra"
)

func main() {
	os.Exit(run(os.Args[1:], os.Stdout, os.Stderr))
}

// run is main without the process around it. It returns the exit status: 0, 1
// for a failure, 2 for wrong input.
func run(args []string, stdout, stderr io.Writer) int {
	// Ctrl-C ends a measuring run early; what it has is kept.
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	c := command(runJob)
	c.SetArgs(args)
	c.SetOut(stdout)
	c.SetErr(stderr)
	if err := c.ExecuteContext(ctx); err != nil {
		return report(stderr, err)
	}
	return 0
}

// command is the whole command line, over the given ranks.
func command(run runner) *cobra.Command {
	root := &cobra.Command{
		Use:   "topocast",
		Short: "Measure a machine's communication, reconstruct its wiring, predict and broadcast along it",
		Example: `  topocast discover
  mpirun -n 8 topocast discover --output cluster.json
  topocast reconstruct --unit us latencies.csv`,
		SilenceErrors: true,
		SilenceUsage:  true,
		Args:          cobra.NoArgs,
		RunE:          func(c *cobra.Command, _ []string) error { return c.Help() },
	}
	root.SetFlagErrorFunc(func(c *cobra.Command, err error) error {
		return badInput("%w; see %s --help", err, c.CommandPath())
	})
	root.AddCommand(
		discoverCommand(run), measureCommand(run), bcastCommand(run), simulateCommand(),
		reconstructCommand(), compareCommand(), predictCommand(), placeCommand(),
	)
	for _, c := range append(root.Commands(), root) {
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

// report prints an error on one line and returns the exit status. All ranks of
// a job parse the same command line and find the same mistake: rank 0 tells it.
// The others leave with 0, or the launcher might end rank 0 before it has spoken.
func report(stderr io.Writer, err error) int {
	var input *inputError
	wrongInput := errors.As(err, &input)
	if wrongInput && launchedRank() > 0 {
		return 0
	}
	fmt.Fprintf(stderr, "topocast: %v\n", err)
	if wrongInput {
		return 2
	}
	return 1
}

// launchedRank is the rank that a launcher gave to this process, known before
// MPI is started; -1 without a launcher.
func launchedRank() int {
	for _, name := range []string{"OMPI_COMM_WORLD_RANK", "PMIX_RANK", "PMI_RANK"} {
		if rank, err := strconv.Atoi(os.Getenv(name)); err == nil {
			return rank
		}
	}
	return -1
}
