package main

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"

	"github.com/topocast/topocast/internal/cli"
	"github.com/topocast/topocast/internal/rules"
	"github.com/topocast/topocast/model/results"
)

func rulesCommand(shared *cli.Flags) *cobra.Command {
	var openMPI, mpich *cli.Output
	var library string
	c := &cobra.Command{
		Use:   "rules REPORT...",
		Short: "Write rules files for Open MPI and MPICH",
		Long: `Rules reads reports of topocast bcast --json, prints the library's fastest algorithm for each size, and writes
it to a file that the library reads. Programs that do not use topocast then broadcast faster.
Each report is of a job in which another algorithm was forced on the library. One report leaves the
choice to the library. An algorithm replaces that choice only if the intervals of their medians are apart.
All jobs have the same ranks on the same hosts, and are set alike but for the algorithm:

  S=8-8MiB
  mpirun -n 12 topocast bcast --only native --sizes $S --json > own.json
  for a in 1 2 3 4 5 6 7 8 9; do
    mpirun -n 12 --mca coll_tuned_use_dynamic_rules 1 \
      --mca coll_tuned_bcast_algorithm $a \
      --mca coll_tuned_bcast_algorithm_segmentsize 8192 \
      topocast bcast --only native --sizes $S --json > open$a.json
  done

Open MPI 5 and 6 broadcast by the component HAN where several hosts have several ranks each: between hosts first, then
within hosts. A forced algorithm then works on these parts, and a file does not reach them. So give each of the
jobs, the first included, the option that leaves broadcasts to the component tuned:

  --mca coll_han_bcast_dynamic_global_communicator_module 3

The command that rules prints has the option, too. Gains are then over the choice of tuned. A report
without the option shows the times of HAN.

With MPICH, force binomial, scatter_ring_allgather and scatter_recursive_doubling_allgather:

  mpirun -n 12 -genv MPIR_CVAR_BCAST_INTRA_ALGORITHM binomial topocast ...

Reports from several roots may be given; an algorithm then has to be faster from each. Reports hold the variables
of the environment that set the library's collectives. They do not hold settings from files of parameters.

A file changes broadcasts on communicators with the measured number of ranks. MPICH 3.4 and 4 broadcast between
hosts first, then within hosts. There a file also changes the broadcasts within hosts of other
communicators, if as many ranks are on a host as in the measured job.`,
		Example: `  topocast bcast rules --openmpi bcast.rules own.json open?.json
  topocast bcast rules --mpich bcast.json \
      --mpich-library /usr/lib/x86_64-linux-gnu/libmpich.so own.json m*.json`,
		Args: cli.Args(0, "REPORT..., files of topocast bcast --json"),
		RunE: func(c *cobra.Command, args []string) error {
			if err := cli.RefuseUnless(mpich.Path != "", c, "only with --mpich", "mpich-library"); err != nil {
				return err
			}
			if mpich.Path != "" && library == "" {
				return cli.BadInput("--mpich: want --mpich-library, the file of the installed library: what is written takes the place of its whole table")
			}
			best, err := readRules(args)
			if err != nil {
				return err
			}
			return writeRules(c, shared, best, openMPI, mpich, library)
		},
	}
	f := c.Flags()
	openMPI = shared.Output(c, "openmpi", "", "", "file of rules for Open MPI 4.1, 5.0 or 6.0, whichever was measured")
	mpich = shared.Output(c, "mpich", "", "", "file of rules for MPICH 3.4 to 5.0")
	f.StringVar(&library, "mpich-library", "", "the library's own file, libmpich.so, whose other choices are kept")
	return cli.PrintsJSON(c, "topocast/rules")
}

// readRules reads the reports and chooses the fastest algorithms.
func readRules(paths []string) (*rules.Rules, error) {
	var reports []rules.Report
	for _, path := range paths {
		data, err := cli.ReadInput(path)
		if err != nil {
			return nil, err
		}
		report, err := rules.Read(path, data)
		if err != nil {
			return nil, cli.BadInput("%w", err)
		}
		reports = append(reports, *report)
	}
	best, err := rules.Best(reports)
	if err != nil {
		return nil, cli.BadInput("%w", err)
	}
	return best, nil
}

// writeRules prints the rules, writes the files, and prints how a job uses them.
func writeRules(c *cobra.Command, shared *cli.Flags, best *rules.Rules, openMPI, mpich *cli.Output, library string) error {
	err := shared.Print(c, best.WriteText, func(w io.Writer) error { return results.Write(w, best.Result()) })
	if err != nil {
		return err
	}
	out := shared.Report(c) // of what is said about the files
	if shared.JSON {
		out = c.ErrOrStderr()
	}
	for _, f := range []struct {
		*cli.Output
		write func(io.Writer) error
	}{
		{openMPI, best.WriteOpenMPI},
		{mpich, func(w io.Writer) error {
			content, err := os.ReadFile(library)
			if err != nil {
				return err
			}
			return best.WriteMPICH(w, content)
		}},
	} {
		if f.Path == "" {
			continue
		}
		var content bytes.Buffer
		if err := f.write(&content); err != nil {
			return cli.BadInput("%w", fmt.Errorf("%s: %w", f.Flag, err))
		}
		at, unsaved := f.Save(func(w io.Writer) error {
			_, err := w.Write(content.Bytes())
			return err
		})
		file := "FILE"
		if f.Path != cli.Standard || unsaved != nil {
			if whole, err := filepath.Abs(at); err == nil && at != "" {
				at, file = whole, whole // ranks may start elsewhere
			}
		}
		if at != "" {
			if _, err := fmt.Fprintf(out, "\nwritten to %s, for\n  mpirun %s ...\n", at, best.Options(file)); err != nil {
				return err
			}
		}
		if unsaved != nil {
			return unsaved
		}
	}
	return nil
}
