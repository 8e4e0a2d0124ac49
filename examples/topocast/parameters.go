package main

import (
	"bytes"
	"fmt"
	"slices"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
	"gonum.org/v1/gonum/mat"

	"github.com/topocast/topocast/internal/cli"
	"github.com/topocast/topocast/internal/quantity"
	"github.com/topocast/topocast/measure/plogp"
	"github.com/topocast/topocast/measure/record"
)

// parameterOptions are the flags that say what of PLogP parameters tells ranks apart.
type parameterOptions struct {
	distance, size, fit string
}

// How parameters depend on the size (Reinfjell 2023, section 3.2).
const (
	fitPiecewise = "piecewise"
	fitLinear    = "linear"
)

func (o *parameterOptions) flags(f *pflag.FlagSet) {
	f.StringVar(&o.distance, "distance", "", "of PLogP parameters: latency, time, time33, rtt or profile")
	f.StringVar(&o.size, "bytes", "0", "with --distance: size of the message, such as "+cli.SizeForms)
	f.StringVar(&o.fit, "fit", fitPiecewise, "with --distance: parameters are piecewise linear in the size, or linear")
}

// view is what the flags ask for; nil: --distance was not given.
func (o *parameterOptions) view(c *cobra.Command) (*plogp.View, error) {
	if o.distance == "" && !c.Flags().Changed("distance") {
		return nil, cli.RefuseUnused(c, "only with --distance", "bytes", "fit")
	}
	d, err := plogp.ParseDistance(o.distance)
	if err != nil {
		return nil, cli.BadInput("--distance: %w", err)
	}
	v := &plogp.View{Distance: d, Linear: o.fit == fitLinear}
	if v.Bytes, err = cli.ParseSize(o.size); err != nil {
		return nil, cli.BadInput("--bytes: %w", err)
	}
	if o.fit != fitLinear && o.fit != fitPiecewise {
		return nil, cli.BadInput("--fit %q: want %s or %s", o.fit, fitPiecewise, fitLinear)
	}
	return v, nil
}

// holdsParameters tells whether a file of measurements has PLogP parameters.
func holdsParameters(data []byte) bool {
	f, err := record.Read(bytes.NewReader(data))
	return err == nil && f.Section(plogp.Kind) != nil
}

// readParameters reads the PLogP parameters of a file, as distances.
func readParameters(path string, v plogp.View, unit string, repetitions []string) (*latencies, error) {
	switch {
	case unit != "":
		return nil, cli.BadInput("--unit: with --distance, which is of parameters in s")
	case len(repetitions) > 0:
		return nil, cli.BadInput("--reps: with --distance: parameters are of one run")
	}
	data, err := cli.ReadInput(path)
	if err != nil {
		return nil, err
	}
	none := cli.BadInput("%s: holds no PLogP parameters: topocast measure --what %s measures them", path, plogp.Kind)
	switch text := bytes.TrimSpace(data); {
	case len(text) == 0:
		return nil, cli.BadInput("%s: is empty", path)
	case text[0] != '{': // such as a plain matrix
		return nil, none
	}
	f, err := record.Read(bytes.NewReader(data))
	if err != nil {
		return nil, cli.BadInput("%s: %w", path, err)
	}
	s := f.Section(plogp.Kind)
	if s == nil {
		return nil, none
	}
	r, err := plogp.FromSection(s, f.Ranks)
	if err != nil {
		return nil, cli.BadInput("%s: %w", path, err)
	}
	l, err := parameterDistances(&f.Header, r, v)
	if err != nil {
		return nil, cli.BadInput("%s: %w", path, err)
	}
	return l, nil
}

// parameterDistances are the distances of the ranks of a job.
func parameterDistances(job *record.Header, r *plogp.Result, v plogp.View) (*latencies, error) {
	d, err := r.Distances(v)
	if err != nil {
		return nil, err
	}
	times, err := r.Distances(plogp.View{Bytes: v.Bytes, Linear: v.Linear})
	if err != nil {
		return nil, fmt.Errorf("times of the network: %w", err)
	}
	warnings := slices.Clone(r.Warnings)
	longest := int64(0)
	for i := range r.Pairs {
		if sizes := r.Pairs[i].Sizes; len(sizes) > 0 {
			longest = max(longest, sizes[len(sizes)-1])
		}
	}
	if v.Bytes > longest {
		warnings = append(warnings, fmt.Sprintf("messages of %s are longer than all that were measured (up to %s): their parameters are extrapolated", quantity.Bytes(v.Bytes), quantity.Bytes(longest)))
	}
	return &latencies{matrices: []mat.Matrix{d}, job: job, parameters: r, view: v, times: times, warnings: warnings}, nil
}
