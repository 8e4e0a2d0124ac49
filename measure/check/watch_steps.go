package check

import (
	"math"

	"gonum.org/v1/gonum/stat/distuv"

	"github.com/topocast/topocast/internal/stats"
)

// A step is where a series changed.
type step struct {
	told, since int     // runs: when it is told, and the first that is of the new level
	change      float64 // of the logarithm
	strength    float64 // by how many sigma the new level lies off, over the threshold
}

const (
	warmUp     = 8   // samples of a level before any is judged; of fewer, a level is a guess
	fewestNew  = 2   // samples of a new level: one may be an outlier
	mostNew    = 12  // of them are looked at
	upShare    = 0.8 // of false alarms for what gets slower
	leastShare = 0.7 // of the least step, which a change has to be: its size is in doubt, too
)

// A watcher looks for steps in series, values of logarithms, NaN where missing.
type watcher struct {
	least    float64 // change that is looked for
	up, down float64 // thresholds in sigma
}

// newWatcher has the rate of false alarms per series and run, which all lengths of a new level share (Bonferroni).
func newWatcher(step, rate float64) *watcher {
	rate /= mostNew - fewestNew + 1
	above := distuv.UnitNormal.Quantile
	return &watcher{least: leastShare * math.Log1p(step), up: -above(upShare * rate), down: -above((1 - upShare) * rate)}
}

// steps are those of one series whose samples have the given sigma. The last 2 to 12 samples are compared with the level of
// all before them since the last step: the sum of what they lie off, in sigma, has a known variance. A sample counts 3 sigma at most,
// so that no one or two of them make a step.
func (w *watcher) steps(x []float64, sigma float64) (found []step) {
	var at []int // runs with a sample
	for t, v := range x {
		if !math.IsNaN(v) {
			at = append(at, t)
		}
	}
	first := 0                          // sample of this level
	level := make([]float64, len(at)+1) // of the samples from the first to before this one
	for i, t := range at {
		off := x[t] - level[i]
		switch n := i - first; {
		case n == warmUp-1:
			middle := medianOf(x[at[first] : t+1])
			level[i+1] = middle
			for _, s := range at[first : i+1] {
				level[i+1] += clip(x[s]-middle, clipAt*sigma) / warmUp
			}
		case n >= warmUp:
			level[i+1] = level[i] + clip(off, clipAt*sigma)/float64(n+1)
		}
		for from := i + 1 - fewestNew; from-first >= warmUp && i+1-from <= mostNew; from-- {
			sum, n := 0.0, float64(i+1-from)
			for _, s := range at[from : i+1] {
				sum += clip((x[s]-level[from])/sigma, clipAt)
			}
			off := sum / math.Sqrt(n+n*n/float64(from-first))
			strength := max(off/w.up, -off/w.down)
			if strength <= 1 {
				continue
			}
			since := at[from]
			change := medianOf(x[since:t+1]) - medianOf(x[at[first]:since])
			if math.Abs(change) >= w.least {
				found, first = append(found, step{t, since, change, strength}), from
				break // the shortest new level has the fewest samples of the old one
			}
		}
	}
	return found
}

// medianOf is the median of what is not missing, NaN if all is.
func medianOf(x []float64) float64 {
	return stats.MiddleMedian(stats.SortedFinite(x))
}

func lastStep(found []step) int {
	if len(found) == 0 {
		return 0
	}
	return found[len(found)-1].since
}
