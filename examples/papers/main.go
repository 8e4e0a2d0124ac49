// Command papers repeats the experiments of the five publications that topocast implements, and prints its numbers beside
// theirs. It simulates their machines in virtual time, or measures the ranks of a job.
//
// Each source is one experiment: it fills the outcome of its stage with sections, tables, compared numbers and figures. Files are
// named after the source. main.go has the command line, and stage.go what all experiments stand on.
package main

import (
	"cmp"
	"context"
	_ "embed"
	"errors"
	"fmt"
	"io"
	"os"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/topocast/topocast/internal/cli"
	"github.com/topocast/topocast/internal/outcome"
	"github.com/topocast/topocast/mpi"
)

func main() { mpi.Exit(run(os.Args[1:], os.Stdout, os.Stderr)) }

// run returns the exit status.
func run(args []string, stdout, stderr io.Writer) int {
	return cli.Execute(command(cli.RunJob), args, stdout, stderr)
}

const help = `Papers repeats what a publication reports, and says by how much numbers differ where the paper prints them.

Without a launcher it simulates machines like those of the paper in virtual time. Started by mpirun or srun, or with --here
or --sim, it measures the ranks that there are, which may be fewer than the paper had.`

func command(real cli.Runner) *cobra.Command {
	shared := &cli.Flags{Real: real, HollowAbove: cli.DiscoverHollow}
	root := &cobra.Command{
		Use:   "papers",
		Short: "Repeat the experiments of five publications",
		Long:  help,
		Example: `  papers all --page papers.md
  papers zhu --json
  mpirun -n 30 papers zhu`,
	}
	for _, s := range sources() {
		one := repeatCommand(shared, s)
		one.Use, one.Short, one.Long = s.name+" [flags]", s.short, s.long
		root.AddCommand(one)
	}
	all := repeatCommand(shared, sources()...)
	all.Use, all.Short = "all [flags]", "All of them, one after the other"
	all.Long = `All repeats the experiments of all sources, each as its own command does without flags, and ends with what agrees by source.
One that this machine is too small for is left out, with a warning. In a job they share the budget. --json prints a line for each.`
	root.AddCommand(all)
	shared.Add(root)
	cli.Finish(root)
	return root
}

// introduction begins the page.
//
//go:embed intro.md
var introduction string

// partBudget is a little less than the ten minutes that each experiment may take.
const partBudget = 8 * time.Minute

// repeatCommand is a command that repeats the experiments of some sources, of one with its own flags.
func repeatCommand(shared *cli.Flags, of ...source) *cobra.Command {
	var (
		s      stage
		here   bool
		budget time.Duration
	)
	c := cli.PrintsJSON(cli.Measures(&cobra.Command{Args: cli.Args(0)}), "topocast/experiment")
	f := c.Flags()
	f.BoolVar(&s.full, "full", false, "simulate as many ranks and repetitions as the source has, however long it takes")
	f.BoolVar(&here, "here", false, "without a launcher, measure as in a job, with threads on the cores of this machine")
	f.DurationVar(&budget, "budget", time.Duration(len(of))*partBudget, "longest time to measure the ranks of a job")
	page := shared.Output(c, "page", "", "", "file for a page of what is compared, in Markdown; its figures go into img/papers beside it")
	each := make([]begun, len(of))
	for i, x := range of {
		own := f
		if len(of) > 1 {
			own = pflag.NewFlagSet(x.name, pflag.ContinueOnError) // at their defaults
		}
		each[i] = begun{x, x.begin(own)}
	}
	finish := func(outcomes []*outcome.Outcome, err error) error {
		if len(outcomes) == 0 {
			return err
		}
		write := outcome.Write
		if shared.JSON {
			write = outcome.WriteJSON
		}
		err = cmp.Or(err, write(c.OutOrStdout(), outcomes...))
		if page.Path != "" {
			if written := outcome.WritePage(page.Path, introduction, outcomes...); written != nil {
				err = cmp.Or(err, fmt.Errorf("--page: %w", written))
			}
		}
		return err
	}
	c.RunE = func(c *cobra.Command, _ []string) error {
		s.progress = c.ErrOrStderr()
		if budget <= 0 {
			return cli.BadInput("--budget %s: want above 0", budget)
		}
		if page.Path == cli.Standard {
			return cli.BadInput("--page -: want a file")
		}
		if mpi.Launched() < 0 && !here && shared.Sim == "" {
			if err := cli.RefuseUnless(false, c, "only of a job, or with --here or --sim", "ranks", "budget"); err != nil {
				return err
			}
			if err := page.Check(); err != nil {
				return err
			}
			return finish(repeat(each, nil, &s, new(allowance), func(e experiment, own *stage) error { return e.simulate(c.Context(), own) }))
		}
		if err := cli.RefuseUnless(false, c, "only of the machines of the sources", "full"); err != nil {
			return err
		}
		return shared.Run(c, func(comm mpi.Communicator) error {
			outcomes, err := repeat(each, comm, &s, allow(comm, budget, len(each)), func(e experiment, own *stage) error { return e.measure(c.Context(), comm, own) })
			if comm.Rank() != 0 {
				return err
			}
			return finish(outcomes, err)
		})
	}
	return c
}

// begun is a source whose experiment has its flags.
type begun struct {
	source
	experiment
}

// repeat runs experiments one after the other. Of several, one that asks for another machine is left out. With an error
// comes what there is until then. With a communicator it is collective.
func repeat(each []begun, comm mpi.Communicator, s *stage, budget *allowance, run func(experiment, *stage) error) ([]*outcome.Outcome, error) {
	var outcomes []*outcome.Outcome
	for _, e := range each {
		own := *s
		own.out, own.budget = &outcome.Outcome{Name: e.name, Source: e.title}, budget.split(1)
		err := run(e.experiment, &own)
		var unfit *cli.InputError
		switch {
		case err == nil:
			outcomes = append(outcomes, own.out)
		case len(each) > 1 && errors.As(err, &unfit):
			if comm == nil || comm.Rank() == 0 {
				fmt.Fprintf(s.progress, "warning: %s is left out: %v\n", e.name, err)
			}
		case errors.As(err, &unfit):
			return nil, err // on all ranks, as it is
		default:
			if len(own.out.Sections) > 0 {
				outcomes = append(outcomes, own.out)
			}
			return outcomes, fmt.Errorf("%s: %w", e.name, err)
		}
	}
	if len(outcomes) == 0 {
		return nil, cli.BadInput("none of the experiments can be repeated on this machine")
	}
	return outcomes, nil
}

// An experiment repeats what one source has published.
type experiment interface {
	// simulate repeats it in virtual time, in this process, on machines like those of the source.
	simulate(context.Context, *stage) error
	// measure repeats it on the ranks of a job. It is collective. Where the machine is too small for it, it returns an
	// InputError on all ranks.
	measure(context.Context, mpi.Communicator, *stage) error
}

// A source is a publication whose experiments can be repeated.
type source struct {
	name, title string // of the command; author, year and title of the publication
	short, long string
	begin       func(*pflag.FlagSet) experiment // with its own flags
}

// sources are all of them, by the year of their publication.
func sources() []source {
	return []source{servetSource(), bannikovSource(), bufeSource(), zhuSource(), reinfjellSource()}
}
