package main

import (
	"context"
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/stat"

	"github.com/topocast/topocast/internal/outcome"
	"github.com/topocast/topocast/internal/quantity"
	"github.com/topocast/topocast/measure/servet"
	"github.com/topocast/topocast/model"
	"github.com/topocast/topocast/topology/draw"
)

// distances is figure 3: by size on all hosts, and with the largest size on fewer hosts. It is collective.
func (r *servetRun) distances(ctx context.Context) error {
	var results []*servet.Result
	hosts := 0
	for _, size := range r.sizes {
		result, err := servet.Distance(ctx, r.comm, r.settings(size, 0, len(r.sizes)+2))
		if err != nil {
			return err
		}
		if result != nil {
			results, hosts = append(results, result), len(result.Hosts)
		}
	}
	told, err := r.tell(fmt.Append(nil, hosts))
	if err != nil {
		return err
	}
	if _, err := fmt.Sscan(string(told), &hosts); err != nil {
		return err
	}
	for n := hosts / 2; n >= max(4, hosts/4); n /= 2 {
		result, err := servet.Distance(ctx, r.comm, r.settings(slices.Max(r.sizes), n, len(r.sizes)+2))
		if err != nil {
			return err
		}
		if result != nil {
			results = append(results, result)
		}
	}
	if r.comm.Rank() != 0 {
		return nil
	}
	s := r.out.Section("Bandwidth by distance, all hosts sending (figure 3, ratDist)")
	if len(results) == 0 || len(results[0].Steps) < 2 {
		s.Say("There are too few hosts for distances.")
		return nil
	}
	s.Say("Host p sends to host p + d, all at once; the mean bandwidth of a message, and ratDist, that at distance 1 over it. The paper's machine had 32 hosts here, messages of 32 MB and a bandwidth that falls with the distance; the values are in its figure only.")
	series, err := r.ratios(s, "figure-3", "d", results)
	if err != nil {
		return err
	}
	for _, result := range results[:len(r.sizes)] {
		var d, b []float64
		for i := range result.Steps {
			d, b = append(d, float64(result.Steps[i].At)), append(b, result.Steps[i].Bandwidth())
		}
		s.Say("Correlation of bandwidth and distance with messages of %s: %.2f.", quantity.Bytes(result.Bytes), stat.Correlation(d, b, nil))
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
	t := s.Table(name, outcome.Number("message", "B"), outcome.Number("hosts", ""), outcome.Number(step, ""), outcome.Number("bandwidth", "B/s"), outcome.Number("ratio", ""))
	var series []draw.Series
	for _, result := range results {
		reference := result.Steps[0].Bandwidth()
		line := draw.Series{Name: fmt.Sprintf("%s, %d hosts", quantity.Bytes(result.Bytes), len(result.Hosts))}
		for i := range result.Steps {
			b := result.Steps[i].Bandwidth()
			t.Row(result.Bytes, result.Steps[i].Hosts, result.Steps[i].At, b, reference/b)
			line.X, line.Y = append(line.X, float64(result.Steps[i].At)), append(line.Y, b)
		}
		series = append(series, line)
		r.out.Warnings = append(r.out.Warnings, result.Warnings...)
	}
	return series, nil
}

// accesses is figure 4; it returns the ratios on rank 0. It is collective.
func (r *servetRun) accesses(ctx context.Context) (*model.Degradation, error) {
	var results []*servet.Result
	for _, size := range r.sizes {
		result, err := servet.Access(ctx, r.comm, r.settings(size, 0, len(r.sizes)))
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
	s.Say("k processes of each host, spread evenly over its cores, send to the next host at once; as many messages in all for each k. ratNC is the bandwidth of a message with one process per host over that with k.")
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
	if two := d.AccessRatio(2); !r.simulated && !math.IsNaN(two) { // the simulated machine is made so
		// "no significant difference between using one or two processes per node", section 5
		s.Compare("ratNC of 2, one process on each processor", "", 1, two)
	}
	return d, nil
}
