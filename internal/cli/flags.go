package cli

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/topocast/topocast/mpi"
)

// Flags are the persistent flags of a program: on which ranks its commands measure, and whether they
// print JSON. Help shows them, and a command takes them, if it says so by Measures and PrintsJSON.
type Flags struct {
	JSON      bool
	Sim       string   // the simulated cluster; "": real ranks
	Faults    []string // of the simulated cluster
	Placement string   // of simulated ranks
	Overhead  time.Duration
	Ranks     int           // 0: one per core or simulated host
	Timeout   time.Duration // how long a rank waits for another; below 0: for ever

	Large       bool                 // simulate what takes long or much memory, too
	Work        func(ranks int) Work // what the command does on simulated ranks; nil: little
	Real        Runner               // for real ranks
	HollowAbove int                  // simulated messages of more bytes carry no content; 0: all carry theirs

	outputs []*Output // of all commands, in the order in which they were added
}

// defaultTimeout is how long a rank waits for another one before the job ends.
const defaultTimeout = 5 * time.Minute

// The annotations of commands that take persistent flags.
const (
	annotationRanks = "ranks"
	annotationJSON  = "json" // the format that is printed
)

// simulationFlags are of use with --sim only.
var simulationFlags = []string{"fault", "large", "placement", "overhead"}

// Add adds the flags to a root command.
func (s *Flags) Add(root *cobra.Command) {
	f := root.PersistentFlags()
	f.BoolVar(&s.JSON, "json", false, "print JSON instead of text")
	f.StringVar(&s.Sim, "sim", "", "simulate this `cluster` in virtual time, for example \"tree:2x4x8 latency=20us,8us,2us rate=10Gbps\", or a file with a network or a graph")
	f.StringArrayVar(&s.Faults, "fault", nil, "with --sim, a `fault`, such as \"link h3-s0 1.5x\"; may be given several times")
	f.BoolVar(&s.Large, "large", false, "with --sim, simulate also what takes more than half an hour or the memory of this machine")
	f.StringVar(&s.Placement, "placement", "block", "with --sim, hosts of the ranks: block, cyclic, shuffled, shuffled:SEED, or a `file` with a host per line")
	f.DurationVar(&s.Overhead, "overhead", ownOverhead, "with --sim, what a rank's CPU takes to send and to receive a message; default: as the network file says, or 300ns")
	f.Lookup("overhead").DefValue = "0s" // not printed
	f.IntVar(&s.Ranks, "ranks", 0, "ranks without mpirun; 0: one per core, or per simulated host")
	f.DurationVar(&s.Timeout, "timeout", defaultTimeout, "how long a rank waits for another before the job ends; below 0: for ever")
	root.PersistentPreRunE = func(c *cobra.Command, _ []string) error { return s.check(c) }
}

// Measures marks a command as one that measures ranks.
func Measures(c *cobra.Command) *cobra.Command { return annotate(c, annotationRanks, "yes") }

// PrintsJSON marks a command as one that prints JSON of a format.
func PrintsJSON(c *cobra.Command, format string) *cobra.Command {
	return annotate(c, annotationJSON, format)
}

func annotate(c *cobra.Command, key, value string) *cobra.Command {
	if c.Annotations == nil {
		c.Annotations = map[string]string{}
	}
	c.Annotations[key] = value
	return c
}

// takes tells whether a command takes a persistent flag.
func takes(c *cobra.Command, flag string) bool {
	if flag == "json" {
		return c.Annotations[annotationJSON] != ""
	}
	return c.Annotations[annotationRanks] != ""
}

// HideOthers hides the persistent flags that a command does not take, before a page of this command is made.
func HideOthers(c *cobra.Command) {
	c.Root().PersistentFlags().VisitAll(func(f *pflag.Flag) { f.Hidden = c.HasParent() && !takes(c, f.Name) })
}

// check refuses persistent flags that would change nothing, and sets the defaults of simulations.
func (s *Flags) check(c *cobra.Command) error {
	var refused error
	c.Flags().Visit(func(f *pflag.Flag) {
		switch {
		case refused != nil || c.Root().PersistentFlags().Lookup(f.Name) != f: // a flag of the command itself
		case !takes(c, f.Name) && f.Name == "json":
			refused = BadInput("--json: %s prints no JSON", c.CommandPath())
		case !takes(c, f.Name):
			refused = BadInput("--%s: %s measures no ranks", f.Name, c.CommandPath())
		case s.Sim == "" && slices.Contains(simulationFlags, f.Name):
			refused = BadInput("--%s: only with --sim", f.Name)
		case f.Name == "timeout" && s.Timeout == 0:
			refused = BadInput("--timeout 0s: want a time, or one below 0 for ever")
		case f.Name == "sim" && s.Sim == "":
			refused = BadInput("--sim: want a cluster, for example \"tree:2x4x8 rate=10Gbps\"")
		}
	})
	if refused == nil && s.Sim != "" {
		simulatedOutput(c)
	}
	files := s.outputsOf(c)
	for _, o := range files {
		switch {
		case refused != nil:
		case s.JSON && o.Path == Standard:
			refused = BadInput("--json and %s -: both are standard output", o.Flag)
		case o.Path == "" && c.Flags().Changed(o.Flag[len("--"):]): // of a variable that is not set, say
			refused = BadInput("%s: want the name of a file", o.Flag)
		}
	}
	if refused == nil && !takes(c, "ranks") { // or else Run checks them
		refused = check(files)
	}
	return refused
}

// simulatedOutput changes the default of --output: a simulated network must not take the place of a
// measured one.
func simulatedOutput(c *cobra.Command) {
	const prefix = "simulated-"
	f := c.Flags().Lookup("output")
	if f != nil && !f.Changed && strings.HasSuffix(f.DefValue, ".json") {
		_ = f.Value.Set(prefix + f.DefValue) // a string takes every value
	}
}

// Run calls work on every rank: of the simulated cluster, of the MPI job, or in this process. The files of the command
// are checked before. A simulation first tells what it takes, if that is much.
func (s *Flags) Run(c *cobra.Command, perform func(mpi.Communicator) error) error {
	work := perform
	if files := s.outputsOf(c); len(files) > 0 {
		work = func(comm mpi.Communicator) error {
			if err := checkOutputs(comm, files...); err != nil {
				return err
			}
			return perform(comm)
		}
	}
	if s.Sim == "" {
		return s.Real(s.Ranks, work)
	}
	run, hosts, err := Simulator(c.ErrOrStderr(), s.Sim, s.Placement, s.Overhead, s.HollowAbove, s.Faults...)
	if err != nil {
		return err
	}
	if s.Work != nil {
		ranks := cmp.Or(max(0, s.Ranks), hosts)
		w := s.Work(ranks)
		if err := w.admit(ranks, s.Large, func(note string) { fmt.Fprintf(c.ErrOrStderr(), "note: %s\n", note) }); err != nil {
			return err
		}
	}
	return s.simulate(c, run, work)
}
