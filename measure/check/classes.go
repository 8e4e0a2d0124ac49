package check

import (
	"cmp"
	"math"
	"slices"

	"gonum.org/v1/gonum/stat"

	"github.com/topocast/topocast/internal/stats"
)

// What a measurement usually takes is not known beforehand: libraries and hosts add to what links take. So like is
// compared with like. Measurements are put into classes: of one length, under load of one limit, and where the wiring is
// not known of one peak of their times. Faults make measurements longer, never shorter. So the lowest level of a class
// that a quarter of its members belong to is what is usual there. Where a class has too few members, a line through the
// other lengths tells what is usual, or the median of all.

// A class are measurements that are alike.
type class struct {
	ids     []int
	nominal float64 // s, the median
	known   int     // samples of the first part
	offset  float64 // ln of what they usually take over what they should; NaN: too few
}

// classes are those of some samples: under load of transfers with the same limit, and else of measurements with about the
// same nominal time, the shortest first. Each tells what its measurements usually take, if enough of them were screened.
func (r *readings) classes(ids []int, ratio func(s *sample) float64) []class {
	var all []class
	join := func(c, id int) {
		if c == len(all) {
			all = append(all, class{offset: math.NaN()})
		}
		if all[c].ids = append(all[c].ids, id); id < r.screened {
			all[c].known++
		}
	}
	if r.busy != nil {
		of := map[limit]int{}
		for _, id := range ids {
			c, seen := of[r.samples[id].limit]
			if !seen {
				c = len(all)
				of[r.samples[id].limit] = c
			}
			join(c, id)
		}
	} else {
		slices.SortStableFunc(ids, func(a, b int) int {
			return cmp.Or(cmp.Compare(r.samples[a].nominal, r.samples[b].nominal), a-b)
		})
		for i, id := range ids {
			c := len(all)
			if i > 0 {
				before, now := r.samples[ids[i-1]].nominal, r.samples[id].nominal
				if now-before <= gapAlike*before && (all[c-1].known < manyAlike || now <= before*roundingUp) {
					c--
				}
			}
			join(c, id)
		}
	}
	for i := range all {
		c := &all[i]
		c.nominal = r.samples[c.ids[len(c.ids)/2]].nominal
		if c.known >= fewAlike {
			c.offset = lowestLevel(r.ofScreened(c.ids, ratio), r.spreadOfPairs())
		}
	}
	return all
}

// peaks are the classes of samples of hosts whose wiring is not known: each belongs to the next peak of the density of their
// times that lies below, to twice their spread.
func (r *readings) peaks(ids []int, ratio func(s *sample) float64) []class {
	logs, spread := r.ofScreened(ids, ratio), r.spreadOfPairs()
	fewest := max(fewInPeak, hostsInPeak/float64(r.w.hosts))
	var all []class
	for _, members := range levels(logs, peakWidth*spread) {
		if float64(len(members)) >= fewest*float64(len(logs)) {
			all = append(all, class{nominal: 1, offset: stats.MiddleMedian(members)})
		}
	}
	if len(all) == 0 {
		all = []class{{nominal: 1, offset: stats.MiddleMedian(logs)}}
	}
	for _, i := range ids {
		at := 0
		for c := range all {
			if all[c].offset <= ratio(&r.samples[i])+2*spread {
				at = c
			}
		}
		all[at].ids = append(all[at].ids, i)
	}
	return all
}

const (
	peakWidth   = 0.6  // of the spread of readings: the bandwidth of the density
	fewInPeak   = 0.05 // of all readings; fewer are faults, not a level of the machine
	hostsInPeak = 2.5  // a host is in 2/n of all readings, and no level by itself
)

// levels are values that lie about the same peak of their density each, the lowest first.
func levels(x []float64, bandwidth float64) [][]float64 {
	of := stats.Classes(x, nil, bandwidth)
	members := make([][]float64, slices.Max(of)+1)
	for i, c := range of {
		members[c] = append(members[c], x[i])
	}
	return members
}

// ofScreened are the values of those samples that are of the first part.
func (r *readings) ofScreened(ids []int, value func(s *sample) float64) []float64 {
	var all []float64
	for _, id := range ids {
		if id < r.screened {
			all = append(all, value(&r.samples[id]))
		}
	}
	return all
}

// lowestLevel is the median of the lowest level of some values that a quarter of them belong to at least. Faults make
// measurements longer, never shorter: where half of them cross a fault, the others tell what is usual.
func lowestLevel(x []float64, spread float64) float64 {
	for _, m := range levels(x, levelWidth*spread) {
		if 4*len(m) >= len(x) {
			return stats.MiddleMedian(m)
		}
	}
	return stats.MiddleMedian(x)
}

