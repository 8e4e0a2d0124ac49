package measured

import (
	"errors"
	"fmt"
	"slices"

	"github.com/topocast/topocast/internal/stats"
)

// ErrDisconnected says that the measurements leave the hosts in parts between which
// nothing was measured. How the parts are joined is not known. The error comes wrapped, with
// a host of each part.
var ErrDisconnected = errors.New("nothing was measured between parts of the hosts")

// legHosts is over how many of the nearest hosts of either end a pair is estimated that was not measured.
const legHosts = 8

// fill estimates the pairs that were not measured, as measurements of negative
// sign. Along a chain i-k-j no wiring of nested groups makes i and j farther
// apart than the longer of the two legs. A k close to i is as far from j as
// i is. So each pair takes the longer legs over the 8 nearest measured
// neighbours of either end. Those within 10 % of the shortest count, as the
// others pass through outsiders. Of these it takes the lower median, which noise
// does not pull down as it does the minimum. Pairs without such a neighbour in common look
// at all hosts, or wait for the next round: what was estimated then counts.
//
// O(n^2) for scattered holes.
func (s *Symmetric) fill(by string) error {
	if part := s.part(); part != nil {
		return fmt.Errorf("%s: hosts %d and %d: %w", by, 0, part[0], ErrDisconnected)
	}
	f := &filler{s: s, near: s.AllNearest(legHosts)}
	type cell struct {
		i, j int
		v    float32
	}
	for left := true; left; {
		left = false
		var found []cell
		for i := range s.n {
			for j, v := range s.Row(i) {
				if v == v {
					continue
				}
				if e, ok := f.estimate(i, j); ok {
					found = append(found, cell{i, j, e})
				} else {
					left = true
				}
			}
		}
		for _, c := range found {
			s.Row(c.i)[c.j] = -c.v
		}
	}
	return nil
}

type filler struct {
	s    *Symmetric
	near [][]int32
	legs []float32 // scratch
}

// try takes in the way of i and j over host k, if both its legs are known.
func (f *filler) try(i, k, j int) {
	if k == i || k == j {
		return
	}
	if a, b := f.s.At(i, k), f.s.At(k, j); a == a && b == b {
		f.legs = append(f.legs, max(a, -a, b, -b))
	}
}

func (f *filler) estimate(i, j int) (float32, bool) {
	f.legs = f.legs[:0]
	for _, k := range f.near[i] {
		f.try(i, int(k), j)
	}
	for _, k := range f.near[j] {
		f.try(i, int(k), j)
	}
	if len(f.legs) == 0 {
		for k := range f.s.n {
			f.try(i, k, j)
		}
	}
	if len(f.legs) == 0 {
		return 0, false
	}
	low := slices.Min(f.legs)
	alike := slices.DeleteFunc(f.legs, func(v float32) bool { return v > 1.1*low })
	return stats.LowerMedian(alike), true
}

// part returns the hosts that no chain of measurements joins to host 0, or nil.
func (s *Symmetric) part() []int {
	seen := make([]bool, s.n)
	queue := []int{0}
	seen[0] = true
	for len(queue) > 0 {
		i := queue[0]
		queue = queue[1:]
		for j := range s.n {
			if j != i && !seen[j] {
				if v := s.At(i, j); v == v {
					seen[j] = true
					queue = append(queue, j)
				}
			}
		}
	}
	var rest []int
	for i, in := range seen {
		if !in {
			rest = append(rest, i)
		}
	}
	return rest
}
