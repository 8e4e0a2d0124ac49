package main

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"

	"gonum.org/v1/gonum/mat"
	"gonum.org/v1/gonum/stat"

	"github.com/topocast/topocast/internal/outcome"
	"github.com/topocast/topocast/measure/plogp"
	"github.com/topocast/topocast/topology/draw"
)

// places repeats section 5.1.1: what belongs to cores moves with them when ranks are placed otherwise, and what belongs to
// the measurement stays with the ranks.
func (o *reinfjellOptions) places(ctx context.Context, out *outcome.Outcome, spec string) error {
	c, err := simulatedCluster(spec)
	if err != nil {
		return err
	}
	n := c.Graph.Hosts()
	block := make([]int, n)
	for i := range block {
		block[i] = i
	}
	reversed := slices.Clone(block)
	slices.Reverse(reversed)
	orders := []struct {
		name  string
		place []int // core of each rank
	}{{"block", block}, {"reversed", reversed}, {"random", rand.New(rand.NewPCG(o.seed, 5)).Perm(n)}}
	s := out.Section("Ranks placed otherwise (figures 5.3 and 5.4)")
	s.Say("Correlation of the distances RTT(0) of each placement with those of the block placement, pair of cores by pair of cores, and pair of ranks by pair of ranks. What belongs to the machine follows the cores. The thesis also sees slow first ranks and diagonal bands that stay with the ranks, artefacts of its harness and machine; a simulation has none. Its third variant, MPI_Barrier instead of the barrier of a subset, has no counterpart: our harness has the one barrier.")
	t := s.Table("figure-5.4", outcome.Text("placement"), outcome.Number("by cores", ""), outcome.Number("by ranks", ""))
	var first mat.Matrix
	for _, order := range orders {
		r, _, err := o.parameters(ctx, c, order.place, &plogp.Settings{Longest: 1, Samples: slices.Max(o.reps)})
		if err != nil {
			return err
		}
		m, err := r.Distances(plogp.View{Distance: plogp.RoundTrip})
		if err != nil {
			return err
		}
		if first == nil {
			first = m
		}
		t.Row(order.name, correlation(first, m, order.place), correlation(first, m, block))
		picture, err := draw.HeatMap("RTT(0), placement "+order.name, m, nil)
		if err != nil {
			return err
		}
		s.Figure(fmt.Sprintf("figure-5.4-%s", order.name), picture)
	}
	return nil
}

// correlation is that of the off-diagonal cells of a with those of b, whose row i stands at at[i] of a.
func correlation(a, b mat.Matrix, at []int) float64 {
	var x, y []float64
	for i := range at {
		for j := range at {
			if i != j {
				x, y = append(x, a.At(at[i], at[j])), append(y, b.At(i, j))
			}
		}
	}
	return stat.Correlation(x, y, nil)
}

// duration repeats figure 5.18: the time to measure by nodes and repetitions. The nodes are measured at the same time.
func (o *reinfjellOptions) duration(ctx context.Context, out *outcome.Outcome) error {
	s := out.Section("Time to measure by nodes and repetitions (figure 5.18)")
	s.Say("Virtual time to measure messages of up to 4 KiB, with the additional sizes of section 3.1.2, on nodes of 8 cores (the thesis: 32 cores, 2 MiB). Pairs inside nodes are measured at the same time.")
	t := s.Table("figure-5.18", outcome.Number("nodes", ""), outcome.Number("R", ""), outcome.Number("sizes of a pair", ""), outcome.Number("time", "s"))
	var curves []draw.Series
	took := make(map[[2]int]float64)
	reps := []int{8, 32}
	nodes := []int{1, 2}
	for _, r := range reps {
		curve := draw.Series{Name: fmt.Sprintf("R = %d", r)}
		for _, count := range nodes {
			c, err := simulatedCluster(fmt.Sprintf("core:4 socket:2 host:%d latency=250ns,125ns,75ns", count))
			if err != nil {
				return err
			}
			groups, err := nodesOf(c)
			if err != nil {
				return err
			}
			result, seconds, err := o.parameters(ctx, c, nil, &plogp.Settings{Longest: 4 << 10, Samples: r, Groups: groups})
			if err != nil {
				return err
			}
			sizes := 0
			for _, p := range result.Pairs {
				sizes += len(p.Sizes)
			}
			t.Row(count, r, float64(sizes)/float64(len(result.Pairs)), seconds)
			took[[2]int{count, r}] = seconds
			curve.X, curve.Y = append(curve.X, float64(count)), append(curve.Y, seconds)
		}
		curves = append(curves, curve)
	}
	last := nodes[len(nodes)-1]
	s.Bound("time of R = 32 over that of R = 8", "", outcome.About, 1.5, took[[2]int{last, reps[1]}]/took[[2]int{last, reps[0]}])
	picture, err := draw.Plot("Time to measure", draw.Axis{Name: "nodes"}, draw.Axis{Name: "virtual time (s)"}, curves)
	if err == nil {
		s.Figure("figure-5.18", picture)
	}
	return err
}
