package main

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"

	"gonum.org/v1/gonum/mat"
	"gonum.org/v1/gonum/stat"

	"github.com/topocast/topocast/internal/cli"
	"github.com/topocast/topocast/internal/outcome"
	"github.com/topocast/topocast/internal/words"
	"github.com/topocast/topocast/measure/harness"
	"github.com/topocast/topocast/measure/plogp"
	"github.com/topocast/topocast/mpi"
	"github.com/topocast/topocast/mpi/collective"
	"github.com/topocast/topocast/topology/draw"
)

// A placedReading is how a matrix of RTT(0) is measured in figure 5.4.
type placedReading struct {
	name    string
	place   []int // rank of the job that takes part as rank i
	barrier bool  // of all ranks before each pair, not of the pair alone
}

// places repeats section 5.1: what belongs to cores moves with them when ranks are placed otherwise, and what belongs to
// the measurement stays with the ranks. It is collective; out is for rank 0 alone.
func (o *reinfjellOptions) places(comm mpi.Communicator, out *outcome.Outcome) error {
	n := comm.Size()
	block := make([]int, n)
	for i := range block {
		block[i] = i
	}
	reversed := slices.Clone(block)
	slices.Reverse(reversed)
	orders := []placedReading{
		{name: "as they are", place: block},
		{name: "reversed", place: reversed},
		{name: "random", place: rand.New(rand.NewPCG(o.seed, 5)).Perm(n)},
		{name: "barrier of all", place: block, barrier: true},
	}
	reps := slices.Max(o.reps)
	var s *outcome.Section
	var t *outcome.Table
	if out != nil {
		s = out.Section("Ranks placed otherwise, and the barrier (figures 5.3 and 5.4)")
		s.Say("RTT(0) of all pairs, means of %s each, with the ranks as they are, in other orders, and with a barrier of all ranks instead of one of the pair before each pair. Correlations with the first are taken pair of cores by pair of cores, and pair of ranks by pair of ranks: what belongs to the machine follows the cores, and what belongs to the measuring stays with the ranks, as do the thesis' slow first two ranks and diagonal bands.", words.Count(reps, "round trip"))
		t = s.Table("figure-5.4", outcome.Text("order"), outcome.Number("by cores", ""), outcome.Number("by ranks", ""), outcome.Number("median", "s"), outcome.Number("ranks 0 and 1", "s"))
	}
	var first *mat.Dense
	for k, order := range orders {
		placed := comm
		if k == 1 || k == 2 {
			splitter, ok := comm.(mpi.Splitter)
			if !ok {
				continue
			}
			var err error
			if placed, err = splitter.Split(0, slices.Index(order.place, comm.Rank())); err != nil {
				return err
			}
		}
		// Rank 0 of the job tells; in another order it is another one there.
		m, err := roundTrips(placed, slices.Index(order.place, 0), reps, order.barrier)
		if err != nil {
			return err
		}
		if closer, ok := placed.(interface{ Close() error }); ok && placed != comm {
			if err := closer.Close(); err != nil {
				return err
			}
		}
		if out == nil {
			continue
		}
		if first == nil {
			first = m
		}
		t.Row(order.name, correlation(first, m, order.place), correlation(first, m, block), middleOf(m), m.At(0, 1))
		picture, err := draw.HeatMap("RTT(0), "+order.name, m, nil)
		if err != nil {
			return err
		}
		s.Figure("figure-5.4-"+strings.ReplaceAll(order.name, " ", "-"), picture)
	}
	return nil
}

// roundTrips are the means in s of messages of 0 bytes and their answers between all pairs, on the rank that tells; nil on
// others. Pairs meet by the circle method, each rank in one pair of a round. It is collective.
func roundTrips(comm mpi.Communicator, tells, reps int, all bool) (*mat.Dense, error) {
	n, me := comm.Size(), comm.Rank()
	now := harness.Clock(comm)
	places := n + n%2 // with one for nobody
	own := make([]float64, n)
	whole := harness.NewBarrier(comm)
	for round := range places - 1 {
		// The last place stays, and the others go round it.
		at := (places - 1 + round - me) % (places - 1)
		peer := at
		switch {
		case me == places-1:
			peer = round * (places / 2) % (places - 1)
		case at == me:
			peer = places - 1
		}
		if all {
			if _, err := whole.Wait(0); err != nil {
				return nil, err
			}
		}
		if peer >= n {
			continue
		}
		if !all {
			pair := []int{min(me, peer), max(me, peer)}
			if _, err := harness.NewSubsetBarrier(comm, pair).Wait(0); err != nil {
				return nil, err
			}
		}
		start := now()
		for range reps {
			pass := [2]func([]byte, int, int) error{comm.Send, comm.Recv}
			if me > peer {
				pass[0], pass[1] = pass[1], pass[0]
			}
			for _, step := range pass {
				if err := step(nil, peer, placesTag); err != nil {
					return nil, err
				}
			}
		}
		if me < peer {
			own[peer] = (now() - start) / float64(reps)
		}
	}
	var rows []float64
	if me == tells {
		rows = make([]float64, n*n)
	}
	if err := collective.Gather(collective.New(comm), rows, own, tells); err != nil || me != tells {
		return nil, err
	}
	m := mat.NewDense(n, n, rows)
	for i := range n {
		for j := range i {
			m.Set(i, j, m.At(j, i))
		}
	}
	return m, nil
}

// placesTag is that of all messages of roundTrips.
const placesTag = 1

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
