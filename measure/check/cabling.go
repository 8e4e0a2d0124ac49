package check

import (
	"maps"
	"math"
	"slices"

	"github.com/topocast/topocast/internal/words"
)

const (
	misfits    = 0.15 // share of a host's measurements that contradict its cable
	fits       = 0.9  // share that another switch has to explain
	fewSamples = 6    // measurements of a host that tell where it hangs

	alikeMisfit = 0.005 // switches that explain a host's measurements that much alike are not told apart
)

// misplacedHosts are hosts whose short messages take what they would take from another switch: longer to the hosts next
// to them in the graph, and shorter to those of the other switch. A slow host or cable is slow to all. What such a host
// explains is taken out of the samples.
func (r *readings) misplacedHosts(tolerance, level float64) []effect {
	if r.w.load || !r.w.specified[ofLatency] {
		return nil
	}
	bar := math.Log1p(tolerance) + 3*r.sigma[ofLatency]
	of := make([][]int, r.w.hosts) // samples
	for i := range r.samples {
		if s := &r.samples[i]; s.kind == ofLatency {
			of[s.from] = append(of[s.from], i)
			of[s.to] = append(of[s.to], i)
		}
	}
	sound := make(map[int][]int) // by switch: hosts that fit there
	var doubtful []int
	for h, ids := range of {
		switch at := r.w.switchOf(h); {
		case at < 0 || len(ids) < fewSamples:
		case fitting(r.excessesFrom(h, ids, nil), bar) <= 1-misfits:
			doubtful = append(doubtful, h)
		default:
			sound[at] = append(sound[at], h)
		}
	}
	var found []effect
	for _, h := range doubtful {
		from, least := r.w.switchOf(h), math.Inf(1)
		var to []int // switches that its measurements fit alike
		var explained []float64
		for _, at := range slices.Sorted(maps.Keys(sound)) {
			if at == from {
				continue
			}
			rest := r.excessesFrom(h, of[h], sound[at])
			switch m := misfit(rest); {
			case m < least-alikeMisfit:
				least, to, explained = m, []int{at}, rest
			case m <= least+alikeMisfit:
				to = append(to, at)
			}
		}
		if to == nil {
			continue
		}
		var gains []float64 // of the second part, which had no say
		for n, i := range of[h] {
			gain := math.Abs(r.samples[i].excess) - math.Abs(explained[n])
			if i >= r.screened && math.Abs(gain) >= bar/2 { // or else neither place tells it
				gains = append(gains, gain-bar/2)
			}
		}
		p, nan := min(1, signedRank(gains)*float64(len(doubtful)*len(sound))), math.NaN()
		if p <= level && fitting(explained, bar) >= fits {
			var names []string
			for _, at := range to {
				names = append(names, r.w.name(at))
				r.setAsideBy(h, sound[at])
			}
			found = append(found, effect{place{h, -1}, byItself, 0, Finding{
				What: cabling, From: r.w.name(from), To: words.Or(names), Factor: nan, Low: nan, High: nan, Often: 1, P: p, Readings: len(of[h]),
			}})
			for n, i := range of[h] {
				r.samples[i].excess = explained[n]
			}
		}
	}
	return found
}

// setAsideBy keeps long messages out of the tests of others that shared links with those of a host that hangs where some other
// hosts do: the planner took its messages to go another way.
func (r *readings) setAsideBy(h int, others []int) {
	var x path
	for i := range r.samples {
		s := &r.samples[i]
		peer := s.from + s.to - h
		there := slices.IndexFunc(others, func(other int) bool { return other != peer })
		if s.kind != ofRate || s.from != h && s.to != h || there < 0 || !r.w.find(&x, others[there], peer) {
			continue
		}
		for k := range r.samples {
			if beside := &r.samples[k]; beside.group == s.group && slices.ContainsFunc(x.arcs, func(e int32) bool { return slices.Contains(beside.route, e) }) {
				beside.aside = &place{h, -1}
			}
		}
	}
}

// excessesFrom are the excesses of a host's samples if it hung where other hosts do. Without others they are as they are.
func (r *readings) excessesFrom(h int, ids, others []int) []float64 {
	rest := make([]float64, len(ids))
	var x path
	for n, i := range ids {
		s := &r.samples[i]
		rest[n] = s.excess
		peer := s.from + s.to - h
		there := slices.IndexFunc(others, func(other int) bool { return other != peer })
		if there >= 0 && r.w.find(&x, others[there], peer) {
			rest[n] += math.Log(s.usual / r.line[ofLatency].at(r.w.oneWay(&x)))
		}
	}
	return rest
}

// fitting is the share of some excesses that are no larger than a bar.
func fitting(excesses []float64, bar float64) float64 {
	good := 0
	for _, x := range excesses {
		if math.Abs(x) <= bar {
			good++
		}
	}
	return float64(good) / float64(len(excesses))
}

// misfit is how badly some excesses are explained: the mean of their sizes, none of which counts for more than a factor
// of two.
func misfit(excesses []float64) float64 {
	sum := 0.0
	for _, x := range excesses {
		sum += min(math.Abs(x), math.Ln2)
	}
	return sum / float64(len(excesses))
}
