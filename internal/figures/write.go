package main

import (
	"encoding/json"
	"fmt"
	"io"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/topocast/topocast/internal/outfile"
	"github.com/topocast/topocast/internal/words"
)

// A report is all that was measured in one run.
type report struct {
	Format  string    `json:"format"`
	Time    time.Time `json:"time"`
	Machine machine   `json:"machine"`
	Figures []result  `json:"figures"`
}

// write writes name.json and name.md.
func (r *report) write(name string) error {
	err := outfile.Write(name+".json", func(w io.Writer) error {
		e := json.NewEncoder(w)
		e.SetEscapeHTML(false)
		e.SetIndent("", "\t")
		return e.Encode(r)
	})
	if err != nil {
		return err
	}
	return outfile.Write(name+".md", r.markdown)
}

func (r *report) markdown(w io.Writer) error {
	var b strings.Builder
	fmt.Fprintf(&b, "# Figures of topocast, measured again\n\n%s, %s, %s: %s.\n\nMedians, with their 95 %% intervals where the runs are enough to tell.\n",
		r.Time.Format(time.DateTime), r.Machine.System, words.Count(r.Machine.CPUs, "CPU"), strings.Join(r.Machine.Versions, "; "))
	for _, f := range r.Figures {
		fmt.Fprintf(&b, "\n## %s\n\nREADME: %s\n\n", f.What, f.Claimed)
		fmt.Fprintf(&b, "    %s\n\n%s in %.0f s.\n", f.Command, words.Count(f.Runs, "run"), f.Seconds)
		if f.Error != "" {
			fmt.Fprintf(&b, "\n**Failed: %s**\n", f.Error)
		}
		if len(f.Benchmarks) > 0 {
			fmt.Fprintf(&b, "\n```\n%s```\n", f.table())
		}
		if f.Output != "" {
			fmt.Fprintf(&b, "\n```\n%s\n```\n", f.Output)
		}
	}
	_, err := io.WriteString(w, b.String())
	return err
}

func (r *result) table() string {
	var b strings.Builder
	t := tabwriter.NewWriter(&b, 0, 0, 2, ' ', 0)
	fmt.Fprintln(t, "benchmark\tmedian\tunit\tinterval\tresults")
	for _, x := range r.Benchmarks {
		interval := ""
		if x.Low != nil {
			interval = fmt.Sprintf("%.4g to %.4g", *x.Low, *x.High)
		}
		fmt.Fprintf(t, "%s\t%.4g\t%s\t%s\t%d\n", x.Name, x.Median, x.Unit, interval, x.N)
	}
	t.Flush()
	return b.String()
}
