package main

import (
	"context"
	"fmt"

	"github.com/topocast/topocast/internal/cli"
	"github.com/topocast/topocast/internal/outcome"
	"github.com/topocast/topocast/measure/plogp"
	"github.com/topocast/topocast/topology/draw"
)

// duration repeats figure 5.18: the time to measure by nodes and repetitions. The nodes are measured at the same time.
func (o *reinfjellOptions) duration(ctx context.Context, out *outcome.Outcome, full bool) error {
	reps, nodes := []int{8, 32}, []int{1, 2}
	if full {
		reps, nodes = []int{8, 32, 64, 128}, []int{1, 2, 4}
	}
	s := out.Section("Time to measure by nodes and repetitions (figure 5.18)")
	s.Say("Virtual time to measure messages of up to 4 KiB, with the additional sizes of section 3.1.2, on nodes of 8 cores (the thesis: 32 cores, 2 MiB). Pairs inside nodes are measured at the same time.")
	t := s.Table("figure-5.18", outcome.Number("nodes", ""), outcome.Number("R", ""), outcome.Number("sizes of a pair", ""), outcome.Number("time", "s"))
	var curves []draw.Series
	took, sizesOf := make(map[[2]int]float64), make(map[[2]int]float64)
	for _, r := range reps {
		curve := draw.Series{Name: fmt.Sprintf("R = %d", r)}
		for _, count := range nodes {
			c, err := cli.SimulatedCluster(fmt.Sprintf("core:4 socket:2 host:%d latency=250ns,125ns,75ns", count))
			if err != nil {
				return err
			}
			groups, err := nodesOf(c)
			if err != nil {
				return err
			}
			result, seconds, err := o.parameters(ctx, c, &plogp.Settings{Longest: 4 << 10, Samples: r, Groups: groups})
			if err != nil {
				return err
			}
			sizes := 0
			for _, p := range result.Pairs {
				sizes += len(p.Sizes)
			}
			sizesOf[[2]int{count, r}] = float64(sizes) / float64(len(result.Pairs))
			t.Row(count, r, sizesOf[[2]int{count, r}], seconds)
			took[[2]int{count, r}] = seconds
			curve.X, curve.Y = append(curve.X, float64(count)), append(curve.Y, seconds)
		}
		curves = append(curves, curve)
	}
	last := nodes[len(nodes)-1]
	s.Compare(outcome.About, "time of R = 32 over that of R = 8", "", 1.5, took[[2]int{last, reps[1]}]/took[[2]int{last, reps[0]}])
	s.Because("The thesis explains that R = 32 takes so little longer by additional sizes, of which R = 8 wants many more. Here a pair has %.3g sizes with R = 8 and %.3g with R = 32: our measurements are medians, and their noise asks for no more of them.",
		sizesOf[[2]int{last, reps[0]}], sizesOf[[2]int{last, reps[1]}])
	picture, err := draw.Plot("Time to measure", draw.Axis{Name: "nodes"}, draw.Axis{Name: "virtual time (s)"}, curves)
	if err == nil {
		s.Figure("figure-5.18", picture)
	}
	return err
}
