package draw

import (
	"encoding/base64"
	"encoding/binary"
	"math"

	"github.com/topocast/topocast/topology"
)

// heatData are the latencies of all pairs as cells of two bytes, little endian, row by row: 1+step,
// where steps divide the logarithm from Low to High, and 0 for what is not known.
type heatData struct {
	Side  int    `json:"side"`  // cells in a row
	Block int    `json:"block"` // hosts in a cell
	Low   figure `json:"low"`   // s, the least
	High  figure `json:"high"`  // s, the greatest
	Cut   figure `json:"cut"`   // s; all above have the last colour
	Share figure `json:"share"` // of the pairs that are at most Cut
	Cells string `json:"cells"` // base 64
}

// timesData is the histogram of the latencies, of bins that are as wide on a logarithmic axis.
type timesData struct {
	Edges  []figure `json:"edges"`  // s
	Counts [][]int  `json:"counts"` // per level of the group that joins the pair, fine to coarse, per bin
}

const (
	// wholeHeat is the number of hosts up to which each pair has a cell of the heat map; of more, blocks of
	// hosts have one, so that there are at most heatSide a side: half a megabyte.
	wholeHeat = 1024
	heatSide  = 512

	heatSteps = 65534 // that cells tell apart: latencies of a ratio of 1,000 to 0.01 %

	// heatCut is the share of pairs that the colours of the heat map are for: one broken reading would
	// make all others look the same.
	heatCut = 0.99

	timesBins = 60
)

// pairs are the heat map and the histogram. Hosts stand in the given order. Pairs of a latency
// that is not above 0 have no place on a logarithmic axis and count as the least one.
func (r *Report) pairs(h *topology.Hierarchy, order []int) (*heatData, *timesData) {
	n := len(order)
	d := make([]float64, n*n) // in that order; NaN on the diagonal
	low, high := math.Inf(1), 0.0
	for i, from := range order {
		for j, to := range order {
			x := math.NaN()
			if i != j {
				if x = r.Latencies.At(from, to); math.IsInf(x, 0) {
					x = math.NaN()
				}
			}
			if d[i*n+j] = x; x > 0 {
				low, high = min(low, x), max(high, x)
			}
		}
	}
	if high == 0 {
		return nil, nil
	}
	s := scale{low, math.Log(high/low) / heatSteps}
	cells := s.cells(d)
	heat := &heatData{Side: n, Block: 1, Low: figure(low), High: figure(high)}
	heat.Cut, heat.Share = s.percentile(cells, heatCut)
	shown := cells
	if n > wholeHeat {
		heat.Block = (n + heatSide - 1) / heatSide
		heat.Side = (n + heat.Block - 1) / heat.Block
		shown = s.cells(blockMeans(d, n, heat.Side, heat.Block))
	}
	packed := make([]byte, 0, 2*len(shown))
	for _, c := range shown {
		packed = binary.LittleEndian.AppendUint16(packed, c)
	}
	heat.Cells = base64.StdEncoding.EncodeToString(packed)
	return heat, histogram(h, order, cells, low, high)
}

// A scale divides latencies evenly by their logarithm.
type scale struct {
	low   float64 // s
	width float64 // of a step; 0 if all are the same
}

// cells are 1 and the steps of the latencies, 0 for what is not known.
func (s scale) cells(d []float64) []uint16 {
	cells := make([]uint16, len(d))
	for i, x := range d {
		switch {
		case math.IsNaN(x):
		case !(x > s.low) || s.width == 0:
			cells[i] = 1
		default:
			cells[i] = uint16(1 + min(heatSteps, math.Round(math.Log(x/s.low)/s.width)))
		}
	}
	return cells
}

// percentile is a latency that the share of all known ones does not exceed, and how many do not.
func (s scale) percentile(cells []uint16, share float64) (cut, at figure) {
	counts := make([]int, 2+heatSteps)
	for _, c := range cells {
		counts[c]++
	}
	known, below, cell := len(cells)-counts[0], 0, 0
	for below == 0 || float64(below) < share*float64(known) {
		cell++
		below += counts[cell]
	}
	return figure(s.low * math.Exp(float64(cell-1)*s.width)), figure(float64(below) / float64(known))
}

// blockMeans are means over blocks of hosts, NaN of those of which nothing is known.
func blockMeans(d []float64, n, side, block int) []float64 {
	means, counts := make([]float64, side*side), make([]float64, side*side)
	for i := range n {
		for j := range n {
			if x := d[i*n+j]; !math.IsNaN(x) {
				at := i/block*side + j/block
				means[at] += x
				counts[at]++
			}
		}
	}
	for i := range means {
		means[i] /= counts[i] // 0/0 is NaN
	}
	return means
}

// histogram counts the cells of latencies from low to high in s.
func histogram(h *topology.Hierarchy, order []int, cells []uint16, low, high float64) *timesData {
	bins := timesBins
	if low == high {
		bins = 1
	}
	t := &timesData{Counts: make([][]int, len(h.Levels())+1)}
	for l := range t.Counts {
		t.Counts[l] = make([]int, bins)
	}
	for b := range bins + 1 {
		t.Edges = append(t.Edges, figure(low*math.Pow(high/low, float64(b)/float64(bins))))
	}
	n := len(order)
	for i, from := range order {
		for j, to := range order {
			if c := int(cells[i*n+j]); c > 0 {
				level := h.Groups()[h.Common(from, to)].Level
				t.Counts[level][min(bins-1, (c-1)*bins/heatSteps)]++
			}
		}
	}
	return t
}
