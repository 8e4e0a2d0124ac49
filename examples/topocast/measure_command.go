package main

import (
	"cmp"
	"encoding/json"
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"github.com/topocast/topocast/measure"
	"github.com/topocast/topocast/measure/progress"
	"github.com/topocast/topocast/mpi"
	"github.com/topocast/topocast/topology/encode"
)

func measureCommand(run runner) *cobra.Command {
	var (
		o                  measureOptions
		sizes, output, csv string
		rounds, ranks      int
		asJSON             bool
	)
	c := &cobra.Command{
		Use:   "measure [flags]",
		Short: "Measure the latencies of all pairs of ranks and keep the readings",
		Long: `Measure times messages between all pairs of ranks, in rounds of disjoint pairs,
and writes the readings with the conditions under which they were taken. Samples
that something disturbs are taken again. With --csv the matrix of lower quartiles
over the first repetition is written too. topocast reconstruct reads both.

When the first rounds show that --budget is too small, fewer repetitions and
samples are taken. Ctrl-C or the end of the budget stops all ranks after the
round under way; what was measured is kept. Under a launcher that ends the job
before it is, the readings are in a file beside --output that ends in .part.`,
		Example: `  mpirun -n 64 topocast measure --output readings.json --csv latencies.csv
  topocast simulate --cluster tree:8x16x8 -- measure --rounds 8`,
		Args: cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			if err := o.validate(); err != nil {
				return err
			}
			list, err := parseSizes(sizes)
			if err != nil {
				return err
			}
			if rounds < 0 {
				return badInput("--rounds %d: want at least 0", rounds)
			}
			if asJSON && (output == standard || csv == standard) {
				return badInput("--json and %s: both are standard output", standard)
			}
			readings := outputFile{"--output", output, c.OutOrStdout()}
			matrix := outputFile{"--csv", csv, c.OutOrStdout()}
			return run(ranks, func(comm mpi.Communicator) error {
				if err := checkOutputs(comm, readings, matrix); err != nil {
					return err
				}
				s := measure.Settings{Sizes: list, Repetitions: o.repetitions, Rounds: rounds, Seed: 1, Budget: o.budget, Date: date(comm)}
				part := beginJournal(c.Context(), output, c.ErrOrStderr())
				if comm.Rank() == 0 {
					s.Journal = part.writer()
					s.Notify = func(note string) { fmt.Fprintf(c.ErrOrStderr(), "note: %s\n", note) }
					shown := progress.New(c.ErrOrStderr(), "measuring")
					defer shown.Close()
					s.Progress = shown.Show
				}
				result, err := measure.Run(c.Context(), comm, &s)
				if err != nil || comm.Rank() != 0 {
					part.end(false)
					return err
				}
				at, unsaved := readings.save(result.Write)
				part.end(unsaved == nil)
				_, noMatrix := matrix.save(func(w io.Writer) error { return writeMatrix(w, result) })
				report := reportWriter(c, readings, matrix)
				if asJSON {
					err = reportMeasured(report, result, at)
				} else {
					tellMeasured(report, c.ErrOrStderr(), result, at)
				}
				return cmp.Or(unsaved, noMatrix, err)
			})
		},
	}
	f := c.Flags()
	f.StringVar(&sizes, "sizes", "8", "message sizes, such as "+sizeForms+", by commas")
	f.StringVarP(&output, "output", "o", "readings.json", "file for the readings")
	f.StringVar(&csv, "csv", "", "file for the matrix of latencies in us")
	f.IntVar(&rounds, "rounds", 0, "rounds per repetition; 0: as many as all pairs need")
	f.BoolVar(&asJSON, "json", false, "print JSON (format topocast/measured) instead of text")
	f.IntVar(&ranks, "ranks", 0, "ranks without mpirun; 0: one per core")
	f.DurationVar(&o.budget, "budget", defaultBudget, "longest time to measure")
	f.IntVar(&o.repetitions, "repetitions", defaultRepetitions, "how often every pair is measured")
	return c
}

// writeMatrix writes the first repetition of the smallest size.
func writeMatrix(w io.Writer, r *measure.Result) error {
	repetitions := r.Matrices()
	if len(repetitions) == 0 {
		return fmt.Errorf("--csv: nothing was measured")
	}
	return encode.WriteMatrix(w, repetitions[0], nil, encode.Microsecond)
}

func tellMeasured(w, stderr io.Writer, r *measure.Result, file string) {
	for _, warning := range r.Warnings {
		fmt.Fprintf(stderr, "warning: %s\n", warning)
	}
	fmt.Fprintf(w, "%d ranks, %d of %d rounds, %d readings", r.Ranks, r.Rounds, r.TotalRounds, len(r.Readings()))
	if file != "" {
		fmt.Fprintf(w, " written to %s", file)
	}
	fmt.Fprintln(w)
}

// reportMeasured tells programs the same; the readings are in the file.
func reportMeasured(w io.Writer, r *measure.Result, file string) error {
	out := struct {
		Format      string   `json:"format"`
		Version     int      `json:"version"`
		File        string   `json:"readings_file"`
		Ranks       int      `json:"ranks"`
		Rounds      int      `json:"rounds"`
		TotalRounds int      `json:"total_rounds"`
		Stopped     string   `json:"stopped,omitempty"` // early, by "budget" or "context"
		Readings    int      `json:"readings"`
		Warnings    []string `json:"warnings"`
	}{"topocast/measured", 1, file, r.Ranks, r.Rounds, r.TotalRounds, r.Stopped, len(r.Readings()), append([]string{}, r.Warnings...)}
	return json.NewEncoder(w).Encode(out)
}
