package measured

import (
	"math"

	"github.com/topocast/topocast/internal/stats"
)

// Quality is what combining found out besides the measurements.
type Quality struct {
	Holes     int // pairs never measured
	Zeros     int // pairs at or below zero
	Negative  int // pairs below zero
	Asymmetry Asymmetry
	Tick      float64 // of the clock, in s; 0: none is seen
	Noise     float64 // relative standard deviation of one measurement, from pairs of repetitions; NaN of one
}

// noise estimates the relative standard deviation of one measurement from how the first two
// repetitions of up to 16384 pairs differ, which outliers cannot move. NaN of one repetition.
func (m *Repetitions) noise(levels []float64) float64 {
	if len(m.sources) < 2 {
		return math.NaN()
	}
	level := 1.0 // of the second against the first
	if levels != nil {
		level = levels[1] / levels[0]
	}
	var apart stats.Differences
	samplePairs(m.n, func(i, j int) { apart.Add(m.sources[0].pair(i, j), level*m.sources[1].pair(i, j)) })
	return stats.SigmaOfOne(apart)
}

// tick estimates the tick of the clock behind the measurements, in s: the least by which two measurements
// of one pair differ, if nearly all measurements are multiples of it. 0 if there is
// none, or if no pair's measurements differ: latencies of a machine may be multiples of a link's, and only
// repeated measurements tell a clock from that. It looks at up to 16384 pairs.
func (m *Repetitions) tick() float64 {
	const (
		rounding = 1e-6 // relative: float32 and sums of decimals differ by less
		near     = 0.05 // ticks off a multiple
		share    = 0.9  // of measurements that are multiples; of others a tenth is, by chance
	)
	tick := math.Inf(1)
	var all []float64
	samplePairs(m.n, func(i, j int) {
		first := math.NaN()
		for k := range m.sources {
			for _, x := range [2]float64{m.sources[k].at(i, j), m.sources[k].at(j, i)} {
				if !(x > 0) {
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
	})
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
