package main

import (
	"context"
	"io"
	"time"

	"github.com/spf13/pflag"
	"gonum.org/v1/gonum/mat"

	"github.com/topocast/topocast/measure"
	"github.com/topocast/topocast/model"
	"github.com/topocast/topocast/mpi"
	"github.com/topocast/topocast/topology"
)

// Sizes of the messages that are timed. The first gives the latencies.
const (
	latencySize = 8        // B
	mediumSize  = 64 << 10 // B
	longSize    = 1 << 20  // B
	longRounds  = 8        // rounds in which long messages are timed: a part of the pairs is enough
)

// measureOptions are the flags that set a measurement.
type measureOptions struct {
	budget      time.Duration
	repetitions int
	keep        string
	quiet       bool
}

func (o *measureOptions) flags(f *pflag.FlagSet) {
	f.DurationVar(&o.budget, "budget", 30*time.Second, "longest time to measure")
	f.IntVar(&o.repetitions, "repetitions", 3, "how often every pair is measured")
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
	latencies []mat.Matrix // one matrix per repetition, s
	short     *measure.Result
	long      *measure.Result
}

// measureJob is collective: all pairs with short messages, for the structure,
// then a part of them with long ones, for the rates. Other ranks than 0 get
// nil.
func measureJob(ctx context.Context, comm mpi.Communicator, o *measureOptions, stderr io.Writer) (*measured, error) {
	s := measure.Settings{Sizes: []int{latencySize}, Repetitions: o.repetitions, Seed: 1, Budget: o.budget * 2 / 3, Date: now()}
	if comm.Rank() == 0 && !o.quiet {
		s.Progress = showProgress(stderr, "latencies")
	}
	short, err := measure.Run(ctx, comm, &s)
	if err != nil {
		return nil, err
	}
	s.Sizes, s.Rounds, s.Budget, s.Samples, s.Progress = []int{mediumSize, longSize}, longRounds, o.budget/3, 5, nil
	long, err := measure.Run(ctx, comm, &s)
	if err != nil || comm.Rank() != 0 {
		return nil, err
	}
	if o.keep != "" {
		if err := short.WriteFile(o.keep); err != nil {
			return nil, err
		}
	}
	return &measured{latencies: short.Repetitions(), short: short, long: long}, nil
}

// network fits the parameters of a network to the times.
func (m *measured) network(r *topology.Result) (*model.Network, error) {
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
	fitted, err := model.Fit(r, observations, &model.FitSettings{Network: model.Settings{
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
