package plogp

import (
	"slices"

	"github.com/topocast/topocast/measure/harness"
	"github.com/topocast/topocast/measure/record"
)

// Columns of a row: what one rank has found of one size with one peer.
var columns = []string{
	record.ColumnFrom, record.ColumnTo, "bytes", "round_trip_s", "gap_s", "send_s", "receive_s", "steady",
}

// A test measures a pair for the harness, the lower rank first.
type test struct{ *meter }

var _ harness.Test = test{}

// Columns are those that the harness does not know.
func (t test) Columns() []string { return columns[2:] }

// WarmUp makes the pair's connection.
func (t test) WarmUp(peer int) error {
	t.peer = peer
	if t.comm.Rank() > peer {
		return t.mirror()
	}
	for _, size := range []int{0, t.settings.longest()} {
		if _, _, err := t.echoes(size, t.comm.Send); err != nil {
			return err
		}
	}
	return t.ask(command{pattern: enough})
}

// Exchange measures both sides of the pair.
func (t test) Exchange(rows []float64, peer int) ([]float64, error) {
	points, err := t.with(peer)
	if err != nil {
		return nil, err
	}
	for _, p := range points {
		rows = p.appendRow(rows)
	}
	return rows, nil
}

// appendRow appends the numbers of a row but for its ranks.
func (p *point) appendRow(row []float64) []float64 {
	return append(row, float64(p.size), p.trip, p.gap, p.sending, p.receipt, record.Flag(p.steady))
}

// pointOf reads what appendRow has appended.
func pointOf(values []float64) point {
	return point{
		size: int(values[0]), trip: values[1], gap: values[2], sending: values[3], receipt: values[4], steady: values[5] == 1,
	}
}

// sides collects points by the rank that measured and its peer.
type sides struct {
	all    []side
	number map[[2]int]int
}

func (s *sides) add(from, to int, p point) {
	if s.number == nil {
		s.number = map[[2]int]int{}
	}
	i, known := s.number[[2]int{from, to}]
	if !known {
		i = len(s.all)
		s.number[[2]int{from, to}] = i
		s.all = append(s.all, side{from: from, to: to})
	}
	at, _ := slices.BinarySearchFunc(s.all[i].points, p.size, bySize)
	s.all[i].points = slices.Insert(s.all[i].points, at, p)
}