// levelWidth is the bandwidth of the density that tells levels apart, as a share of the spread of single measurements.
const levelWidth = 1.2

// A line is what measurements usually take, as fixed + slope * nominal s.
type line struct{ fixed, slope float64 }

// wideRange is how many times as long as the shortest measurements the longest have to be to tell overheads apart.
const wideRange = 1.5

// lineOf fits a line to the lengths that are known: the slope is what a link's own time counts for, and fixed the
// overhead that each message pays at its ends. With one length all is slope.
func lineOf(all []class) line {
	var x, y, weights []float64
	for _, l := range all {
		if !math.IsNaN(l.offset) {
			x, y = append(x, l.nominal), append(y, l.nominal*math.Exp(l.offset))
			weights = append(weights, float64(l.known)/(l.nominal*l.nominal)) // relative errors are alike
		}
	}
	if len(x) == 0 {
		return line{0, 1}
	}
	if len(x) > 1 && x[len(x)-1] >= wideRange*x[0] {
		if fixed, slope := stat.LinearRegression(x, y, weights, false); slope > 0 && fixed >= 0 {
			return line{fixed, slope}
		}
	}
	sum, total := 0.0, 0.0
	for i := range x {
		sum += weights[i] * y[i] * x[i]
		total += weights[i] * x[i] * x[i]
	}
	return line{0, sum / total}
}

// doubtOf is the relative error of a line's slope, one sigma, by the spread of single measurements: that of the shortest
// and the longest times that are known, which are medians.
func (r *readings) doubtOf(l line, all []class) float64 {
	known := slices.DeleteFunc(slices.Clone(all), func(x class) bool { return math.IsNaN(x.offset) })
	if len(known) == 0 {
		return 0
	}
	const ofMedian = 1.25 // times the error of a mean (normal)
	err := func(x *class) float64 {
		return ofMedian * r.spreadOfPairs() / math.Sqrt(float64(x.known)) * x.nominal * math.Exp(x.offset)
	}
	first, last := &known[0], &known[len(known)-1]
	if l.fixed == 0 || last.nominal == first.nominal {
		return err(last) / (last.nominal * math.Exp(last.offset))
	}
	return math.Hypot(err(first), err(last)) / (last.nominal - first.nominal) / l.slope
}

// tooLong is how many times as long as the line through shorter measurements those of a length may be.
const tooLong = 1.5

// compareAlike finds what measurements usually take that are alike, by those of the first part, and how much more each
// does. The load of their groups is taken out before.
func (r *readings) compareAlike(ids []int, load map[int32]float64) {
	ratio := func(s *sample) float64 { return math.Log(s.value/s.nominal) - load[s.group] }
	var all []class
	var usual func(nominal float64) float64 // the offset where a class tells none
	switch {
	case r.w.graph == nil:
		all = r.peaks(ids, ratio)
	case r.busy != nil:
		all = r.classes(ids, ratio)
		middle := stats.MiddleMedian(r.ofScreened(ids, ratio))
		usual = func(float64) float64 { return middle }
	default:
		all = r.classes(ids, ratio)
		r.passOverSlow(all)
		k := r.samples[ids[0]].kind
		whole := lineOf(all)
		r.line[k], r.slopeDoubt[k] = whole, r.doubtOf(whole, all)
		usual = func(nominal float64) float64 { return math.Log(whole.fixed/nominal + whole.slope) }
	}
	for _, c := range all {
		offset := c.offset
		if math.IsNaN(offset) {
			offset = usual(c.nominal)
		}
		for _, i := range c.ids {
			s := &r.samples[i]
			s.usual, s.excess = s.nominal*math.Exp(offset), ratio(s)-offset
			for k := s.first; k < s.last && r.busy == nil; k++ {
				cr := &r.crossings[k]
				if f, _ := r.c.what(cr.candidate); f < slowAnswer { // a link makes its own time, not that of the ends
					cr.weight = min(1, cr.nominal*r.line[s.kind].slope*s.nominal/s.usual)
				}
			}
		}
	}
}

// passOverSlow forgets what lengths tell that take much longer than the line through shorter ones has it: no protocol of a
// library does that, but one slow link that all of them cross, as between two racks.
func (r *readings) passOverSlow(all []class) {
	for i := range all {
		c, shorter := &all[i], lineOf(all[:i])
		known := slices.ContainsFunc(all[:i], func(x class) bool { return !math.IsNaN(x.offset) })
		if r.w.specified[r.samples[c.ids[0]].kind] && known && c.nominal*math.Exp(c.offset) > tooLong*(shorter.fixed+shorter.slope*c.nominal) {
			c.offset = math.NaN()
		}
	}
}
