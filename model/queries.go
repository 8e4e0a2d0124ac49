package model

import (
	"cmp"
	"math"
	"slices"
)

// NearestFirst appends to dst all other ranks, those that a message of the given
// size in bytes reaches soonest first; ties go to the lower rank, and ranks of unknown time
// come last. O(n log n) for n ranks.
func (n *Network) NearestFirst(dst []int, rank int, bytes int64) []int {
	from := len(dst)
	times := make([]float64, n.Ranks())
	for other := range times {
		if times[other] = n.Time(rank, other, bytes); math.IsNaN(times[other]) {
			times[other] = math.Inf(1)
		}
		if other != rank {
			dst = append(dst, other)
		}
	}
	slices.SortFunc(dst[from:], func(a, b int) int {
		if c := cmp.Compare(times[a], times[b]); c != 0 {
			return c
		}
		return a - b
	})
	return dst
}

// Nearest is the rank among the given ones that a message of the given size
// in bytes reaches soonest from rank; ties go to the one that comes first. -1
// if there is none but the rank itself. It does not allocate.
func (n *Network) Nearest(rank int, among []int, bytes int64) int {
	best, soonest := -1, math.Inf(1)
	for _, other := range among {
		if t := n.Time(rank, other, bytes); other != rank && (t < soonest || best < 0) {
			best = other
			if !math.IsNaN(t) {
				soonest = t
			}
		}
	}
	return best
}

// Degradation is how messages slow down under load, nil if it was not measured.
func (n *Network) Degradation() *Degradation { return n.degradation }

// DistanceRatio is how many times slower messages between the hosts of two ranks are than
// between neighbours while all hosts send: Degradation's ratio at their distance in
// its ring. NaN for ranks of one host, and where it is not known.
func (n *Network) DistanceRatio(a, b int) float64 {
	d := n.degradation
	if d == nil || n.hostOf == nil {
		return math.NaN()
	}
	return d.DistanceRatio(d.between(int(n.hostOf[a]), int(n.hostOf[b])))
}
