package main

import (
	"cmp"
	"context"
	_ "embed"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/topocast/topocast/internal/cli"
	"github.com/topocast/topocast/internal/outcome"
	"github.com/topocast/topocast/mpi"
	"github.com/topocast/topocast/mpi/simnet"
)

// An experiment repeats what one source has published.
type experiment interface {
	// flags adds those that it alone has.
	flags(*pflag.FlagSet)
	// unused names flags, of its own and of the stage, that would change nothing on that ground with the others as they are.
	unused(ground, *stage) []string
	// simulate repeats it in virtual time, in this process.
	simulate(context.Context, *stage) (*outcome.Outcome, error)
	// measure repeats it on the ranks of a job. It is collective; others than rank 0 get nil. With an error it may return what
	// there is until then.
	// Where the machine is too small for it, it returns an inputError on all ranks.
	measure(context.Context, mpi.Communicator, *stage) (*outcome.Outcome, error)
}

// A stage is where experiments play, and for how long.
type stage struct {
	cluster  string        // to simulate; "": clusters like those of the source
	full     bool          // as many ranks and repetitions as the source has, however long it takes
	budget   time.Duration // longest time to measure ranks of a job
	progress io.Writer     // standard error
}

// flags are those of experiments of as many sources.
func (s *stage) flags(f *pflag.FlagSet, sources int) {
	f.BoolVar(&s.full, "full", false, "as many ranks and repetitions as the source has, however long it takes")
	of := ""
	if sources > 1 {
		of = ", for all together"
	}
	f.DurationVar(&s.budget, "budget", time.Duration(sources)*experimentBudget, "longest time to measure the ranks of a job"+of)
}

// A ground is what an experiment is played on.
type ground int

const (
	likeTheSource ground = iota // simulated machines like those of the source
	givenCluster                // the one of --sim
	ranksOfJob
)

func (g ground) String() string {
	return []string{"simulations of the source's machines", "the simulation of --sim", "a job"}[g]
}

// ground is that of a simulation.
func (s *stage) ground() ground {
	if s.cluster == "" {
		return likeTheSource
	}
	return givenCluster
}

// A source is one whose experiments can be repeated.
type source struct {
	name, short, long, example string
	begin                      func() experiment // with its flags at their defaults
}

// sources are all of them, by the year of their publication.
func sources() []source {
	return []source{servetSource(), bannikovSource(), bufeSource(), zhuSource(), reinfjellSource()}
}

// experimentBudget is a little less than the ten minutes that each experiment may take.
const experimentBudget = 8 * time.Minute

const experimentHelp = `Papers repeats what a publication reports, prints its tables beside ours, and says by how much
numbers differ where the paper prints them:

%s  all        each of them, one after the other

Without a launcher it simulates machines like those of the paper in virtual time, or the one that --sim
describes. Started by mpirun or srun it measures the ranks of the job, which may be fewer than the paper had.

--figures draws the paper's figures into a folder, as SVG, and --page makes one HTML page with all tables and figures.`

func command(run cli.Runner) *cobra.Command {
	shared := &cli.Flags{Real: run}
	var list strings.Builder
	for _, s := range sources() {
		fmt.Fprintf(&list, "  %-10s %s\n", s.name, s.short)
	}
	c := &cobra.Command{
		Use:   "papers",
		Short: "Repeat the experiments of five publications",
		Long:  fmt.Sprintf(experimentHelp, list.String()),
		Example: `  papers all --page experiments.html
  papers zhu --figures figures
  mpirun -n 30 papers zhu`,
		RunE: func(c *cobra.Command, _ []string) error { return c.Help() },
	}
	for _, s := range sources() {
		one := repeatCommand(shared, s)
		one.Use, one.Short, one.Long, one.Example = s.name+" [flags]", s.short, s.long, s.example
		c.AddCommand(one)
	}
	all := repeatCommand(shared, sources()...)
	all.Use, all.Short = "all [flags]", "All of them, one after the other"
	all.Long = `All repeats the experiments of all sources, each as its own command does without flags. One that
this machine is too small for is left out, with a warning. In a job they share the budget: each gets its part of what
is left. --json prints a line for each.`
	all.Example = `  papers all --page experiments.html
  mpirun -n 16 papers all --budget 20m --page experiments.html`
	c.AddCommand(all)
	shared.Add(c)
	cli.Finish(c)
	return c
}

// introduction begins the page of --markdown.
//
//go:embed intro.md
var introduction string

