package plogp

import (
	"maps"
	"slices"

	"github.com/topocast/topocast/measure/record"
)

// Columns of a row: what one rank has found of one size with one peer.
var columns = []string{
	record.ColumnFrom, record.ColumnTo, "bytes", "round_trip_s", "gap_s", "send_s", "receive_s", "steady",
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

// measurements are what ranks have measured, by the rank that measured and its peer, in the order of sizes.
type measurements map[[2]int][]point

// add takes up a point, unless there is one of its size.
func (all measurements) add(from, to int, p point) (isNew bool) {
	pair := [2]int{from, to}
	at, isThere := slices.BinarySearchFunc(all[pair], p.size, bySize)
	if !isThere {
		all[pair] = slices.Insert(all[pair], at, p)
	}
	return !isThere
}

// pairs are those of the ranks that measured and their peers, in order.
func (all measurements) pairs() [][2]int {
	return slices.SortedFunc(maps.Keys(all), func(a, b [2]int) int { return slices.Compare(a[:], b[:]) })
}

// at is the point of a size, or of the greatest below it.
func (all measurements) at(from, to, size int) point {
	points := all[[2]int{from, to}]
	at, isThere := slices.BinarySearchFunc(points, size, bySize)
	if !isThere {
		at--
	}
	return points[at]
}
