package topology

import "math"

// quantum estimates the tick of the clock behind the readings, in s: the least by which two readings
// of one pair differ, if nearly all readings are multiples of it. 0 if there is
// none, or if no pair's readings differ: latencies of a machine may be multiples of a link's, and only
// repeated readings tell a clock from that. It looks at up to 16384 pairs.
func quantum(sources []source, n int) float64 {
	const (
		most     = 1 << 14
		rounding = 1e-6 // relative: float32 and sums of decimals differ by less
		near     = 0.05 // ticks off a multiple
		share    = 0.9  // of readings that are multiples; of others a tenth is, by chance
	)
	pairs := n * (n - 1) / 2
	if pairs == 0 {
		return 0
	}
	stride := (pairs-1)/most + 1
	tick := math.Inf(1)
	var all []float64
	i, j := 1, 0
	for range (pairs-1)/stride + 1 {
		first := math.NaN()
		for k := range sources {
			for _, x := range [2]float64{sources[k].at(i, j), sources[k].at(j, i)} {
				if !(x > 0) || math.IsInf(x, 1) {
					continue
				}
				all = append(all, x)
				if first != first {
					first = x
				}
				if off := math.Abs(x - first); off > rounding*x {
					tick = min(tick, off)
				}
			}
		}
		for j += stride; j >= i; {
			j -= i
			i++
		}
	}
	if math.IsInf(tick, 1) {
		return 0
	}
	multiples := 0
	for _, x := range all {
		if ticks := x / tick; math.Abs(ticks-math.Round(ticks)) <= near {
			multiples++
		}
	}
	if float64(multiples) < share*float64(len(all)) {
		return 0
	}
	return tick
}
