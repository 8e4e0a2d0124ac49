package check

import (
	"math"
	"slices"
	"sort"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/stat"
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

	sharedChange = 0.5 // of a change, which the middle one of the pairs has but for the one that has changed most
	leastShown   = 0.5 // of a change of a host or link: the rest may be taken for what a run has in common
)

// A watcher looks for steps in series, values of logarithms, NaN where missing.
type watcher struct {
	least float64            // change that is looked for
	rate  float64            // of false alarms per series, run and length of a new level
	bars  map[int][2]float64 // up and down, by whole degrees of freedom of sigma
}

// newWatcher has the rate of false alarms per series and run, which all lengths of a new level share (Bonferroni).
func newWatcher(step, rate float64) *watcher {
	return &watcher{leastShare * math.Log1p(step), rate / (mostNew - fewestNew + 1), map[int][2]float64{}}
}

// thresholds are how many sigma a sum has to lie off, up and down. Few samples know their sigma badly.
func (w *watcher) thresholds(freedom float64) (up, down float64) {
	known := max(1, int(freedom))
	if _, seen := w.bars[known]; !seen {
		w.bars[known] = [2]float64{threshold(upShare*w.rate, known), threshold((1-upShare)*w.rate, known)}
	}
	return w.bars[known][0], w.bars[known][1]
}

// threshold is how many sigma a sum of normal samples lies off by chance at a rate. Its sigma is an estimate with some degrees of
// freedom, whose square has the chi-squared distribution. The smaller the estimate is, the more samples spread in units of it, up to
// where they are clipped.
func threshold(rate float64, freedom int) float64 {
	squares := distuv.ChiSquared{K: float64(freedom)}
	var weights, spreads []float64
	for step := -60; step <= 20; step++ {
		estimate := math.Exp(float64(step) / 20) // of a sigma of 1
		square := estimate * estimate
		weights = append(weights, square*math.Exp(squares.LogProb(squares.K*square)))
		spreads = append(spreads, spreadOfClipped(clipAt*estimate)/estimate)
	}
	all := floats.Sum(weights)
	const perSigma = 100
	return float64(sort.Search(100*perSigma, func(i int) bool {
		chance := 0.0
		for k, weight := range weights {
			chance += weight / all * distuv.UnitNormal.Survival(float64(i)/perSigma/spreads[k])
		}
		return chance <= rate
	})) / perSigma
}

// spreadOfClipped is the standard deviation of normal values that are clipped at some sigma.
func spreadOfClipped(at float64) float64 {
	normal := distuv.UnitNormal
	beyond := normal.Survival(at)
	return math.Sqrt(1 - 2*beyond - 2*at*normal.Prob(at) + 2*at*at*beyond)
}

// steps are those of a series. The last 2 to 12 samples are compared with the level of
// all before them since the last step: the sum of what they lie off, in sigma, has a known variance. A sample counts 3 sigma at most,
// so that no one or two of them make a step.
func (w *watcher) steps(s *series) (found []step) {
	x, sigma := s.x, s.sigma
	up, down := w.thresholds(s.freedom)
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
			strength := max(off/up, -off/down)
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

// watch tells the steps of hosts and links, those that explain most first, and then those of pairs which no host and no
// link explains.
func (f *family) watch(out *WatchResult, ofPair, ofShared *watcher) {
	told := map[[2]int]bool{} // series, run since when
	for {
		first, best := -1, cause{}
		for i := range f.shared {
			for _, c := range f.causes(&f.shared[i], ofShared.steps(&f.shared[i])) {
				isLarge := math.Abs(c.change) >= ofPair.least
				if isLarge && c.gain > best.gain && !told[[2]int{i, c.since}] {
					first, best = i, c
				}
			}
		}
		if first < 0 {
			break
		}
		told[[2]int{first, best.since}] = true
		s := &f.shared[first]
		f.tell(out, s, best.step)
		for k, pair := range s.of {
			for t := best.since; t < len(s.x); t++ {
				f.pairs[pair].x[t] -= s.weights[k] * best.change
			}
		}
		f.polish() // what the change has added to most is taken out of none
		f.fill()
	}

	for i := range f.pairs {
		for _, st := range ofPair.steps(&f.pairs[i]) {
			f.tell(out, &f.pairs[i], st)
		}
	}
	for _, s := range slices.Concat(f.shared, f.pairs) {
		out.Series++
		out.Samples += max(0, len(stats.SortedFinite(s.x))-warmUp)
	}
}

// tell adds a step to what was found.
func (f *family) tell(out *WatchResult, s *series, st step) {
	out.Changes = append(out.Changes, Change{
		Name: s.name, Long: f.long, Run: st.told, Since: st.since,
		Factor: math.Exp(st.change), Strength: st.strength, Pairs: len(s.of),
	})
}

// A cause is a step of a host or link. Its change is by its pairs as they are, not clipped, against the change of all other pairs.
type cause struct {
	step
	gain float64 // what it explains of its pairs: by how much the sum of their deviations falls, in sigma
}

// causes are those of the steps of a host or link that its pairs share, but for the one that has changed most: one pair of
// few moves the others' mean, too.
func (f *family) causes(s *series, steps []step) []cause {
	var all []cause
	for n, st := range steps {
		from, until := 0, len(s.x)
		if n > 0 {
			from = steps[n-1].since
		}
		if n+1 < len(steps) {
			until = steps[n+1].since
		}
		var shares, weights []float64 // by how many times the step each pair has changed
		common := f.changeOfOthers(s, from, st.since, until)
		levels := make([]float64, len(s.of))
		for k, pair := range s.of {
			x := f.pairs[pair].x
			levels[k] = medianOf(x[from:st.since]) + common
			if change := medianOf(x[st.since:until]) - levels[k]; !math.IsNaN(change) {
				shares, weights = append(shares, change/s.weights[k]/st.change), append(weights, s.weights[k])
			}
		}
		others := len(shares) - 1
		if others+1 < pairsOfShared {
			continue
		}
		stat.SortWeighted(shares, weights)
		// The weighted median makes the sum of the deviations least.
		share := stat.Quantile(0.5, stat.Empirical, shares[:others], weights[:others])
		if share < sharedChange {
			continue
		}
		c := cause{step: st}
		c.change *= share
		for k, pair := range s.of {
			for _, v := range f.pairs[pair].x[st.since:until] {
				if off := v - levels[k]; !math.IsNaN(off) {
					c.gain += (math.Abs(off) - math.Abs(off-s.weights[k]*c.change)) / f.pairs[pair].sigma
				}
			}
		}
		all = append(all, c)
	}
	return all
}

// changeOfOthers is by how much the pairs that do not share a host or link have changed between two spans of runs. If many pairs
// share it, a part of its own change was taken for what runs have in common. That part was taken out of the other pairs, too.
// Of fewer than 5 other pairs it is 0.
func (f *family) changeOfOthers(s *series, from, since, until int) float64 {
	spans := [3]int{from, since, until}
	if f.changes[spans] == nil {
		for _, pair := range f.pairs {
			f.changes[spans] = append(f.changes[spans], medianOf(pair.x[since:until])-medianOf(pair.x[from:since]))
		}
	}
	others := slices.Clone(f.changes[spans])
	for _, pair := range s.of {
		others[pair] = math.NaN()
	}
	if others = stats.SortedFinite(others); len(others) < fewSeries {
		return 0
	}
	return stats.MiddleMedian(others)
}
