package encode

import (
	"fmt"
	"io"
	"math"
	"regexp"
	"slices"
	"strconv"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"github.com/topocast/topocast/internal/words"
)

// ReadCounts reads a square matrix of counts, such as the bytes that each rank sends to each other, in any form of [ReadMatrix]. Names of
// ranks, such as rank3, tell their order; others are passed over, but those that end in numbers and are not in order are refused. Cells that are empty, and the diagonal, are 0. In a list of pairs, hosts are ranks from 0, and counts of one pair are added.
// A number below 0 is an error, and so is a file that names a unit of time.
func ReadCounts(r io.Reader) (_ *mat.Dense, err error) {
	defer naming("read counts", &err)
	t, err := readTable(r)
	if err != nil {
		return nil, err
	}
	s, err := t.understand()
	if unit, _, _ := t.unitNamed(0); unit != 0 { // units of counts are not known
		return nil, fmt.Errorf("the numbers are times in %s: want counts", unit)
	} else if err != nil {
		return nil, err
	}
	if s.isList && !countsFrom(s.names, 0) {
		return nil, fmt.Errorf("line 1: a list of pairs of %q and others: want ranks from 0 to %d", s.names[0], s.n-1)
	}
	f := filler{t: t, isCounts: true}
	cells, err := f.fill(s, floats.Sum)
	if err != nil {
		return nil, err
	}
	if f.carried != 0 || s.n < 2 {
		return nil, fmt.Errorf("line 1: %s, unit %s: want two ranks or more, and no unit", words.Count(s.n, "rank"), f.carried)
	}
	rank, err := ranksOf(s.names)
	if err != nil {
		return nil, err
	}
	m := mat.NewDense(s.n, s.n, nil)
	for i, v := range cells {
		from, to := i/s.n, i%s.n
		if rank != nil {
			from, to = rank[from], rank[to]
		}
		if !math.IsNaN(v) {
			m.Set(from, to, v)
		}
	}
	return m, nil
}

// numbered is a name with a number at its end; rankStem is what may stand before the number of a rank.
var (
	numbered = regexp.MustCompile(`^(.*?)([0-9]{1,9})$`)
	rankStem = regexp.MustCompile(`(?i)^(|r|p|rank|proc|process)[ _.:#-]?$`)
)

// ranksOf returns the ranks of names that are numbered from 0 or from 1 in any order, nil for other names.
func ranksOf(names []string) ([]int, error) {
	var rank []int
	stem := ""
	for i, name := range names {
		m := numbered.FindStringSubmatch(name)
		if m == nil || i > 0 && m[1] != stem {
			return nil, nil
		}
		stem = m[1]
		number, _ := strconv.Atoi(m[2])
		rank = append(rank, number)
	}
	inOrder := slices.Sorted(slices.Values(rank))
	switch {
	case slices.Equal(inOrder, rank):
		return nil, nil
	case !rankStem.MatchString(stem):
		return nil, fmt.Errorf("line 1: the rows are of %s, %s and so on, which are not in order: want the rows of ranks from 0 to %d, without names", names[0], names[1], len(names)-1)
	}
	first := min(inOrder[0], 1)
	for i := range rank {
		if inOrder[i] != first+i {
			return nil, fmt.Errorf("line 1: the rows are of %q and others: want ranks from 0 to %d", names[0], len(names)-1)
		}
		rank[i] -= first
	}
	return rank, nil
}
