package main

import (
	"context"
	"fmt"
	"maps"
	"math"
	"slices"

	"gonum.org/v1/gonum/stat"

	"github.com/topocast/topocast/internal/outcome"
	"github.com/topocast/topocast/internal/quantity"
	"github.com/topocast/topocast/internal/words"
	"github.com/topocast/topocast/measure/servet"
	"github.com/topocast/topocast/model"
	"github.com/topocast/topocast/topology/draw"
)

// distances measures each size on all hosts, for figure 3. It is collective; others than rank 0 get nil.
func (r *servetRun) distances(ctx context.Context) ([]*servet.Result, error) {
	var results []*servet.Result
	budget := r.budget.split(len(r.sizes))
	for _, size := range r.sizes {
		result, err := servet.Distance(ctx, r.comm, r.settings(size, 0, budget))
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
	series, err := r.ratios(s, "figure-3", "d", results)
	if err != nil {
		return err
	}
	for _, result := range results {
		var d, b []float64
		for i := range result.Steps {
			d, b = append(d, float64(result.Steps[i].At)), append(b, result.Steps[i].Bandwidth())
		}
		size := quantity.Bytes(result.Bytes)
		half := len(b) / 2
		s.Compare(outcome.AtMost, "far over near half: \"bandwidth decreases\", "+size, "", 1, stat.Mean(b[half:], nil)/stat.Mean(b[:half], nil))
		s.Compare(outcome.AtMost, "correlation of bandwidth and distance, "+size, "", 0, stat.Correlation(d, b, nil))
	}
	f, err := draw.Plot("Figure 3: bandwidth by distance, all hosts sending", draw.Axis{Name: "distance"}, draw.Axis{Name: "bandwidth", Format: quantity.Rate}, series)
	if err != nil {
		return err
	}
	s.Figure("figure-3", f)
	return nil
}

// ratios makes the table of some results and the series of the figure; all steps of one size and number of hosts.
func (r *servetRun) ratios(s *outcome.Section, name, step string, results []*servet.Result) ([]draw.Series, error) {
	columns := []outcome.Column{outcome.Number(step, "")}
	var series []draw.Series
	row := make(map[int][]any) // by step, a cell for each result's bandwidth and ratio
	for k, result := range results {
		size := quantity.Bytes(result.Bytes)
		columns = append(columns, outcome.Number(fmt.Sprintf("%s, %d", size, len(result.Hosts)), "B/s"), outcome.Number("ratio", ""))
		reference := result.Steps[0].Bandwidth()
		line := draw.Series{Name: fmt.Sprintf("%s, %s", size, words.Count(len(result.Hosts), "host"))}
		for i := range result.Steps {
			at, b := result.Steps[i].At, result.Steps[i].Bandwidth()
			if row[at] == nil {
				row[at] = []any{at}
				for range results {
					row[at] = append(row[at], math.NaN(), math.NaN())
				}
			}
			row[at][1+2*k], row[at][2+2*k] = b, reference/b
			line.X, line.Y = append(line.X, float64(at)), append(line.Y, b)
		}
		series = append(series, line)
		for _, w := range result.Warnings {
			if !slices.Contains(r.out.Warnings, w) {
				r.out.Warnings = append(r.out.Warnings, w)
			}
		}
	}
	t := s.Table(name, columns...)
	t.Title = "bandwidth by size of messages and hosts, and the ratio of each"
	for _, at := range slices.Sorted(maps.Keys(row)) {
		t.Row(row[at]...)
	}
	return series, nil
}

// accesses is figure 4; it returns the ratios on rank 0. It is collective.
func (r *servetRun) accesses(ctx context.Context) (*model.Degradation, error) {
	var shared []model.Resource
	if !r.simulated {
		var err error
		if shared, _, err = servet.Told(r.comm, nil); err != nil {
			return nil, err
		}
	}
	var results []*servet.Result
	budget := r.budget.split(len(r.sizes))
	for _, size := range r.sizes {
		settings := r.settings(size, 0, budget)
		settings.Resources = shared
		result, err := servet.Access(ctx, r.comm, settings)
		if err != nil {
			return nil, err
		}
		if result != nil {
			results = append(results, result)
		}
	}
	if r.comm.Rank() != 0 {
		return nil, nil
	}
	s := r.out.Section("Bandwidth by processes per host (figure 4, ratNC)")
	if len(results) == 0 || len(results[0].Steps) < 2 {
		s.Say("There are too few hosts, or ranks per host, to send from several at once.")
		return nil, nil
	}
	s.Say("k processes of each host, spread evenly over its processors and cores, send to the next host at once; as many messages in all for each k. ratNC is the bandwidth of a message with one process per host over that with k.")
	series, err := r.ratios(s, "figure-4", "k", results)
	if err != nil {
		return nil, err
	}
	f, err := draw.Plot("Figure 4: bandwidth by processes per host", draw.Axis{Name: "processes per host"}, draw.Axis{Name: "bandwidth", Format: quantity.Rate}, series)
	if err != nil {
		return nil, err
	}
	s.Figure("figure-4", f)
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
