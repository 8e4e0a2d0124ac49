package readings

import (
	"math"
	"slices"

	"github.com/topocast/topocast/internal/stats"
)

// many is the number of readings of one direction from which on the smallest is left out, as a
// clock may slip: the second smallest of five is still below the middle, and a clock that slips once in
// them decides nothing. From four to fifteen nothing changes in the tests, with two noise
// that is not taken off does.
const many = 5

// AsymmetryTolerance is the ratio of the two directions of a pair above which
// it is reported. Readings with 5 % of noise reach 1.25 in one pair of ten
// thousand; of 3 % among a thousand hosts one goes beyond with a chance of 7 %. Routes that differ by
// a hop, or a bad cable, reach it easily. It decides a warning only.
const AsymmetryTolerance = 1.25

// A Rule makes one reading of those of one direction, none of which is NaN and of which there
// is one at least. It may reorder them.
type Rule func(values []float64) float64

// Smallest is the smallest reading: latencies are disturbed upwards only.
func Smallest(values []float64) float64 { return slices.Min(values) }

// Undisturbed is the smallest reading, of five and more the second smallest: noise only adds, but
// a clock may slip. It is the rule for what is wanted of each direction by itself.
func Undisturbed(values []float64) float64 {
	if len(values) >= many {
		values = withoutSmallest(values)
	}
	return slices.Min(values)
}

// withoutSmallest drops the smallest of the values, which it reorders.
func withoutSmallest(values []float64) []float64 {
	least, last := 0, len(values)-1
	for k, v := range values {
		if v < values[least] {
			least = k
		}
	}
	values[least] = values[last]
	return values[:last]
}

// lowerHalf is the rule for both directions of a pair together, whose readings are more: the mean of the lower half of the values, of an odd number with the middle one;
// NaN if there are none. It sorts that half.
func lowerHalf(values []float64) float64 {
	half := (len(values) + 1) / 2
	sum := 0.0
	for k := range half {
		least := k
		for m := k + 1; m < len(values); m++ {
			if values[m] < values[least] {
				least = m
			}
		}
		values[k], values[least] = values[least], values[k]
		sum += values[k]
	}
	return sum / float64(half) // 0/0 is NaN
}

// lifted is what stands for a reading of zero, of a coarse timer, where least is the smallest above
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
