package linkage

import "math"

// A margin holds where the measurements inside a group and those to its near
// outside lie, ln of s.
type margin struct {
	inHigh          float64 // the 75 % quantile: one measurement of four may be none of the group's
	outLow, outHigh float64 // from the nearest outsiders to the 75 % quantile
}

// marginQuantile leaves a quarter of the measurements beyond a margin to outliers and to
// what is farther.
const marginQuantile = 0.75

// What logRatio takes measurements for.
const (
	// Share of measurements that something slowed down, by a factor up to ten: as in the
	// noise of internal/gen.
	gapOutliers       = 0.02
	gapOutlierDensity = 1 / math.Ln10
	// Share of measurements to the outside that are farther than those to the near outside:
	// the upper quarter, by the choice of outHigh.
	gapFar = 0.25
	// Most evidence of one measurement: no measurement is beyond accidents.
	gapMost = 10
)

// logRatio is the log-likelihood ratio of measurement x, ln of s. Above zero it speaks for a member and an
// outsider, below zero for two members.
func (b margin) logRatio(x, noise float64) float64 {
	bell := func(low, high float64) float64 {
		off := max(0, low-x, x-high) / noise
		return math.Exp(-off*off/2) / (noise * math.Sqrt(2*math.Pi))
	}
	inside := (1 - gapOutliers) * bell(math.Inf(-1), b.inHigh) // groups inside are nearer still
	outside := (1 - gapFar) * bell(b.outLow, b.outHigh)
	if x > b.inHigh {
		inside += gapOutliers * gapOutlierDensity
	}
	if x > b.outLow {
		outside += gapFar * gapOutlierDensity
	}
	const least = 1e-30 // both are impossible: no evidence
	return min(max(math.Log((outside+least)/(inside+least)), -gapMost), gapMost)
}
