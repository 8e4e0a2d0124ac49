// Command netlab emulates a cluster by network namespaces on this machine, and runs
// unmodified MPI programs on it. Wiring, rates and delays of its network are known.
//
//	netlab up CLUSTER.json
//	netlab run --mpi mpich --place cyclic CLUSTER.json -- ./program
//	netlab verify CLUSTER.json
//	netlab down CLUSTER.json
//
// It needs Linux and root.
package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"syscall"
	"time"

	"github.com/spf13/cobra"

	"github.com/topocast/topocast/internal/netlab"
	"github.com/topocast/topocast/internal/scenario"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	err := command().ExecuteContext(ctx)
	stop()
	var status exitStatus
	if errors.As(err, &status) {
		os.Exit(int(status))
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

// An exitStatus is that of the program which this one has run.
type exitStatus int

func (s exitStatus) Error() string { return fmt.Sprintf("exit status %d", int(s)) }

func command() *cobra.Command {
	root := &cobra.Command{
		Use:           "netlab",
		Short:         "A cluster of network namespaces on this machine",
		SilenceErrors: true,
		SilenceUsage:  true,
	}
	s := &netlab.Settings{}
	root.PersistentFlags().StringVar(&s.Dir, "dir", "/run/netlab", "`directory` of the running labs")
	root.AddCommand(&cobra.Command{
		Use: "available", Short: "Tell whether a lab can be made here", Args: cobra.NoArgs,
		RunE: func(*cobra.Command, []string) error { return netlab.Available() },
	}, upCommand(s), downCommand(s), runCommand(s), verifyCommand(s))
	root.AddCommand(roles()...)
	return root
}

func upCommand(s *netlab.Settings) *cobra.Command {
	return &cobra.Command{
		Use: "up CLUSTER.json", Short: "Start a lab", Args: cobra.ExactArgs(1),
		RunE: func(c *cobra.Command, args []string) error {
			cluster, err := netlab.ReadCluster(args[0])
			if err != nil {
				return err
			}
			l, err := netlab.Up(cluster, s)
			if err != nil {
				return err
			}
			for _, m := range l.Machines() {
				fmt.Fprintf(c.OutOrStdout(), "%s %s\n", m.Name, m.Address)
			}
			return nil
		},
	}
}

func downCommand(s *netlab.Settings) *cobra.Command {
	return &cobra.Command{
		Use: "down CLUSTER.json|NAME", Short: "Remove a lab, whatever state it is in, and print its last counters", Args: cobra.ExactArgs(1),
		RunE: func(c *cobra.Command, args []string) error {
			name, err := name(args[0])
			if err != nil {
				return err
			}
			l, err := netlab.Open(name, s)
			if err != nil {
				// Dead, or never up: nothing to ask, perhaps something to remove.
				return netlab.Down(name, s)
			}
			counters, err := l.Down()
			if err == nil && counters != nil {
				err = counters.Write(c.OutOrStdout())
			}
			return err
		},
	}
}

func runCommand(s *netlab.Settings) *cobra.Command {
	var job netlab.Job
	var place, on string
	var ranks int
	var limit time.Duration
	var counters bool
	c := &cobra.Command{
		Use: "run [flags] CLUSTER.json -- PROGRAM [ARGUMENT]...", Short: "Run an MPI program on a lab, or any program on one of its hosts",
		Long: "Run an MPI program on a lab, or with --on any program on one of its hosts.\nA lab that is not up is started, and removed at the end,\nhowever this program ends; so are the job's processes.",
		Args: cobra.MinimumNArgs(2),
		RunE: func(c *cobra.Command, args []string) error {
			return with(s, args[0], func(l *netlab.Lab) error {
				ctx, cancel := context.WithTimeoutCause(c.Context(), limit, fmt.Errorf("ended after %v", limit))
				defer cancel()
				if counters {
					if _, err := l.Reset(); err != nil {
						return err
					}
				}
				program := args[1:]
				if program[0] == "--" {
					program = program[1:]
				}
				if err := runOn(ctx, l, &job, on, place, ranks, program); err != nil {
					return err
				}
				if !counters {
					return nil
				}
				got, err := l.Counters()
				if err != nil {
					return err
				}
				return got.Write(os.Stderr)
			})
		},
	}
	f := c.Flags()
	f.SetInterspersed(false)
	f.StringVar(&job.MPI, "mpi", netlab.OpenMPI, "`library` of the program: openmpi or mpich")
	f.StringVar(&job.Launcher, "launcher", "", "`path` of the library's mpirun")
	f.StringArrayVar(&job.Options, "option", nil, "one more `word` for mpirun (repeatable)")
	f.BoolVar(&job.Yield, "yield", false, "ranks that wait give way, but do not sleep")
	f.StringVar(&place, "place", "block", "host of each rank: `how` is block, cyclic, shuffled, shuffled:SEED, or a file with a host per line")
	f.IntVarP(&ranks, "ranks", "n", 0, "`number` of ranks (default: ranks_per_host on each)")
	f.StringVar(&on, "on", "", "run the program once, without MPI, on `host`")
	f.DurationVar(&limit, "limit", 2*time.Minute, "end the job after this `time`")
	f.BoolVar(&counters, "counters", false, "print what the links have carried")
	return c
}

func runOn(ctx context.Context, l *netlab.Lab, job *netlab.Job, on, place string, ranks int, program []string) error {
	if len(program) == 0 {
		return errors.New("netlab: run: no program")
	}
	if on != "" {
		return l.RunOn(ctx, on, program, os.Stdin, os.Stdout, os.Stderr)
	}
	var err error
	job.Program = program
	g := l.Cluster.Graph
	job.Place, err = scenario.Placement(place, cmp.Or(ranks, g.Hosts()*l.Cluster.RanksPerHost), g, nil, nil)
	if err != nil {
		return fmt.Errorf("netlab: run: --place: %w", err)
	}
	return l.Run(ctx, job, os.Stdout, os.Stderr)
}

func verifyCommand(s *netlab.Settings) *cobra.Command {
	return &cobra.Command{
		Use: "verify CLUSTER.json", Short: "Compare a lab with its file by TCP probes",
		Long: "Compare a lab with its file by TCP probes. A lab that is not up is started, and\nremoved at the end. Fails if a measurement is outside the bounds, or if the machine did not keep time in\nmore than a quarter of them.",
		Args: cobra.ExactArgs(1),
		RunE: func(c *cobra.Command, args []string) error {
			return with(s, args[0], func(l *netlab.Lab) error {
				v, err := l.Verify()
				if err != nil {
					return err
				}
				if err := v.Write(c.OutOrStdout()); err != nil {
					return err
				}
				return v.Judge()
			})
		},
	}
}

// name of the lab of a cluster file, or the name itself.
func name(arg string) (string, error) {
	c, err := netlab.ReadCluster(arg)
	if errors.Is(err, os.ErrNotExist) {
		return arg, nil
	}
	if err != nil {
		return "", err
	}
	return c.Name, nil
}

// with calls f with the lab of a file: the running one, or one for the time.
func with(s *netlab.Settings, path string, f func(*netlab.Lab) error) (err error) {
	c, err := netlab.ReadCluster(path)
	if err != nil {
		return err
	}
	l, err := netlab.Open(c.Name, s)
	if errors.Is(err, netlab.ErrDown) {
		leashed := *s
		leashed.Leash = true
		if l, err = netlab.Up(c, &leashed); err != nil {
			return err
		}
		defer func() {
			if _, e := l.Down(); err == nil {
				err = e
			}
		}()
	}
	if err != nil {
		return err
	}
	return f(l)
}

// roles are the parts that the program plays for itself.
func roles() []*cobra.Command {
	role := func(name string, least int, run func(args []string) error) *cobra.Command {
		return &cobra.Command{
			Use: name, Hidden: true, DisableFlagParsing: true, Args: cobra.MinimumNArgs(least),
			RunE: func(_ *cobra.Command, args []string) error { return run(args) },
		}
	}
	return []*cobra.Command{
		role("fabric", 2, func(args []string) error {
			ready := os.NewFile(3, "ready")
			var leash io.Reader
			if len(args) > 2 {
				leash = os.NewFile(4, "leash")
			}
			return netlab.Fabric(args[0], args[1], io.LimitReader(os.Stdin, 64<<20), ready, leash)
		}),
		role("supervise", 4, func(args []string) error {
			status, err := netlab.Supervise(args[1], args[2], args[3:], args[0], os.NewFile(3, "leash"))
			if err != nil || status == 0 {
				return err
			}
			return exitStatus(status)
		}),
		role("exec", 3, func(args []string) error { return netlab.Exec(args[0], args[1], args[2:]) }),
		role("agent", 3, func(args []string) error { return netlab.Agent(args[0], args[1:]) }),
	}
}
