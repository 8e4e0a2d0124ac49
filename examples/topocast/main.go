// Command topocast measures how long messages take on a machine, works out how
// it is wired, predicts transfer times, and broadcasts along the wiring.
//
// It needs no MPI: without it, ranks are threads of one process, pinned to the
// cores. Started by mpirun, it works on the ranks of the job.
package main

import (
	"io"
	"os"
	"slices"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/topocast/topocast/internal/cli"
	"github.com/topocast/topocast/mpi"
)

func main() { mpi.Exit(run(os.Args[1:], os.Stdout, os.Stderr)) }

// run is main without the process around it. It returns the exit status.
func run(args []string, stdout, stderr io.Writer) int {
	return cli.Execute(command(cli.RunJob), args, stdout, stderr)
}

// wantNetwork is how errors call the first argument of most commands.
const wantNetwork = "NET, a file that topocast discover writes"

// command is the whole command line, with the given runner for real ranks.
func command(real cli.Runner) *cobra.Command {
	root := &cobra.Command{
		Use:   "topocast",
		Short: "Measure how a cluster is wired, predict transfers, broadcast along the wiring",
		Long: `Topocast measures how long messages take between the ranks of a job, reconstructs how the machine is wired,
predicts transfer times, and broadcasts along the wiring.

Under mpirun or srun it opens the library of its launcher, or the file that
TOPOCAST_MPI names. These libraries are tested, on Linux:

  Open MPI                      4.1.4, 5.0.7, 6.0.0rc2
  MPICH                         4.0.2, 4.2.1, 5.0.2
  standard ABI of MPI 5         libmpi_abi of Open MPI 6.0.0rc2, MPICH 5.0.2

NET is a file that discover writes; most commands take it as their first argument, and graphs of other tools, too.

` + cli.StatusHelp,
		Version: cli.Version(),
		Example: `  topocast discover
  mpirun -n 8 topocast discover --output cluster.json
  topocast show cluster.json`,
	}
	root.SetVersionTemplate("topocast {{.Version}}\n")
	shared := &cli.Flags{Real: real}
	shared.Add(root)
	check := root.PersistentPreRunE
	root.PersistentPreRunE = func(c *cobra.Command, args []string) error {
		if err := check(c, args); err != nil {
			return err
		}
		if len(shared.Faults) > 0 {
			cluster, err := cli.SimulatedCluster(shared.Sim)
			if err != nil {
				return err
			}
			explainFaults(shared.Faults, cluster.Graph.Names(), c.ErrOrStderr())
		}
		return checkGiven(c, args)
	}
	for _, group := range []struct {
		id, title string
		commands  []*cobra.Command
	}{
		{"measure", "Measure", []*cobra.Command{discoverCommand(shared), measureCommand(shared), reconstructCommand(shared)}},
		{"see", "See", []*cobra.Command{showCommand(shared), reportCommand(shared), plotCommand(shared), compareCommand(shared), exportCommand(shared)}},
		{"watch", "Watch", []*cobra.Command{checkCommand(shared)}},
		{"advise", "Advise", []*cobra.Command{predictCommand(shared), placeCommand(shared), bcastCommand(shared)}},
		{"expert", "Expert", []*cobra.Command{networkCommand(shared)}},
	} {
		root.AddGroup(&cobra.Group{ID: group.id, Title: group.title + ":"})
		for _, c := range group.commands {
			c.GroupID = group.id
			root.AddCommand(c)
		}
	}
	root.AddCommand(versionCommand())
	addOldNames(root, shared)
	cli.Finish(root)
	return root
}

// networkCommand holds what changes or cuts a network.
func networkCommand(shared *cli.Flags) *cobra.Command {
	c := &cobra.Command{
		Use:     "network",
		Short:   "Correct latencies of links, find bisections, join networks",
		Example: "  topocast network bisect cluster.json",
	}
	c.AddCommand(correctCommand(shared), bisectCommand(shared), joinCommand(shared))
	return c
}

func versionCommand() *cobra.Command {
	return &cobra.Command{
		Use:     "version",
		Short:   "Print the version",
		Example: "  topocast version",
		Args:    cli.Args(0),
		Run:     func(c *cobra.Command, _ []string) { c.Printf("topocast %s\n", c.Root().Version) },
	}
}

// addOldNames adds, hidden, the names that commands and flags had before they were put in groups.
func addOldNames(root *cobra.Command, shared *cli.Flags) {
	old := []*cobra.Command{tuneCommand(shared), rulesCommand(shared), correctCommand(shared), joinCommand(shared)}
	cut := bisectCommand(shared)
	cut.Use = "cut NET"
	for _, c := range append(old, cut) {
		c.Hidden = true
		root.AddCommand(c)
	}
	names := map[string]string{"silence": "timeout", "specification": "against"}
	root.SetGlobalNormalizationFunc(func(_ *pflag.FlagSet, name string) pflag.NormalizedName {
		if now, changed := names[name]; changed {
			name = now
		}
		return pflag.NormalizedName(name)
	})
	root.AddCommand(cli.Measures(&cobra.Command{
		Use:                "simulate --cluster C -- COMMAND",
		Hidden:             true,
		DisableFlagParsing: true,
		Args:               cobra.ArbitraryArgs,
		RunE: func(c *cobra.Command, args []string) error {
			dash := slices.Index(args, "--")
			if dash < 0 {
				return cli.BadInput("want topocast COMMAND --sim CLUSTER")
			}
			flags := slices.Clone(args[:dash])
			for i, flag := range flags {
				if flag == "--cluster" {
					flags[i] = "--sim"
				}
			}
			inner := command(shared.Real)
			inner.SetArgs(append(slices.Clone(args[dash+1:]), flags...))
			inner.SetOut(c.OutOrStdout())
			inner.SetErr(c.ErrOrStderr())
			return inner.ExecuteContext(c.Context())
		},
	}))
}
