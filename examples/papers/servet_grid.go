package main

import (
	"fmt"
	"math/bits"

	"github.com/topocast/topocast/internal/outcome"
	"github.com/topocast/topocast/measure/harness"
	"github.com/topocast/topocast/model"
	"github.com/topocast/topocast/model/placement"
	"github.com/topocast/topocast/topology/draw"
)

// gridBlock is the size of a block of the matrices of section 6.1, in B: 512 x 512 numbers.
const gridBlock = 512 * 512 * 8

// orientation is section 6.1: the broadcasts of a triangular solve, in both orders of ranks. Grids are of a quarter of the ranks
// and of all, up to a power of two. Times are predicted by placement.Orient and measured. It is collective; the network is
// rank 0's.
func (r *servetRun) orientation(n *model.Network) error {
	type gridTimes struct {
		grid      placement.Grid
		predicted placement.Orientation
		measured  [2]float64 // by rows, by columns
	}
	var rows []gridTimes
	all := bits.Len(uint(r.comm.Size())) - 1 // a power of two
	for log := max(2, all-2); log <= all; log += 2 {
		grid := placement.Grid{Rows: 1 << (log / 2), Cols: 1 << (log - log/2)}
		// There are as many steps as columns. In each a block of U goes down each column that is left, and one of X along
		// each row. The last has none of X: nothing is to be brought up to date after it.
		block := int64(gridBlock)
		if !r.simulated {
			block /= 16 // 128 x 128
		}
		grid.RowBytes, grid.ColBytes = int64(grid.Cols-1)*block, int64(grid.Cols+1)*block/2
		x := gridTimes{grid: grid}
		var err error
		x.predicted, err = harness.Share(r.comm, nil, func() (placement.Orientation, error) { return placement.Orient(n, grid) })
		if err != nil {
			return err
		}
		for k := range x.measured {
			if x.measured[k], err = r.gridTime(grid, placement.Orientation{ByRows: k == 0}); err != nil {
				return err
			}
		}
		rows = append(rows, x)
	}
	if r.comm.Rank() != 0 {
		return nil
	}
	s := r.out.Section("Orientation of a grid of ranks (section 6.1, figure 6)")
	if len(rows) == 0 {
		s.Say("There are too few ranks for a grid.")
		return nil
	}
	s.Say("Broadcasts of a triangular solve (TRSM) along all rows and then along all columns of a grid: ranks in the order of rows, which the paper found to take about half as long, and of columns. Predicted by the discovered network, and measured with the same binomial trees. Computation and synchronisation, which did not change there, are left out: examples/summa -trsm has them.")
	t := s.Table("figure-6", outcome.Text("grid"), outcome.Text(""), outcome.Number("by rows", "s"), outcome.Number("by columns", "s"), outcome.Number("saved by rows", "%"))
	var names []string
	series := []draw.Series{{Name: "by rows", Apart: true}, {Name: "by columns", Apart: true}}
	for i, x := range rows {
		name := fmt.Sprintf("%d x %d", x.grid.Rows, x.grid.Cols)
		saved := func(byRows, byColumns float64) float64 { return 100 * (1 - byRows/byColumns) }
		t.Row(name, "predicted", x.predicted.TimeByRows, x.predicted.TimeByCols, saved(x.predicted.TimeByRows, x.predicted.TimeByCols))
		t.Row(name, "measured", x.measured[0], x.measured[1], saved(x.measured[0], x.measured[1]))
		// "communication time decreases around 50%", for 512 and 2048 cores
		s.Compare(outcome.About, "communication saved by rows, "+name, "%", 50, saved(x.measured[0], x.measured[1]))
		names = append(names, name)
		for k := range series {
			series[k].X, series[k].Y = append(series[k].X, float64(i)), append(series[k].Y, x.measured[k]*1e3)
		}
	}
	if r.cray {
		s.Because("An input: the paper has 16 and 64 hosts. 8 x 8 ranks are on two hosts here, 16 x 16 on eight, and more is saved the more hosts a line of ranks is on.")
	} else {
		s.Because(notTheMachine)
	}
	picture, err := draw.Plot("Figure 6: communication of TRSM by the order of ranks", draw.Axis{Labels: names}, draw.Axis{Name: "ms"}, series)
	return s.Figure("figure-6", picture, err)
}

// gridTime is the median time of the broadcasts of a grid. It is collective; others than rank 0 get 0.
func (r *servetRun) gridTime(g placement.Grid, o placement.Orientation) (float64, error) {
	var rounds []kernelRound
	for _, way := range []struct {
		bytes         int64
		lines, length int
		rank          func(line, i int) int
	}{
		{g.RowBytes, g.Rows, g.Cols, func(line, i int) int { return o.Rank(g, line, i) }},
		{g.ColBytes, g.Cols, g.Rows, func(line, i int) int { return o.Rank(g, i, line) }},
	} {
		for have := 1; have < way.length; have *= 2 {
			var round kernelRound
			for line := range way.lines {
				for i := 0; i < have && i+have < way.length; i++ {
					round.transfers = append(round.transfers, model.Transfer{Src: way.rank(line, i), Dst: way.rank(line, i+have), Bytes: way.bytes})
				}
			}
			rounds = append(rounds, round)
		}
	}
	return r.medianTime(rounds, inOrder(r.comm.Size()), r.repetitions)
}

// inOrder is the placement of rank i on place i.
func inOrder(n int) []int {
	place := make([]int, n)
	for i := range place {
		place[i] = i
	}
	return place
}
