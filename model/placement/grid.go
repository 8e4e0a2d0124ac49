package placement

import (
	"fmt"
	"math"

	"github.com/topocast/topocast/model"
)

// A Grid is a process grid along whose rows and columns a code broadcasts.
type Grid struct {
	Rows, Cols int
	RowBytes   int64 // of each broadcast along a row
	ColBytes   int64 // along a column
}

// Orientation says how the ranks 0..Rows*Cols-1 stand in a grid, and what the
// broadcasts cost both ways.
type Orientation struct {
	ByRows     bool    // rank i*Cols + j at row i and column j; else j*Rows + i
	TimeByRows float64 // s: broadcasts along all rows at once and then all columns, ordered by rows
	TimeByCols float64 // s: the same ordered by columns
}

// Rank is the rank at row i and column j.
func (o Orientation) Rank(g Grid, i, j int) int {
	if o.ByRows {
		return i*g.Cols + j
	}
	return j*g.Rows + i
}

// Orient chooses the order of a grid by predicted broadcast costs (Servet
// 3.0, section 6.1, which reads it off the ratio of distances): the one in which
// broadcasts along all rows at once and along all columns at once take less;
// by rows if they take the same. Broadcasts are binomial; the transfers of a
// round are predicted together if the network knows the bandwidths of its
// links, each alone if not.
func Orient(n *model.Network, g Grid) (Orientation, error) {
	if g.Rows < 1 || g.Cols < 1 || g.Rows > n.Ranks()/g.Cols {
		return Orientation{}, fmt.Errorf("placement: grid of %d x %d: want at least 1 x 1 and at most %d ranks", g.Rows, g.Cols, n.Ranks())
	}
	if g.RowBytes < 0 || g.ColBytes < 0 {
		return Orientation{}, fmt.Errorf("placement: grid: broadcasts of %d and %d bytes: want at least 0", g.RowBytes, g.ColBytes)
	}
	p, err := n.NewPredictor(nil)
	if err != nil {
		return Orientation{}, fmt.Errorf("placement: grid: %w", err)
	}
	both := [2]float64{}
	for k := range both {
		o := Orientation{ByRows: k == 0}
		rows := broadcasts(n, p, g.RowBytes, g.Rows, g.Cols, func(line, i int) int { return o.Rank(g, line, i) })
		cols := broadcasts(n, p, g.ColBytes, g.Cols, g.Rows, func(line, i int) int { return o.Rank(g, i, line) })
		both[k] = rows + cols
	}
	if math.IsNaN(both[0]) || math.IsNaN(both[1]) {
		return Orientation{}, fmt.Errorf("placement: grid: the network does not know the times of messages of %d and %d bytes", g.RowBytes, g.ColBytes)
	}
	return Orientation{ByRows: both[0] <= both[1], TimeByRows: both[0], TimeByCols: both[1]}, nil
}

// broadcasts is the time in s of binomial broadcasts along all lines at once,
// from the first of each line.
func broadcasts(n *model.Network, p *model.Predictor, bytes int64, lines, length int, rank func(line, i int) int) float64 {
	if bytes == 0 {
		return 0
	}
	sum := 0.0
	var round []model.Transfer
	for have := 1; have < length; have *= 2 {
		round = round[:0]
		for line := range lines {
			for i := 0; i < have && i+have < length; i++ {
				round = append(round, model.Transfer{Src: rank(line, i), Dst: rank(line, i+have), Bytes: bytes})
			}
		}
		times, err := p.Predict(nil, round)
		longest := 0.0
		for i, t := range round {
			alone := n.Time(t.Src, t.Dst, bytes)
			if err == nil {
				alone = times[i] // with the others
			}
			longest = math.Max(longest, alone)
		}
		sum += longest
	}
	return sum
}
