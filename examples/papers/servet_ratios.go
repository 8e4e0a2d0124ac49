package main

import (
	"context"
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/stat"

	"github.com/topocast/topocast/internal/cli"
	"github.com/topocast/topocast/internal/outcome"
	"github.com/topocast/topocast/internal/quantity"
	"github.com/topocast/topocast/internal/words"
	"github.com/topocast/topocast/measure/harness"
	"github.com/topocast/topocast/measure/servet"
	"github.com/topocast/topocast/model"
	"github.com/topocast/topocast/topology/draw"
)

// distances measures each size on all hosts, for figure 3. It is collective; others than rank 0 get nil.
func (r *servetRun) distances(ctx context.Context) ([]*servet.Result, error) {
	if err := cli.CheckMemory(r.comm, r.sizes); err != nil {
		return nil, err
	}
	return r.measureSizes(func(s *servet.Settings) (*servet.Result, error) { return servet.Distance(ctx, r.comm, s) })
}

// measureSizes makes a measurement for each size. It is collective; others than rank 0 get nil.
func (r *servetRun) measureSizes(measure func(*servet.Settings) (*servet.Result, error)) ([]*servet.Result, error) {
	var results []*servet.Result
	budget := r.budget.split(len(r.sizes))
	for _, size := range r.sizes {
		result, err := measure(&servet.Settings{Control: harness.Control{Budget: budget.next()}, Bytes: size, Repetitions: r.repetitions})
		if err != nil {
			return nil, err
		}
		if result != nil {
			results = append(results, result)
		}
	}
	return results, nil
}

// averaged are the mean bandwidths of several days, and the largest standard deviation of one of them over the days, relative to it;
// NaN of one day.
func averaged(days [][]*servet.Result) (means []*servet.Result, deviation float64) {
	deviation = math.NaN()
	for k, first := range days[0] {
		mean := *first
		mean.Steps = slices.Clone(first.Steps)
		for i := range mean.Steps {
			var all []float64
			for _, day := range days {
				all = append(all, day[k].Steps[i].Bandwidth())
			}
			m, d := stat.MeanStdDev(all, nil)
			mean.Steps[i].Bandwidths = []float64{m}
			if relative := d / m; !(relative <= deviation) {
				deviation = relative
			}
		}
		means = append(means, &mean)
	}
	return means, deviation
}

// figure3 writes distances of some days.
func (r *servetRun) figure3(days [][]*servet.Result) error {
	s := r.out.Section("Bandwidth by distance, all hosts sending (figure 3, ratDist)")
	results, deviation := averaged(days)
	if len(results) == 0 || len(results[0].Steps) < 2 {
		s.Say("There are too few hosts for distances.")
		return nil
	}
	s.Say("Host p sends to host p + d, all at once; the mean bandwidth of a message, and ratDist, that at distance 1 over it. The paper's machine had 32 hosts here, messages of 32 MB and a bandwidth that falls with the distance; the values are in its figure only, so that its words are taken as bounds.")
	if len(days) > 1 {
		s.Say("Messages are shorter here. With --sizes 32MiB bandwidths differ by 1 %% from those with 2 MiB, and all of the experiment takes 9 GB of memory.")
		s.Say("Means of %d runs, as in the paper, each on other hosts: as many in a row of the torus, beginning anywhere, as the paper does not say how its scheduler chose them. The paper finds the standard deviations not significant; ours are %.2g %% at most.", len(days), 100*deviation)
	}
	series := r.ratios(s, "figure-3", "d", results)
	for k, result := range results {
		d, b := series[k].X, series[k].Y
		size := quantity.Bytes(result.Bytes)
		half := len(b) / 2
		s.Compare(outcome.AtMost, "far over near half: \"bandwidth decreases\", "+size, "", 1, stat.Mean(b[half:], nil)/stat.Mean(b[:half], nil))
		s.Compare(outcome.AtMost, "correlation of bandwidth and distance, "+size, "", 0, stat.Correlation(d, b, nil))
	}
	picture, err := draw.Plot("Figure 3: bandwidth by distance, all hosts sending", draw.Axis{Name: "distance"}, draw.Axis{Name: "bandwidth", Format: quantity.Rate}, series)
	return s.Figure("figure-3", picture, err)
}

