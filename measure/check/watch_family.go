package check

import (
	"math"
	"slices"

	"gonum.org/v1/gonum/stat"

	"github.com/topocast/topocast/internal/stats"
)

// A family are the series of one kind of messages.
type family struct {
	kind   PointKind
	pairs  []series
	shared []series // of hosts and links, which several pairs share

	sigmas  []float64 // of pairs
	clipped float64   // by how much a pair counts at most in what it shares
}

func newFamily(kind PointKind, pairs, shared []series, step float64) *family {
	f := &family{kind: kind, pairs: pairs, shared: shared, sigmas: spreads(pairs)}
	f.clipped = max(math.Log1p(step), clipAt*medianOf(f.sigmas))
	for i := range shared {
		squares := 0.0
		for _, w := range shared[i].weights {
			squares += w * w
		}
		shared[i].scale = 1 / math.Sqrt(squares)
	}
	f.fill()
	return f
}

// watch tells the steps of hosts and links, those that explain most first, and then those of pairs which no host and no
// link explains. The rates are those of false alarms per series and run.
func (f *family) watch(out *WatchResult, least, ofPair, ofShared float64) {
	sigmas := spreads(f.shared)
	w := newWatcher(least, ofShared)
	told := map[[2]int]bool{} // series, run since when
	for {
		first, best := -1, cause{}
		for i := range f.shared {
			for _, c := range f.causes(&f.shared[i], w.steps(f.shared[i].x, sigmas[i])) {
				if c.gain > best.gain && !told[[2]int{i, c.since}] {
					first, best = i, c
				}
			}
		}
		if first < 0 {
			break
		}
		told[[2]int{first, best.since}] = true
		s := &f.shared[first]
		out.tell(s, f.kind, best.step)
		for k, pair := range s.of {
			for t := best.since; t < len(s.x); t++ {
				f.pairs[pair].x[t] -= s.weights[k] * best.change
			}
		}
		polish(f.pairs, len(s.x)) // what the change has added to most is taken out of none
		f.fill()
	}

	w = newWatcher(least, ofPair)
	for i := range f.pairs {
		for _, st := range w.steps(f.pairs[i].x, f.sigmas[i]) {
			out.tell(&f.pairs[i], f.kind, st)
		}
	}
	for _, s := range slices.Concat(f.shared, f.pairs) {
		known := len(stats.SortedFinite(s.x))
		out.Samples += max(0, known-warmUp)
		if known <= warmUp {
			out.Short++
		}
	}
	out.Series += len(f.shared) + len(f.pairs)
}

// fill finds what hosts and links have added in each run.
func (f *family) fill() {
	for i := range f.shared {
		f.shared[i].fill(f.pairs, f.clipped)
	}
}

// tell adds a step to what was found.
func (out *WatchResult) tell(s *series, kind PointKind, st step) {
	out.Changes = append(out.Changes, Change{
		Name: s.name, Kind: kind, Run: st.told, Since: st.since,
		Factor: math.Exp(st.change), Strength: st.strength, Pairs: len(s.of),
	})
}

// A cause is a step of a host or link, with a change by its pairs as they are, not clipped.
type cause struct {
	step
	gain float64 // what it explains of its pairs: by how much the sum of their deviations falls, in sigma
}

// causes are those of the steps of a host or link that its pairs share, but for the one that has changed most: one pair of
// few moves the others' mean, too.
func (f *family) causes(s *series, steps []step) []cause {
	var all []cause
	for n, st := range steps {
		from, until := lastStep(steps[:n]), len(s.x)
		if n+1 < len(steps) {
			until = steps[n+1].since
		}
		var shares, weights []float64 // by how many times the step each pair has changed
		levels := make([]float64, len(s.of))
		for k, pair := range s.of {
			x := f.pairs[pair].x
			levels[k] = medianOf(x[from:st.since])
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
					c.gain += (math.Abs(off) - math.Abs(off-s.weights[k]*c.change)) / f.sigmas[pair]
				}
			}
		}
		all = append(all, c)
	}
	return all
}
