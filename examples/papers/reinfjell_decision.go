package main

import "math"

// A decision is the broadcast that is the fastest from a size on.
type decision struct {
	from   float64 // bytes
	chosen int     // of the broadcasts
}

// decide is section 6.5.2 of the thesis, as we read it: between neighbouring sizes, the time of each broadcast is the straight
// line through its two measurements, and the fastest at each size is chosen. times[k] are those of broadcast k in s, by size.
// The sizes in bytes ascend. Broadcasts that are equal keep the one chosen before.
func decide(sizes []int, times [][]float64) []decision {
	chosen := 0
	for k := range times {
		if times[k][0] < times[chosen][0] {
			chosen = k
		}
	}
	all := []decision{{float64(sizes[0]), chosen}}
	for i := 1; i < len(sizes); i++ {
		low, high := float64(sizes[i-1]), float64(sizes[i])
		slope := func(k int) float64 { return (times[k][i] - times[k][i-1]) / (high - low) }
		for at := low; ; {
			// The next one is that whose line crosses the chosen one first; of several, the one that is the fastest beyond.
			next, first := -1, math.Inf(1)
			for k := range times {
				if slope(k) >= slope(chosen) {
					continue
				}
				cross := low + (times[k][i-1]-times[chosen][i-1])/(slope(chosen)-slope(k))
				if cross >= at && cross < high && (cross < first || cross == first && slope(k) < slope(next)) {
					next, first = k, cross
				}
			}
			if next < 0 {
				break
			}
			chosen, at = next, first
			all = append(all, decision{at, chosen})
		}
	}
	return all
}