// ratios makes the table of results, which have the same steps, and the series of the figure.
func (r *servetRun) ratios(s *outcome.Section, name, step string, results []*servet.Result) []draw.Series {
	columns := []outcome.Column{outcome.Number(step, "")}
	series := make([]draw.Series, len(results))
	for k, result := range results {
		size := quantity.Bytes(result.Bytes)
		columns = append(columns, outcome.Number(fmt.Sprintf("%s, %d", size, len(result.Hosts)), "B/s"), outcome.Number("ratio", ""))
		series[k].Name = fmt.Sprintf("%s, %s", size, words.Count(len(result.Hosts), "host"))
		for _, w := range result.Warnings {
			r.out.Warn("%s", w)
		}
	}
	t := s.Table(name, columns...)
	t.Title = "bandwidth by size of messages and hosts, and the ratio of each"
	for i := range results[0].Steps {
		at := results[0].Steps[i].At
		row := []any{at}
		for k, result := range results {
			b := result.Steps[i].Bandwidth()
			row = append(row, b, result.Steps[0].Bandwidth()/b)
			series[k].X, series[k].Y = append(series[k].X, float64(at)), append(series[k].Y, b)
		}
		t.Row(row...)
	}
	return series
}

// accesses is figure 4; it returns the ratios on rank 0. It is collective.
func (r *servetRun) accesses(ctx context.Context) (*model.Degradation, error) {
	var shared []model.Resource
	if !r.simulated {
		var err error
		if shared, _, err = servet.FromSystem(r.comm, nil); err != nil {
			return nil, err
		}
	}
	results, err := r.measureSizes(func(s *servet.Settings) (*servet.Result, error) {
		s.Resources = shared
		return servet.Access(ctx, r.comm, s)
	})
	if err != nil || r.comm.Rank() != 0 {
		return nil, err
	}
	s := r.out.Section("Bandwidth by processes per host (figure 4, ratNC)")
	if len(results) == 0 || len(results[0].Steps) < 2 {
		s.Say("There are too few hosts, or ranks per host, to send from several at once.")
		return nil, nil
	}
	s.Say("k processes of each host, spread evenly over its processors and cores, send to the next host at once; as many messages in all for each k. ratNC is the bandwidth of a message with one process per host over that with k.")
	series := r.ratios(s, "figure-4", "k", results)
	picture, err := draw.Plot("Figure 4: bandwidth by processes per host", draw.Axis{Name: "processes per host"}, draw.Axis{Name: "bandwidth", Format: quantity.Rate}, series)
	if err := s.Figure("figure-4", picture, err); err != nil {
		return nil, err
	}
	largest := slices.IndexFunc(results, func(x *servet.Result) bool { return x.Bytes == slices.Max(r.sizes) })
	d, err := servet.Degradation(nil, results[largest])
	if err != nil {
		return nil, err
	}
	// Section 5; significant are ratios above 1.5, section 4.2.
	const none, significant = "ratNC of 2: \"no significant difference\"", 1.5
	if two := d.AccessRatio(2); r.cray {
		s.Compare(outcome.Input, none, "", 1, two)
	} else if !math.IsNaN(two) {
		s.Compare(outcome.AtMost, none, "", significant, two)
	}
	for k := 4; k < len(d.Access); k++ {
		if ratio := d.AccessRatio(k); !math.IsNaN(ratio) {
			s.Compare(outcome.AtLeast, fmt.Sprintf("ratNC of %d: \"penalise performance significantly\"", k), "", significant, ratio)
		}
	}
	return d, nil
}
