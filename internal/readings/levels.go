package readings

import (
	"math"

	"github.com/topocast/topocast/internal/stats"
)

const (
	// Repetitions are brought to one level if they differ as a whole by more than both of these: leastApart, as a logarithm,
	// and levelErrors standard errors of their medians.
	leastApart  = 0.03
	levelErrors = 4

	// fewShared pairs tell no level.
	fewShared = 10
)

// levels are the factors that bring the repetitions to the level of the fastest. A run of a busy day is slower as a whole.
// Where another run has half of the hosts alone, those would look near to each other. A level is the median ratio to the first
// repetition over the pairs that both have, up to 16384. nil: all are on one level.
func (m *Repetitions) levels() []float64 {
	scale := make([]float64, len(m.sources))
	fastest, slowest, widest := 0.0, 0.0, 0.0
	for k := 1; k < len(m.sources); k++ {
		var off []float64
		samplePairs(m.n, func(i, j int) {
			if a, b := m.sources[0].at(i, j), m.sources[k].at(i, j); a > 0 && b > 0 {
				off = append(off, math.Log(b)-math.Log(a))
			}
		})
		if len(off) >= fewShared {
			scale[k] = stats.Median(off)
			widest = math.Max(widest, stats.ErrorOfMedian(stats.SigmaAbout(scale[k], off), len(off)))
		}
		fastest, slowest = math.Min(fastest, scale[k]), math.Max(slowest, scale[k])
	}
	if slowest-fastest < math.Max(leastApart, levelErrors*widest) {
		return nil
	}
	for k := range scale {
		scale[k] = math.Exp(fastest - scale[k])
	}
	return scale
}
