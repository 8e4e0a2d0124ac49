package main

import (
	"context"
	"fmt"

	"github.com/topocast/topocast/internal/cli"
	"github.com/topocast/topocast/internal/outcome"
	"github.com/topocast/topocast/measure/plogp"
	"github.com/topocast/topocast/topology"
	"github.com/topocast/topocast/topology/cluster"
	"github.com/topocast/topocast/topology/draw"
)

// measuringTimes repeats figure 5.18: the time to measure by nodes and repetitions. The nodes are measured at the same time.
func measuringTimes(ctx context.Context, stage *stage) error {
	reps, nodes := []int{8, 32}, []int{1, 2}
	if stage.full {
		reps, nodes = []int{8, 32, 64, 128}, []int{1, 2, 4}
	}
	s := stage.out.Section("Time to measure by nodes and repetitions (figure 5.18)")
	s.Say("Virtual time to measure messages of up to 4 KiB, with the additional sizes of section 3.1.2, on nodes of 8 cores (the thesis: 32 cores, 2 MiB). Pairs inside nodes are measured at the same time. The last row is the fast mode of section 3.2, which measures a share of the ranks of each node.")
	t := s.Table("figure-5.18", outcome.Number("nodes", ""), outcome.Number("R", ""), outcome.Number("ranks", "%"), outcome.Number("sizes of a pair", ""), outcome.Number("time", "s"))
	measure := func(count, reps int, share float64) (took, sizes float64, err error) {
		found, err := parametersOfNodes(ctx, count, reps, share)
		if err != nil {
			return 0, 0, err
		}
		for _, p := range found.Pairs {
			sizes += float64(len(p.Sizes))
		}
		sizes /= float64(len(found.Pairs))
		t.Row(count, reps, 100*share, sizes, found.took)
		return found.took, sizes, nil
	}
	var curves []draw.Series
	var took, sizes [2]float64 // of most nodes, by the first two numbers of repetitions
	for i, r := range reps {
		curve := draw.Series{Name: fmt.Sprintf("R = %d", r)}
		for _, count := range nodes {
			seconds, ofPair, err := measure(count, r, 1)
			if err != nil {
				return err
			}
			curve.X, curve.Y = append(curve.X, float64(count)), append(curve.Y, seconds)
			if i < len(took) {
				took[i], sizes[i] = seconds, ofPair
			}
		}
		curves = append(curves, curve)
	}
	if _, _, err := measure(nodes[len(nodes)-1], reps[0], 0.5); err != nil {
		return err
	}
	s.Compare(outcome.About, "time of R = 32 over that of R = 8", "", 1.5, took[1]/took[0])
	s.Because("The thesis explains that R = 32 takes so little longer by additional sizes, of which R = 8 wants many more. Here a pair has %.3g sizes with R = 8 and %.3g with R = 32: our measurements are medians, and their noise asks for no more of them.",
		sizes[0], sizes[1])
	picture, err := draw.Plot("Time to measure", draw.Axis{Name: "nodes"}, draw.Axis{Name: "virtual time (s)"}, curves)
	return s.Figure("figure-5.18", picture, err)
}

// parametersOfNodes measures a share of the ranks of some nodes, at the same time.
func parametersOfNodes(ctx context.Context, count, reps int, share float64) (timedParameters, error) {
	c, err := cli.SimulatedCluster(fmt.Sprintf("core:4 socket:2 host:%d latency=250ns,125ns,75ns", count))
	if err != nil {
		return timedParameters{}, err
	}
	settings := plogp.Settings{Longest: 4 << 10, Samples: reps, Share: share}
	if count > 1 {
		var nodes []topology.Group
		for _, ranks := range cluster.Labels(c.Node).Groups() {
			nodes = append(nodes, topology.Group{Hosts: ranks})
		}
		if settings.Groups, err = topology.NewHierarchy(c.Graph.Hosts(), make([]topology.Level, 1), nodes, 0); err != nil {
			return timedParameters{}, err
		}
	}
	return parameters(ctx, c, usualNoise(), settings)
}
