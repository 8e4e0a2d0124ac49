// Command papers repeats the experiments of the five publications that topocast implements, in virtual time
// or on the ranks of a job, and prints its numbers beside theirs.
package main

import (
	"io"
	"os"

	"github.com/topocast/topocast/internal/cli"
	"github.com/topocast/topocast/mpi"
)

func main() { mpi.Exit(run(os.Args[1:], os.Stdout, os.Stderr)) }

// run returns the exit status.
func run(args []string, stdout, stderr io.Writer) int {
	return cli.Execute(command(cli.RunJob), args, stdout, stderr)
}
