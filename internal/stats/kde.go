package stats

import (
	"cmp"
	"math"
	"slices"
)

// Classes groups values on a line by the peaks of a Gaussian kernel density
// estimate of the given bandwidth. It returns the class of each value: 0 for
// the values around the lowest peak, and so on upwards. Classes are cut at the
// valleys; a valley above 0.75 of the lower of its two peaks separates nothing.
// O(n log n + n m) for m grid points within the kernel's reach.
func Classes(values []float64, bandwidth float64) []int {
	class := make([]int, len(values))
	if len(values) == 0 {
		return class
	}
	lo, hi := slices.Min(values), slices.Max(values)
	// A grid of a quarter bandwidth sees every peak; values far apart have
	// nothing between them, so the grid is laid around the values only.
	order := make([]int, len(values))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(values[a], values[b]) })
	next := 0 // class
	if !(bandwidth > 0) || hi == lo {
		for k := 1; k < len(order); k++ {
			if values[order[k]] != values[order[k-1]] {
				next++
			}
			class[order[k]] = next
		}
		return class
	}
	const reach = 4 // bandwidths beyond which a kernel counts nothing
	for start, end := 0, 1; end <= len(order); end++ {
		if end < len(order) && values[order[end]]-values[order[end-1]] <= 2*reach*bandwidth {
			continue
		}
		cuts := valleys(values, order[start:end], bandwidth)
		for _, i := range order[start:end] {
			at, _ := slices.BinarySearch(cuts, values[i])
			class[i] = next + at
		}
		next += len(cuts) + 1
		start = end
	}
	return class
}

// valleys returns the cuts between the peaks of one run of values.
func valleys(values []float64, order []int, bandwidth float64) []float64 {
	const perBandwidth = 4
	step := bandwidth / perBandwidth
	lo := values[order[0]] - bandwidth
	points := int((values[order[len(order)-1]]+bandwidth-lo)/step) + 2
	density := make([]float64, points)
	for _, i := range order {
		centre := (values[i] - lo) / step
		from, to := max(0, int(centre)-4*perBandwidth), min(points-1, int(centre)+4*perBandwidth+1)
		for p := from; p <= to; p++ {
			z := (float64(p) - centre) / perBandwidth
			density[p] += math.Exp(-z * z / 2)
		}
	}
	// Walk the extrema: keep peak, valley, peak, ... and drop shallow valleys,
	// the shallowest first.
	var peaks, lows []int
	for p := range density {
		left := p == 0 || density[p] > density[p-1]
		right := p == points-1 || density[p] >= density[p+1]
		if left && right {
			if len(peaks) > 0 {
				low := peaks[len(peaks)-1]
				for q := low; q < p; q++ {
					if density[q] < density[low] {
						low = q
					}
				}
				lows = append(lows, low)
			}
			peaks = append(peaks, p)
		}
	}
	for len(lows) > 0 {
		worst, ratio := -1, 0.75
		for k, low := range lows {
			if r := density[low] / min(density[peaks[k]], density[peaks[k+1]]); r > ratio {
				worst, ratio = k, r
			}
		}
		if worst < 0 {
			break
		}
		// The lower of the two peaks goes with the valley.
		if density[peaks[worst]] >= density[peaks[worst+1]] {
			peaks = slices.Delete(peaks, worst+1, worst+2)
		} else {
			peaks = slices.Delete(peaks, worst, worst+1)
		}
		lows = slices.Delete(lows, worst, worst+1)
	}
	cuts := make([]float64, len(lows))
	for k, low := range lows {
		cuts[k] = lo + float64(low)*step
	}
	return cuts
}
