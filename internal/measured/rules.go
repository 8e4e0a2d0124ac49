package measured

import (
	"math"

	"github.com/topocast/topocast/internal/stats"
)

// many is the number of samples from which on the smallest is left out: a clock may slip once in them.
const many = 10

// AsymmetryTolerance is the ratio of the two directions of a pair above which
// it is reported. Measurements with 5 % of noise reach 1.25 in one pair of ten
// thousand; of 3 % among a thousand hosts one goes beyond with a chance of 7 %. Routes that differ by
// a hop, or a bad cable, reach it easily. It decides a warning only.
const AsymmetryTolerance = 1.25

// Combine makes one measurement of the samples of a pair, or of one of its directions: the mean of their
// lower half, of an odd number without the middle one. Of ten and more the smallest is left out. It is NaN of
// no samples, and reorders the values.
//
// This is the only rule by which repetitions become one value. Where noise only adds, it is nearly as good
// as the smallest, and better where noise goes both ways. Of four samples it leaves 0.30 of an exponential's
// scale (the smallest 0.25) and 0.58 of a normal's (0.70). A direction that is slower for good, a slow round
// of two and two outliers of three lie in the upper half.
func Combine(values []float64) float64 {
	skip := 0
	if len(values) >= many {
		skip = 1
	}
	half := (len(values) - skip) / 2
	if len(values) == 1 {
		half = 1
	}
	sum := 0.0
	for k := range skip + half {
		least := k
		for m := k + 1; m < len(values); m++ {
			if values[m] < values[least] {
				least = m
			}
		}
		values[k], values[least] = values[least], values[k]
		if k >= skip {
			sum += values[k]
		}
	}
	return sum / float64(half) // 0/0 is NaN
}

// lifted is what stands for a measurement of zero, of a coarse timer, where least is the smallest above
// zero: half of it, as the timer cannot tell what is less. Zeros would make hosts stand in for
// each other. The smallest itself where it is the least number there is.
func lifted[F stats.Float](least F) F {
	if half := least / 2; half > 0 {
		return half
	}
	return least
}

// An Asymmetry tells of the pairs whose directions differ beyond AsymmetryTolerance.
type Asymmetry struct {
	Pairs int     // how many
	Worst [2]int  // the pair that differs most; one with a direction of zero only where all are
	Ratio float64 // of its directions; +Inf with a zero
}

// add looks at a pair of which fast, from the second host to the first, is the faster direction.
func (a *Asymmetry) add(slow, fast float64, from, to int) {
	if !(slow > AsymmetryTolerance*fast) {
		return
	}
	a.Pairs++
	ratio := slow / fast
	switch {
	case a.Pairs == 1, math.IsInf(a.Ratio, 1) && fast > 0, fast > 0 && ratio > a.Ratio:
		a.Worst, a.Ratio = [2]int{from, to}, ratio
	}
}
