package main

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"

	"github.com/topocast/topocast/bcast/table"
)

func rulesCommand() *cobra.Command {
	var openMPI, mpich, library string
	c := &cobra.Command{
		Use:   "rules [flags] REPORT...",
		Short: "Give the best of an MPI library's own broadcasts back to it",
		Long: `Rules reads reports of topocast bcast --json of jobs that differ in what the library's own broadcast was
told to do, prints the best setting for each size, and writes it to a file that the library reads: programs
that know nothing of topocast gain from it. The jobs have the same ranks on the same hosts. One of them leaves the
choice to the library; a setting goes before that choice only where the intervals of their medians lie apart.
Libraries read their settings when they start, so each needs a job of its own:

  S=8-8MiB
  mpirun -n 12 topocast bcast --only native --sizes $S --json > own.json
  for a in 1 2 3 4 5 6 7 8 9; do
    mpirun -n 12 --mca coll_tuned_use_dynamic_rules 1 \
      --mca coll_tuned_bcast_algorithm $a \
      --mca coll_tuned_bcast_algorithm_segmentsize 8192 \
      topocast bcast --only native --sizes $S --json > open$a.json
  done

and with MPICH, for binomial, scatter_ring_allgather and
scatter_recursive_doubling_allgather

    mpirun -n 12 -genv MPIR_CVAR_BCAST_INTRA_ALGORITHM binomial topocast ...

Reports from several roots may be given; a setting then has to be better from each.
The variables of the environment by which a job was set are in its report. Settings
in files of parameters are not.`,
		Example: `  topocast rules --openmpi bcast.rules own.json open?.json
  topocast rules --mpich bcast.json \
      --mpich-library /usr/lib/x86_64-linux-gnu/libmpich.so own.json m*.json`,
		Args: cobra.MinimumNArgs(1),
		RunE: func(c *cobra.Command, args []string) error {
			if mpich == "" {
				if err := refuseUnused(c, "only with --mpich", "mpich-library"); err != nil {
					return err
				}
			} else if library == "" {
				return badInput("--mpich: want --mpich-library, the file of the installed library: what is written takes the place of its whole table")
			}
			files := []outputFile{{"--openmpi", openMPI, c.OutOrStdout()}, {"--mpich", mpich, c.OutOrStdout()}}
			for i, f := range files {
				if err := f.check(files[:i]); err != nil {
					return err
				}
			}
			rules, err := readRules(args)
			if err != nil {
				return err
			}
			return handBack(c, rules, files[0], files[1], library)
		},
	}
	f := c.Flags()
	f.StringVar(&openMPI, "openmpi", "", "file of rules for Open MPI 4.1 and later 4.x and 5.x")
	f.StringVar(&mpich, "mpich", "", "file of choices for MPICH 4.0")
	f.StringVar(&library, "mpich-library", "", "the library's own file, libmpich.so, whose other choices are kept")
	return c
}

// readRules reads the reports and chooses.
func readRules(paths []string) (*table.NativeRules, error) {
	var runs []table.NativeRun
	for _, path := range paths {
		f, err := openInput(path)
		if err != nil {
			return nil, err
		}
		run, err := table.ReadNativeRun(f)
		f.Close()
		if err != nil {
			return nil, badInput("%s: %w", path, err)
		}
		runs = append(runs, *run)
	}
	rules, err := table.BestNative(runs)
	if err != nil {
		return nil, &inputError{err}
	}
	return rules, nil
}

// handBack prints the rules and writes the files, and says how they are used.
func handBack(c *cobra.Command, rules *table.NativeRules, openMPI, mpich outputFile, library string) error {
	out := reportWriter(c, openMPI, mpich)
	if err := rules.WriteText(out); err != nil {
		return err
	}
	for _, f := range []struct {
		outputFile
		write func(io.Writer) error
		use   string
	}{
		{openMPI, rules.WriteOpenMPI, "--mca coll_tuned_use_dynamic_rules 1 --mca coll_tuned_dynamic_rules_filename"},
		{mpich, func(w io.Writer) error {
			content, err := os.ReadFile(library)
			if err != nil {
				return err
			}
			return rules.WriteMPICH(w, content)
		}, "-genv " + table.MPICHVariable},
	} {
		if f.path == "" {
			continue
		}
		var content bytes.Buffer
		if err := f.write(&content); err != nil {
			return &inputError{err}
		}
		at, unsaved := f.save(func(w io.Writer) error {
			_, err := w.Write(content.Bytes())
			return err
		})
		if whole, err := filepath.Abs(at); err == nil && at != "" && f.path != standard {
			at = whole // ranks may start elsewhere
		}
		if at != "" {
			if _, err := fmt.Fprintf(out, "\nwritten to %s, for\n  mpirun %s %s ...\n", at, f.use, at); err != nil {
				return err
			}
		}
		if unsaved != nil {
			return unsaved
		}
	}
	return nil
}
