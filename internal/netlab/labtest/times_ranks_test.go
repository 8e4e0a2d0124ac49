//go:build linux

package labtest

import (
	"context"
	"fmt"
	"time"

	"github.com/topocast/topocast/measure"
	"github.com/topocast/topocast/measure/plogp"
	"github.com/topocast/topocast/mpi"
	"github.com/topocast/topocast/topology"
	"github.com/topocast/topocast/topology/linkage"
)

// A timesReport has what was measured of the pairs of a lab's hosts.
type timesReport struct {
	Latency  [][]float64   `json:"latency_s"` // medians of all pairs
	All      [][]int       `json:"all"`       // groups by all pairs, of ranks, coarse to fine
	Few      [][]int       `json:"few"`       // by the pairs that adaptive discovery reads
	FewPairs int           `json:"few_pairs"`
	Params   []timesOfPair `json:"plogp"`
	Warnings []string      `json:"warnings"`
	Seconds  [3]float64    `json:"seconds"` // of latencies, adaptive discovery, PLogP
}

// timesOfPair are PLogP parameters.
type timesOfPair struct {
	Src     int       `json:"src"`
	Dst     int       `json:"dst"`
	Latency float64   `json:"latency_s"`
	Sizes   []int64   `json:"sizes"`
	Gap     []float64 `json:"gap_s"`
}

// What PLogP measures on a lab: a quarter of the ranks with each other, and messages of up to
// 20 ms at 100 Mbit/s.
const (
	timesShare   = 0.25
	timesLongest = 256 << 10 // B
	timesSamples = 11
)

// measureTimes measures the pairs of a lab with one rank per host. It is collective.
func measureTimes(comm mpi.Communicator) (*timesReport, error) {
	ctx := context.Background()
	var r timesReport
	start := time.Now()
	lap := func(i int) {
		r.Seconds[i] = time.Since(start).Seconds()
		start = time.Now()
	}
	short, err := measure.Run(ctx, comm, &measure.Settings{Sizes: []int{shortSize}, Sampling: measure.Sampling{Seed: 1}})
	if err != nil {
		return nil, err
	}
	lap(0)
	few, err := measure.Discover(ctx, comm, &measure.DiscoverSettings{Sampling: measure.Sampling{Seed: 1}, Pairs: measure.FewPairs, Patterns: -1})
	if err != nil {
		return nil, err
	}
	lap(1)
	params, err := plogp.Measure(ctx, comm, &plogp.Settings{
		Longest: timesLongest, Samples: timesSamples, ExtraSizes: -1, Share: timesShare, Seed: 1,
	})
	if err != nil || comm.Rank() != 0 {
		return nil, err
	}
	lap(2)
	all, err := (&linkage.Robust{}).Reconstruct(short.Matrices()...)
	if err != nil {
		return nil, err
	}
	medians, err := short.Matrix(func(x *measure.Measurement) float64 { return x.Median }, 0, 0)
	if err != nil {
		return nil, err
	}
	for i := range short.Ranks {
		row := append([]float64{}, medians.RawRowView(i)...)
		row[i] = 0 // NaN has no place in JSON
		r.Latency = append(r.Latency, row)
	}
	r.All, r.Few = confidentGroups(all), confidentGroups(few.Topology)
	read := make(map[[2]int]bool)
	for _, x := range few.Latencies.Measurements() {
		read[[2]int{min(x.From, x.To), max(x.From, x.To)}] = true
	}
	r.FewPairs = len(read)
	for _, p := range params.Pairs {
		r.Params = append(r.Params, timesOfPair{p.Src, p.Dst, p.Latency, p.Sizes, p.Gap})
	}
	r.Warnings = append(append(short.Warnings, few.Topology.Warnings...), params.Warnings...)
	if params.Stopped != "" {
		return nil, fmt.Errorf("labtest: PLogP stopped by %s", params.Stopped)
	}
	return &r, nil
}

// confidentGroups are the ranks of all confident groups but that of all ranks, coarse to fine.
func confidentGroups(found *topology.Result) [][]int {
	var groups [][]int
	for _, g := range found.Hierarchy.Confident(topology.ConfidentFrom).Groups()[1:] {
		groups = append(groups, g.Hosts)
	}
	return groups
}
