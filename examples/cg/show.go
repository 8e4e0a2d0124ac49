package main

import (
	"fmt"
	"math"
	"os"
	"strings"

	"github.com/topocast/topocast/examples/internal/gridjob"
	"github.com/topocast/topocast/model"
	"github.com/topocast/topocast/mpi/collective"
)

// steps returns the messages of one exchange of edges: up, down, left and right, one after the other.
func (p *plate) steps() (all [][]model.Transfer) {
	for _, step := range []struct{ down, right int }{{-1, 0}, {1, 0}, {0, -1}, {0, 1}} {
		var transfers []model.Transfer
		for row := range p.Rows {
			for col := range p.Cols {
				to := p.rank(row+step.down, col+step.right)
				if to == collective.None {
					continue
				}
				length := (col+1)*p.n/p.Cols - col*p.n/p.Cols
				if step.right != 0 {
					length = (row+1)*p.n/p.Rows - row*p.n/p.Rows
				}
				transfers = append(transfers, model.Transfer{Src: p.rank(row, col), Dst: to, Bytes: int64(8 * length)})
			}
		}
		all = append(all, transfers)
	}
	return all
}

// predict returns the time of one exchange of edges in s, in which all ranks do each step at once. It is NaN without a network.
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
			longest = math.Max(longest, alone)
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

// show prints the table, with times in ms.
func show(o *options, g gridjob.Grid, table []line) error {
	ms := gridjob.Milliseconds
	var b strings.Builder
	fmt.Fprintf(&b, "Conjugate gradients, %d x %d points, %d x %d ranks; times in ms\n\n", o.n, o.n, g.Rows, g.Cols)
	fmt.Fprintf(&b, "%-8s %-17s %6s %8s %8s %9s %8s %9s\n", "ranks", "Allreduce", "iter.", "time", "edges", "Allreduce", "comput.", "predicted")
	for _, l := range table {
		fmt.Fprintf(&b, "%-8s %-17s %6d %8s %8s %9s %8s %9s\n", l.plate.Order(), l.kind, l.iterations, ms(l.total), ms(l.edges), ms(l.reduction), ms(l.computation), ms(l.predicted))
	}
	fmt.Fprintf(&b, `
The results are right. Time is that of the slowest rank, its shares are means,
and each is the median of %d. Predicted is that of the edges.
`, o.Repeat)
	fmt.Fprintln(&b, verdict(table))
	_, err := fmt.Fprint(o.Out, b.String())
	return err
}

// verdict says whether the order of ranks that was predicted to be better is better, with our Allreduce.
func verdict(table []line) string {
	var rows, cols *line
	for i := range table {
		switch l := &table[i]; {
		case l.kind != alongWires:
		case l.plate.ByRows:
			rows = l
		default:
			cols = l
		}
	}
	switch {
	case math.IsNaN(rows.predicted) || math.IsNaN(cols.predicted):
		return "No order of ranks is predicted: there is no -network."
	case gridjob.AreAlike(rows.predicted, cols.predicted):
		return "Both orders of ranks are predicted to take as long."
	}
	best := rows
	if cols.predicted < rows.predicted {
		best = cols
	}
	// A rank waits for a slow neighbour when it exchanges edges, or in the next Allreduce.
	right := gridjob.Verdict(rows.edges+rows.reduction, cols.edges+cols.reduction, best == rows)
	return fmt.Sprintf("Ranks %s were predicted to exchange edges faster: %s.", best.plate.Order(), right)
}
