package main

import (
	"fmt"
	"math"
	"os"
	"strings"

	"github.com/topocast/topocast/model"
	"github.com/topocast/topocast/mpi/collective"
)

// steps returns the messages of one exchange of edges, in which all ranks do each step at once.
func (p *plate) steps() (all [][]model.Transfer) {
	for _, d := range directions() {
		var transfers []model.Transfer
		for rank := range p.Rows * p.Cols {
			from := newPlate(rank, p.n, p.Grid)
			if to := p.neighbour(from.row, from.col, d); to != collective.None {
				_, _, _, points := from.edge(d)
				transfers = append(transfers, model.Transfer{Src: rank, Dst: to, Bytes: int64(8 * points)})
			}
		}
		all = append(all, transfers)
	}
	return all
}

// predict returns the time of one exchange of edges in s. It is NaN without a network.
func (p *plate) predict(view *model.Network) (float64, error) {
	if view == nil {
		return math.NaN(), nil
	}
	predictor, err := view.NewPredictor(nil)
	if err != nil {
		return 0, err
	}
	sum := 0.0
	for _, transfers := range p.steps() {
		times, err := predictor.Predict(nil, transfers)
		longest := 0.0
		for i, t := range transfers {
			alone := view.Time(t.Src, t.Dst, t.Bytes)
			if err == nil { // the bandwidths of links are known
				alone = times[i]
			}
			longest = max(longest, alone)
		}
		sum += longest
	}
	return sum, nil
}

// writeTraffic writes the bytes between ranks in one iteration as a table. Rows are senders.
func (p *plate) writeTraffic(path string) error {
	ranks := p.Rows * p.Cols
	bytes := make([]int64, ranks*ranks)
	for _, transfers := range p.steps() {
		for _, t := range transfers {
			bytes[t.Src*ranks+t.Dst] += t.Bytes
		}
	}
	var b strings.Builder
	for i, n := range bytes {
		end := ","
		if (i+1)%ranks == 0 {
			end = "\n"
		}
		fmt.Fprintf(&b, "%d%s", n, end)
	}
	return os.WriteFile(path, []byte(b.String()), 0o644)
}
