package check

import (
	"cmp"
	"math"
	"slices"

	"gonum.org/v1/gonum/stat"

	"github.com/topocast/topocast/internal/stats"
)

// A length is a class of measurements with about the same nominal time.
type length struct {
	ids     []int
	nominal float64 // s, the median
	known   int     // samples of the first part
	offset  float64 // ln of what they usually take over what they should; NaN: too few
}

// lengths are the classes of some samples, the shortest first. Each tells what its measurements usually take, if enough
// of them were screened.
func (r *readings) lengths(ids []int, load map[int32]float64) []length {
	slices.SortStableFunc(ids, func(a, b int) int {
		return cmp.Or(cmp.Compare(r.samples[a].nominal, r.samples[b].nominal), a-b)
	})
	var all []length
	for i, id := range ids {
		if i > 0 {
			before, now, last := r.samples[ids[i-1]].nominal, r.samples[id].nominal, &all[len(all)-1]
			if now-before <= gapAlike*before && (last.known < manyAlike || now <= before*roundingUp) {
				last.ids = append(last.ids, id)
				if id < r.screened {
					last.known++
				}
				continue
			}
		}
		all = append(all, length{ids: []int{id}})
		if id < r.screened {
			all[len(all)-1].known = 1
		}
	}
	for i := range all {
		l := &all[i]
		l.nominal = r.samples[l.ids[len(l.ids)/2]].nominal
		l.offset = math.NaN()
		if l.known >= fewAlike {
			var ratios []float64
			for _, id := range l.ids {
				if s := &r.samples[id]; id < r.screened {
					ratios = append(ratios, math.Log(s.value/s.nominal)-load[s.group])
				}
			}
			l.offset = lowestLevel(ratios, r.spreadOfPairs())
		}
	}
	return all
}

// lowestLevel is the median of the lowest level of some values that a quarter of them belong to at least. Faults make
// measurements longer, never shorter: where half of them cross a fault, the others tell what is usual.
func lowestLevel(x []float64, spread float64) float64 {
	class := stats.Classes(x, nil, levelWidth*spread)
	members := make([][]float64, slices.Max(class)+1)
	for i, c := range class {
		members[c] = append(members[c], x[i])
	}
	for _, m := range members {
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
func lineOf(all []length) line {
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
func (r *readings) doubtOf(l line, all []length) float64 {
	known := slices.DeleteFunc(slices.Clone(all), func(x length) bool { return math.IsNaN(x.offset) })
	if len(known) == 0 {
		return 0
	}
	const ofMedian = 1.25 // times the error of a mean (normal)
	err := func(x *length) float64 {
		return ofMedian * r.spreadOfPairs() / math.Sqrt(float64(x.known)) * x.nominal * math.Exp(x.offset)
	}
	first, last := &known[0], &known[len(known)-1]
	if l.fixed == 0 || last.nominal == first.nominal {
		return err(last) / (last.nominal * math.Exp(last.offset))
	}
	return math.Hypot(err(first), err(last)) / (last.nominal - first.nominal) / l.slope
}

// tooLong is how many times as long as the line through shorter measurements those of a length may be. More is no
// protocol of a library: all of them cross one slow link, as between two racks.
const tooLong = 1.5

func (r *readings) compareByLength(ids []int, load map[int32]float64) {
	all := r.lengths(ids, load)
	for i := range all {
		shorter := lineOf(all[:i])
		if l := &all[i]; r.w.specified[r.samples[l.ids[0]].kind] && !math.IsNaN(l.offset) && l.nominal*math.Exp(l.offset) > tooLong*(shorter.fixed+shorter.slope*l.nominal) && slices.ContainsFunc(all[:i], func(x length) bool { return !math.IsNaN(x.offset) }) {
			l.offset = math.NaN()
		}
	}
	whole := lineOf(all)
	k := r.samples[ids[0]].kind
	r.line[k], r.slopeDoubt[k] = whole, r.doubtOf(whole, all)
	for _, l := range all {
		offset := l.offset
		if math.IsNaN(offset) {
			offset = math.Log(whole.fixed/l.nominal + whole.slope)
		}
		for _, i := range l.ids {
			s := &r.samples[i]
			s.usual = s.nominal * math.Exp(offset)
			s.excess = math.Log(s.value/s.usual) - load[s.group]
			for c := s.first; c < s.last; c++ {
				cr := &r.crossings[c]
				if f, _ := r.c.what(cr.candidate); f < slowAnswer { // a link makes its own time, not that of the ends
					cr.weight = min(1, cr.nominal*whole.slope*s.nominal/s.usual)
				}
			}
		}
	}
}
