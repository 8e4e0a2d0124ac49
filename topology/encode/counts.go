package encode

import (
	"fmt"
	"io"
	"math"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"
)

// ReadCounts reads a square matrix of counts, such as the bytes that each rank sends to each other, in any form of [ReadMatrix]. Names are
// passed over. Cells that are empty, and the diagonal, are 0. In a list of pairs, hosts are ranks from 0, and counts of one pair are added.
// A number below 0 is an error, and so is a file that names a unit of time.
func ReadCounts(r io.Reader) (_ *mat.Dense, err error) {
	defer naming("read counts", &err)
	data, err := readLines(r)
	if err != nil {
		return nil, err
	}
	t, err := cutTable(data)
	if err != nil {
		return nil, err
	}
	if unit, _, _ := t.unitNamed(0); unit != 0 { // units of counts are not known
		return nil, fmt.Errorf("the numbers are times in %s: want counts", unit)
	}
	s, err := t.understand()
	if err != nil {
		return nil, err
	}
	if s.isList && s.names != nil && !countsFrom(s.names, 0) {
		return nil, fmt.Errorf("line 1: a list of pairs of %q and others: want ranks from 0 to %d", s.names[0], s.n-1)
	}
	f := filler{t: t, isCounts: true}
	cells, err := f.fill(s, floats.Sum)
	if err != nil {
		return nil, err
	}
	if f.carried != 0 || s.n < 2 {
		return nil, fmt.Errorf("line 1: %d ranks, unit %s: want two ranks or more, and no unit", s.n, f.carried)
	}
	for i, v := range cells {
		if math.IsNaN(v) {
			cells[i] = 0
		}
	}
	return mat.NewDense(s.n, s.n, cells), nil
}
