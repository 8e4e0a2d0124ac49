package measured

import (
	"math"
	"slices"

	"github.com/topocast/topocast/internal/stats"
)

const (
	// Repetitions are brought to one level if they differ as a whole by more than both of these: leastApart, as a logarithm,
	// and levelErrors standard errors of their medians.
	leastApart  = 0.03
	levelErrors = 8

	// Directed repetitions must differ by so many standard deviations of single measurements, too. Noise that only adds
	// leaves some measurements as they are, which are the true ones, and a slow day leaves none.
	levelDeviations = 4

	// fewShared pairs tell no level.
	fewShared = 10

	// Levels are found when no step changes one by as much, as a logarithm, or after so many steps.
	levelSteps, levelSettled = 20, 1e-4
)

// levels are the factors that bring the repetitions to the level of the fastest. A run of a busy day is slower as a whole.
// Where another run has half of the hosts alone, those would look near to each other. nil: all are on one level.
//
// A level is the median of what the measurements of a repetition are off by from what their pairs take. A pair takes the
// median over the repetitions, without their levels (Tukey 1977, median polish). So a repetition of few pairs, which were
// chosen because they had been slow, has the level of the others. Up to 16384 pairs that were measured twice count.
// Directed, each direction of a pair is held against itself alone: a direction that is slow is no level.
func (m *Repetitions) levels(directed bool) []float64 {
	count := len(m.sources)
	if count < 2 {
		return nil
	}
	var pairs [][]float64 // by repetition: ln of the measurement; NaN: none
	look := func(i, j int, of func(s *source, i, j int) float64) {
		logs, known := make([]float64, count), 0
		for k := range m.sources {
			logs[k] = math.NaN()
			if v := of(&m.sources[k], i, j); v > 0 {
				logs[k] = math.Log(v)
				known++
			}
		}
		if known > 1 {
			pairs = append(pairs, logs)
		}
	}
	samplePairs(m.n, func(i, j int) {
		if !directed {
			look(i, j, (*source).pair)
			return
		}
		look(i, j, (*source).at)
		look(j, i, (*source).at)
	})
	level, doubt, spread := make([]float64, count), 0.0, 0.0
	off := make([][]float64, count)
	for step, moved := 0, math.Inf(1); step < levelSteps && moved > levelSettled; step++ {
		for k := range off {
			off[k] = off[k][:0]
		}
		var of []float64
		for _, logs := range pairs {
			of = of[:0]
			for k, x := range logs {
				if x == x {
					of = append(of, x-level[k])
				}
			}
			typical := stats.MiddleMedian(of)
			for k, x := range logs {
				if x == x {
					off[k] = append(off[k], x-typical)
				}
			}
		}
		moved, doubt, spread = 0, 0, 0
		for k := range off {
			if len(off[k]) >= fewShared {
				before := level[k]
				level[k] = stats.MiddleMedian(off[k])
				moved = max(moved, math.Abs(level[k]-before))
				sigma := stats.SigmaAbout(level[k], off[k])
				doubt = max(doubt, stats.ErrorOfMedian(sigma, len(off[k])))
				spread = max(spread, sigma)
			}
		}
	}
	fastest := slices.Min(level)
	least := max(leastApart, levelErrors*doubt)
	if directed {
		least = max(least, levelDeviations*spread)
	}
	if slices.Max(level)-fastest < least {
		return nil
	}
	for k := range level {
		level[k] = math.Exp(fastest - level[k])
	}
	return level
}
