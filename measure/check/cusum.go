package check

import (
	"math"
	"slices"
	"sort"

	"gonum.org/v1/gonum/mat"
	"gonum.org/v1/gonum/stat/distuv"

	"github.com/topocast/topocast/internal/stats"
)

// A tail is the distribution of standardised residuals without a change, by which thresholds are
// derived: those seen, or, of too few, normal ones with gross outliers.
type tail struct {
	sorted []float64 // nil: normal with outliers
	done   map[float64]float64
}

const (
	fewResiduals  = 1000 // below, the tail of a thousandth is not seen
	grossShare    = 0.02 // of outliers where the tail is not known
	chainStates   = 40   // of the Markov chain; 80 change thresholds by 1 %
	mostThreshold = 32
)

// newTail takes residuals, and those of falls with their sign changed.
func newTail(residuals []float64, sign float64) *tail {
	t := &tail{done: map[float64]float64{}}
	if len(residuals) >= fewResiduals {
		for _, x := range residuals {
			t.sorted = append(t.sorted, sign*x)
		}
		slices.Sort(t.sorted)
	}
	return t
}

// below is the share of residuals below x.
func (t *tail) below(x float64) float64 {
	if t.sorted == nil {
		return (1 - grossShare) * distuv.UnitNormal.CDF(x)
	}
	return float64(sort.SearchFloat64s(t.sorted, x)) / float64(len(t.sorted))
}

// allowance and cut of a sum for steps of so many sigma. 0.4 of the step finds more steps
// within three samples than the half that is best in the long run (Page 1954): 0.86 for
// 0.85 of 100 steps of 2.5 sigma. An outlier adds pastAllowance at most.
const (
	stepShare     = 0.4
	pastAllowance = 1.75 // less finds steps later, more needs a higher threshold against outliers
	leastRatio    = 0.25 // of a step to sigma: smaller steps take as long as those
)

// threshold is the sum at which a step is told, so that without a change it is passed
// once in 1/rate samples: the mean time to an alarm by the Markov chain of Brook and Evans 1972.
func (t *tail) threshold(allowance, rate float64) float64 {
	// Rounded down, to a tenth or so: a smaller allowance has more alarms, and a higher threshold.
	key := math.Floor(math.Log2(allowance) * 8)
	if h, ok := t.done[key]; ok {
		return h
	}
	allowance = math.Exp2(key / 8)
	low, high := 0.0, float64(mostThreshold)
	for high-low > 0.02 {
		h := (low + high) / 2
		if t.runLength(allowance, h) < 1/rate {
			low = h
		} else {
			high = h
		}
	}
	high = max(high, leastThreshold)
	t.done[key] = high
	return high
}

// leastThreshold keeps what is beyond all residuals seen from being told without any margin.
const leastThreshold = 0.5

// runLength is the mean number of samples until the sum passes h, from 0.
func (t *tail) runLength(allowance, h float64) float64 {
	const n = chainStates
	width := h / (n - 0.5)
	step := func(x float64) float64 { // share of increments below x
		if x >= pastAllowance {
			return 1
		}
		return t.below(x + allowance)
	}
	a, ones := mat.NewDense(n, n, nil), mat.NewVecDense(n, nil)
	for i := range n {
		ones.SetVec(i, 1)
		before := 0.0
		for j := range n {
			upTo := step((float64(j-i) + 0.5) * width)
			x := before - upTo
			if i == j {
				x++
			}
			a.Set(i, j, x)
			before = upTo
		}
	}
	var length mat.VecDense
	if err := length.SolveVec(a, ones); err != nil {
		return math.Inf(1) // singular: the sum never gets out
	}
	if x := length.AtVec(0); x >= 1 {
		return x
	}
	return math.Inf(1)
}

// A step is where a series changed.
type step struct {
	told, since int     // samples: when it is told, and the first that is of the new level
	change      float64 // of the logarithm
	strength    float64 // the sum over its threshold
}

