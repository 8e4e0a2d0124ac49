package stats

import (
	"math"

	"gonum.org/v1/gonum/stat/distuv"
)

// MedianRanks returns the index of the lowest and of the highest of n sorted values
// between which the median of their distribution lies with the given confidence.
// The distribution may be any: that many of n values are below the median with
// the probability of a binomial distribution of 1/2 (David & Nagaraja 2003,
// section 7.1). The interval is the shortest symmetric one of at least this
// confidence. ok is false if even all values are too few: of 95 % these are fewer than 6.
func MedianRanks(n int, confidence float64) (low, high int, ok bool) {
	// Outside lie the cases of at most low values below the median, and the same above.
	b := distuv.Binomial{N: float64(n), P: 0.5}
	outside := func(low int) float64 { return 2 * b.CDF(float64(low)) }
	most := 1 - confidence
	if n < 1 || !(outside(0) <= most) {
		return 0, n - 1, false
	}
	// From where the normal distribution has it, which is right within a rank or two.
	low = max(0, int(float64(n)/2-math.Sqrt(float64(n)/4)*distuv.UnitNormal.Quantile(1-most/2)))
	for low > 0 && outside(low) > most {
		low--
	}
	for outside(low+1) <= most {
		low++
	}
	return low, n - 1 - low, true
}

// MedianInterval is the interval of MedianRanks of values that are sorted.
func MedianInterval(sorted []float64, confidence float64) (low, high float64, ok bool) {
	i, j, ok := MedianRanks(len(sorted), confidence)
	if !ok {
		return math.NaN(), math.NaN(), false
	}
	return sorted[i], sorted[j], true
}
