package draw

import (
	"errors"
	"fmt"
	"math"

	"gonum.org/v1/gonum/mat"

	"github.com/topocast/topocast/internal/quantity"
	"github.com/topocast/topocast/internal/stats"
	"github.com/topocast/topocast/internal/words"
	"github.com/topocast/topocast/topology"
)

const (
	usualPercentile = 0.99
	heatSide        = 1024 // cells along a side; where there are more hosts, several pairs share a cell
)

// A heat is what a heat map shows, as a picture and on the report page: the latencies of all pairs, in the order in
// which hosts are drawn, on a logarithmic scale of colours. The scale is cut, as one broken measurement would make all
// others look the same.
type heat struct {
	order       []int     // of the hosts
	first       []int     // of each group of the order: where its hosts begin
	side, block int       // cells along a side, and hosts along a cell
	cells       []float64 // s, row by row; NaN where nothing was measured, and on the diagonal
	low         float64   // s, the least above 0, which latencies of 0 count as
	cut, high   float64   // s: from cut on all have the lightest colour; the highest is high
	notes       []string
}

// newHeat makes the heat map of latencies in s. The order is that of the hierarchy's groups, or without one that of the
// matrix. The colours span the given share of the latencies.
func newHeat(latencies mat.Matrix, h *topology.Hierarchy, share float64) (*heat, error) {
	n, _ := latencies.Dims()
	orderNote := "The order is that of the groups that were found."
	if h == nil {
		h, orderNote = flatHierarchy(n), "The order is that of the matrix."
	}
	order, first := groupOrder(h)
	d := make([]float64, n*n) // in order
	known := make([]float64, 0, n*n)
	low, high := math.Inf(1), 0.0
	for i, a := range order {
		for j, b := range order {
			v := latencies.At(a, b)
			if i == j || !finite(v) || v < 0 {
				d[i*n+j] = math.NaN()
				continue
			}
			d[i*n+j], known = v, append(known, v)
			if high = max(high, v); v > 0 {
				low = min(low, v)
			}
		}
	}
	if high == 0 {
		return nil, errors.New("the matrix has no measurement above 0")
	}
	missing := n*(n-1) - len(known)
	within := int(math.Ceil(share * float64(len(known)))) // so many are not cut
	t := &heat{order: order, first: first, low: low, cut: max(low, stats.Select(known, max(0, within-1))), high: high}
	t.makeBlocks(d, n)
	t.notes = []string{fmt.Sprintf("Colours span %s to %s, logarithmic; nothing is cut.", quantity.Seconds(t.low), quantity.Seconds(t.cut))}
	if t.high > t.cut {
		t.notes = []string{
			fmt.Sprintf("Colours span %s to %s, logarithmic; cut at the percentile %g.", quantity.Seconds(t.low), quantity.Seconds(t.cut), 100*share),
			fmt.Sprintf("Measurements above have the lightest colour; the highest is %s.", quantity.Seconds(t.high)),
		}
	}
	if missing > 0 {
		t.notes = append(t.notes, fmt.Sprintf("Not measured, and white: %s of %d.", words.Count(missing, "pair"), n*(n-1)))
	}
	t.notes = append(t.notes, orderNote)
	if t.block > 1 {
		t.notes = append(t.notes, fmt.Sprintf("Each dot is the median of %d x %d pairs.", t.block, t.block))
	}
	return t, nil
}

// makeBlocks fills the cells with the n*n latencies, or with the medians of blocks of pairs where there are too many.
func (t *heat) makeBlocks(d []float64, n int) {
	t.block = (n + heatSide - 1) / heatSide
	t.side = (n + t.block - 1) / t.block
	if t.block == 1 {
		t.cells = d
		return
	}
	t.cells = make([]float64, t.side*t.side)
	var in []float64
	for i := range t.side {
		for j := range t.side {
			in = in[:0]
			for a := i * t.block; a < min(n, (i+1)*t.block); a++ {
				in = append(in, d[a*n+j*t.block:a*n+min(n, (j+1)*t.block)]...)
			}
			t.cells[i*t.side+j] = stats.Median(stats.SortedFinite(in))
		}
	}
}

// step is where a latency is on the logarithmic scale from low to top, from 0 to steps.
func (t *heat) step(v, top float64, steps int) int {
	if !(v > t.low) {
		return 0
	}
	return int(math.Round(min(1, math.Log(v/t.low)/math.Log(top/t.low)) * float64(steps)))
}