// repeatCommand is a command that repeats the experiments of some sources, of one with its own flags.
func repeatCommand(shared *cli.Flags, of ...source) *cobra.Command {
	var (
		played               playing
		here                 bool
		table, page, figures string
		markdown             string
	)
	c := cli.PrintsJSON(cli.Measures(&cobra.Command{Args: cli.Args(0)}), "topocast/experiment")
	played.begin(of, c.Flags())
	s := &played.stage
	c.RunE = func(c *cobra.Command, _ []string) error {
		s.cluster = shared.Sim
		if shared.JSON && table == cli.Standard {
			return cli.BadInput("--json and --csv -: both are standard output")
		}
		if s.budget <= 0 {
			return cli.BadInput("--budget %s: want above 0", s.budget)
		}
		if page == cli.Standard {
			return cli.BadInput("--page -: want a file")
		}
		if markdown == cli.Standard {
			return cli.BadInput("--markdown -: want a file")
		}
		rows, written := cli.NewOutput("--csv", table, c.OutOrStdout()), cli.NewOutput("--page", page, c.OutOrStdout())
		s.progress = c.ErrOrStderr()
		finish := func(outcomes []*outcome.Outcome) error {
			_, failed := rows.Save(func(w io.Writer) error { return outcome.WriteCSV(w, outcomes...) })
			_, unwritten := written.Save(func(w io.Writer) error {
				return outcome.WritePage(w, "Published experiments, repeated", outcomes...)
			})
			var undrawn error
			for k, o := range outcomes {
				if figures != "" && undrawn == nil {
					if _, err := o.WriteFigures(figures); err != nil {
						undrawn = fmt.Errorf("--figures: %w", err)
					}
				}
				w := cli.ReportWriter(c, rows)
				if k > 0 && !shared.JSON {
					fmt.Fprintln(w)
				}
				write := o.WriteText
				if shared.JSON {
					write = o.WriteJSON
				}
				if err := write(w); err != nil {
					return err
				}
			}
			var unpublished error
			if markdown != "" {
				if err := outcome.WriteMarkdown(markdown, introduction, outcomes...); err != nil {
					unpublished = fmt.Errorf("--markdown: %w", err)
				}
			}
			return cmp.Or(failed, unwritten, undrawn, unpublished)
		}
		if mpi.Launched() < 0 && !here {
			if err := cli.RefuseUnused(c, "only of a job, or with --here", "ranks", "budget", "fault", "placement", "overhead"); err != nil {
				return err
			}
			for k, f := range []cli.Output{rows, written} {
				if err := f.Check([]cli.Output{rows}[:k]); err != nil {
					return err
				}
			}
			if err := played.refuseUnused(c, s.ground()); err != nil {
				return err
			}
			outcomes, err := repeat(played.each, nil, c.ErrOrStderr(), func(e experiment) (*outcome.Outcome, error) { return e.simulate(c.Context(), s) })
			if len(outcomes) > 0 {
				return cmp.Or(err, finish(outcomes))
			}
			return err
		}
		if err := played.refuseUnused(c, ranksOfJob); err != nil {
			return err
		}
		return shared.Run(c, func(comm mpi.Communicator) error {
			if err := cli.CheckOutputs(comm, rows, written); err != nil {
				return err
			}
			own, err := playedByAll(comm, c.Flags(), of)
			if err != nil {
				return err
			}
			own.stage.progress = s.progress
			shares := allow(comm, own.stage.budget, len(own.each))
			outcomes, err := repeat(own.each, comm, c.ErrOrStderr(), func(e experiment) (*outcome.Outcome, error) {
				own.stage.budget = shares.next()
				return e.measure(c.Context(), comm, &own.stage)
			})
			if len(outcomes) > 0 && comm.Rank() == 0 {
				return cmp.Or(err, finish(outcomes))
			}
			return err
		})
	}
	f := c.Flags()
	f.BoolVar(&here, "here", false, "without a launcher, measure as in a job: threads on the cores of this machine, or the ranks of --sim")
	f.StringVar(&table, "csv", "", "file for all tables as CSV, a line per cell")
	f.StringVar(&figures, "figures", "", "folder for the figures, as SVG")
	f.StringVar(&markdown, "markdown", "", "file for a page of what is compared, in Markdown; its figures go into img/papers beside it")
	f.StringVar(&page, "page", "", "file for one HTML page with all tables and figures")
	return c
}

// repeat runs experiments one after the other. Of several, one that asks for another machine is left out. With an error
// comes what there is until then. With a communicator it is collective.
func repeat(each []named, comm mpi.Communicator, stderr io.Writer, run func(experiment) (*outcome.Outcome, error)) ([]*outcome.Outcome, error) {
	var outcomes []*outcome.Outcome
	for _, e := range each {
		o, err := run(e.experiment)
		var unfit *cli.InputError
		switch {
		case err == nil:
			outcomes = append(outcomes, o)
		case len(each) > 1 && errors.As(err, &unfit):
			if comm == nil || comm.Rank() == 0 {
				fmt.Fprintf(stderr, "warning: %s is left out: %v\n", e.name, err)
			}
		case errors.As(err, &unfit):
			return nil, err // on all ranks, as it is
		default:
			if o != nil {
				outcomes = append(outcomes, o)
			}
			return outcomes, fmt.Errorf("%s: %w", e.name, err)
		}
	}
	if len(outcomes) == 0 {
		return nil, cli.BadInput("none of the experiments can be repeated on this machine")
	}
	return outcomes, nil
}

// onSimulated runs work on the ranks of a simulated cluster, on those hosts or on all, and returns what rank 0 has found.
func onSimulated[T any](c *simnet.Cluster, place []int, settings *simnet.Settings, work func(mpi.Communicator) (T, error)) (found T, err error) {
	err = simnet.Run(c.Graph, place, settings, func(comm mpi.Communicator) error {
		own, err := work(comm)
		if comm.Rank() == 0 {
			found = own
		}
		return err
	})
	return found, err
}