const (
	warmUp       = 8   // samples of a series before any is judged; of fewer, a level is a guess
	warmUpWeight = 5   // what their median tells, in samples: its variance is 1.57/8
	memory       = 100 // samples that a level remembers
	upShare      = 0.8 // of false alarms for what gets slower
	clipResidual = 2.5 // of what a sample moves the level
	cutResidual  = 1e6 // keeps residuals finite
)

// A watcher looks for steps in series of one family, values of logarithms, NaN where missing.
type watcher struct {
	step, rate float64
	up, down   *tail
	residuals  []float64 // that it has met, standardised
	short      int       // series of too few samples
}

// newWatcher takes its thresholds from the residuals of series, which it has judged once by those of normal noise with gross
// outliers. rate is that of false alarms per series and run.
func newWatcher(all []series, sigmas []float64, least, rate float64) *watcher {
	w := &watcher{step: least, rate: rate, up: newTail(nil, 1), down: newTail(nil, -1)}
	for i := range all {
		before := len(w.residuals)
		w.steps(all[i].x, sigmas[i])
		if len(w.residuals) == before {
			w.short++
		}
	}
	w.up, w.down = newTail(w.residuals, 1), newTail(w.residuals, -1)
	return w
}

// steps are those of one series whose samples have the given sigma. Each sample is compared with the
// mean of all before it since the last step. Without a change these residuals are independent (Brown, Durbin, Evans 1975;
// Hawkins 1987). Sums of them are held against a threshold (Page 1954).
func (w *watcher) steps(x []float64, sigma float64) []step {
	var found []step
	at, level := settle(x, 0)
	if at < 0 {
		return nil
	}
	weight := float64(warmUpWeight)
	allowance := stepShare * max(w.step/sigma, leastRatio)
	sums := [...]sum{
		{sign: 1, threshold: w.up.threshold(allowance, upShare*w.rate)},
		{sign: -1, threshold: w.down.threshold(allowance, (1-upShare)*w.rate)},
	}
	for ; at < len(x); at++ {
		if math.IsNaN(x[at]) {
			continue
		}
		u := clip((x[at]-level)/(sigma*math.Sqrt(1+1/weight)), cutResidual)
		w.residuals = append(w.residuals, u)
		level += clip(u, clipResidual) * sigma / (weight + 1)
		weight = min(memory, weight+1)
		for k := range sums {
			s := &sums[k]
			if s.value == 0 {
				s.since = at
			}
			s.value = max(0, s.value+min(s.sign*u-allowance, pastAllowance))
		}
		s := sums[0]
		if sums[1].value > sums[1].threshold {
			s = sums[1]
		}
		if s.value <= s.threshold {
			continue
		}
		before, after := medianOf(x[lastStep(found):s.since]), medianOf(x[s.since:at+1])
		found = append(found, step{at, s.since, after - before, s.value / s.threshold})
		next := 0
		if next, level = settle(x, s.since); next < 0 {
			return found
		}
		at, weight, sums[0].value, sums[1].value = next-1, warmUpWeight, 0, 0
	}
	return found
}

// A sum is of the residuals of one sign, less an allowance each, since it was 0.
type sum struct {
	sign, threshold float64
	value           float64
	since           int
}

// settle finds a level by the first samples from some on, and the sample after them; -1 if there are
// too few. The samples at which a false alarm is told are high ones, and without waiting for others
// each would bring a second one.
func settle(x []float64, from int) (next int, level float64) {
	known := 0
	for at := from; at < len(x); at++ {
		if !math.IsNaN(x[at]) {
			known++
		}
		if known == warmUp {
			return at + 1, medianOf(x[from : at+1])
		}
	}
	return -1, 0
}

func lastStep(found []step) int {
	if len(found) == 0 {
		return 0
	}
	return found[len(found)-1].since
}

// medianOf is the median of what is not missing, NaN if all is.
func medianOf(x []float64) float64 {
	return stats.MiddleMedian(stats.SortedFinite(x))
}
