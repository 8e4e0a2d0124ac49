package main

import (
	"context"
	"io"
	"slices"
	"time"

	"github.com/spf13/pflag"

	"github.com/topocast/topocast/measure"
	"github.com/topocast/topocast/measure/progress"
	"github.com/topocast/topocast/model"
	"github.com/topocast/topocast/mpi"
	"github.com/topocast/topocast/topology"
)

// Sizes of the messages that are timed. The first gives the latencies.
const (
	latencySize = 8        // B
	mediumSize  = 64 << 10 // B
	longSize    = 1 << 20  // B
	longPairs   = 8        // pairs per level that exchange long messages, one at a time
)

// Defaults of the flags that set a measurement.
const (
	defaultBudget      = 30 * time.Second
	defaultRepetitions = 3
)

// measureOptions are the flags that set a measurement.
type measureOptions struct {
	budget      time.Duration
	repetitions int
	keep        string
	quiet       bool
}

func (o *measureOptions) flags(f *pflag.FlagSet) {
	f.DurationVar(&o.budget, "budget", defaultBudget, "longest time to measure")
	f.IntVar(&o.repetitions, "repetitions", defaultRepetitions, "how often every pair is measured")
	f.StringVar(&o.keep, "keep", "", "file for the readings themselves")
}

func (o *measureOptions) validate() error {
	if o.budget <= 0 {
		return badInput("--budget %s: want above 0", o.budget)
	}
	if o.repetitions < 1 || o.repetitions > 1000 {
		return badInput("--repetitions %d: want in [1, 1000]", o.repetitions)
	}
	return nil
}

// A measured job is what rank 0 knows of the times.
type measured struct {
	short, long *measure.Result // all pairs with short messages, some with long ones
	result      *topology.Result
}

// measureJob is collective: all pairs with short messages, whose times give the
// structure, then some of each level with long ones, which give the rates.
// Other ranks than 0 get nil.
func measureJob(ctx context.Context, comm mpi.Communicator, o *measureOptions, stderr io.Writer) (*measured, error) {
	var m measured
	s := measure.Settings{Sizes: []int{latencySize}, Repetitions: o.repetitions, Seed: 1, Budget: o.budget * 2 / 3, Date: now()}
	if comm.Rank() == 0 && !o.quiet {
		shown := progress.New(stderr, "latencies")
		defer shown.Close()
		s.Progress = shown.Show
	}
	var err error
	if m.short, err = measure.Run(ctx, comm, &s); err != nil {
		return nil, err
	}
	s = measure.Settings{Sizes: []int{mediumSize, longSize}, Alone: longPairs, Repetitions: 1, Samples: 5, Seed: 2, Budget: o.budget / 3}
	if comm.Rank() == 0 {
		if o.keep != "" {
			if err := m.short.WriteFile(o.keep); err != nil {
				return nil, err
			}
		}
		if m.result, err = (&topology.Linkage{}).Reconstruct(m.short.Repetitions()...); err != nil {
			return nil, err
		}
		m.result.Warnings = append(slices.Clone(m.short.Warnings), m.result.Warnings...)
		s.Groups = m.result.Hierarchy
	}
	if m.long, err = measure.Run(ctx, comm, &s); err != nil || comm.Rank() != 0 {
		return nil, err
	}
	return &m, nil
}

// network fits the parameters of a network to the times.
func (m *measured) network() (*model.Network, error) {
	locations := make([]model.Location, m.short.Ranks)
	for i := range locations {
		locations[i] = model.Location{Host: m.short.Hosts[i], Core: m.short.Cores[i]}
	}
	var observations []model.Observation
	for _, result := range []*measure.Result{m.short, m.long} {
		for _, x := range result.Readings() {
			observations = append(observations, model.Observation{
				Transfers: []model.Transfer{{Src: x.From, Dst: x.To, Bytes: int64(result.Sizes[x.Size])}},
				Seconds:   []float64{x.Median},
			})
		}
	}
	fitted, err := model.Fit(m.result, observations, &model.FitSettings{Network: model.Settings{
		Locations: locations,
		Measured: model.Metadata{
			Date: m.short.Date.Format(time.RFC3339), Tool: "topocast discover", Library: m.short.Library, Bytes: latencySize,
		},
	}})
	if err != nil {
		return nil, err
	}
	return fitted.Network, nil
}
