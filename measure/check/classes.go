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
	known   int     // samples of the first part that tell the offset
	offset  float64 // ln of what they usually take over what they should; NaN: too few
	doubt   float64 // of the offset, one sigma
}

// usual is what measurements of the class usually take, in s.
func (c *class) usual() float64 { return c.nominal * math.Exp(c.offset) }

// like tells whether two samples are to take as much longer than they should: of a busy machine those that are bounded
// alike, and else those of one length.
func (s *sample) like(other *sample) bool {
	return s.limit == other.limit && (s.limit != limit{} || math.Abs(s.nominal-other.nominal) <= gapAlike*other.nominal)
}

// classes are those of some samples: the shortest first, under load by limit. Each tells what its measurements usually take,
// if enough of them were screened. It sorts the ids.
func (r *measurements) classes(k kind, ids []int, ratio func(s *sample) float64) []class {
	slices.SortStableFunc(ids, func(i, j int) int {
		a, b := &r.samples[i], &r.samples[j]
		return cmp.Or(slices.Compare(a.limit[:], b.limit[:]), cmp.Compare(a.nominal, b.nominal), i-j)
	})
	var all []class
	for i, id := range ids {
		if i == 0 || !r.samples[id].like(&r.samples[ids[i-1]]) {
			all = append(all, class{offset: math.NaN()})
		}
		c := &all[len(all)-1]
		c.ids = append(c.ids, id)
	}
	spread := r.spreadOfPairs(k)
	for i := range all {
		c := &all[i]
		c.nominal = r.samples[c.ids[len(c.ids)/2]].nominal
		if known := r.ofScreened(c.ids, ratio); len(known) >= fewAlike {
			usual := lowestLevel(known, spread)
			c.known, c.offset, c.doubt = len(usual), stats.MiddleMedian(usual), stats.ErrorOfMedian(spread, len(usual))
		}
	}
	return all
}

// peaks are the classes of samples of hosts whose wiring is not known: each belongs to the next peak of the density of their
// times that lies below, to twice their spread.
func (r *measurements) peaks(k kind, ids []int, ratio func(s *sample) float64) []class {
	logs, spread := r.ofScreened(ids, ratio), r.spreadOfPairs(k)
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
	peakWidth   = 0.6  // of the spread of measurements: the bandwidth of the density
	fewInPeak   = 0.05 // of all measurements; fewer are faults, not a level of the machine
	hostsInPeak = 2.5  // a host is in 2/n of all measurements, and no level by itself
)

// levels are values that lie about the same peak of their density each, the lowest first.
func levels(x []float64, bandwidth float64) [][]float64 {
	of := stats.Classes(x, bandwidth)
	members := make([][]float64, slices.Max(of)+1)
	for i, c := range of {
		members[c] = append(members[c], x[i])
	}
	return members
}

// ofScreened are the values of those samples that are of the first part.
func (r *measurements) ofScreened(ids []int, value func(s *sample) float64) []float64 {
	var all []float64
	for _, id := range ids {
		if id < r.screened {
			all = append(all, value(&r.samples[id]))
		}
	}
	return all
}

// lowestLevel is the lowest level of some values that a quarter of them belong to at least. Faults make
// measurements longer, never shorter: where half of them cross a fault, the others tell what is usual.
func lowestLevel(x []float64, spread float64) []float64 {
	for _, m := range levels(x, levelWidth*spread) {
		if 4*len(m) >= len(x) {
			return m
		}
	}
	return x
}

// levelWidth is the bandwidth of the density that tells levels apart, as a share of the spread of single measurements.
const levelWidth = 1.2

// A line is what measurements usually take, as fixed + slope * nominal s.
type line struct {
	fixed, slope float64
	doubt        float64 // relative error of the slope, one sigma
}

func (l line) at(nominal float64) float64 { return l.fixed + l.slope*nominal }

// wideRange is how many times as long as the shortest measurements the longest have to be to tell overheads apart.
const wideRange = 1.5

// lineOf fits a line to the lengths that are known, the shortest first: the slope is what a link's own time counts for, and
// fixed the overhead that each message pays at its ends. The doubt is that of the shortest and the longest times. With one
// length all is slope. But what short messages take longer than the graph has it is overhead; that all of it is slope is two sigma off.
func lineOf(k kind, known []class) line {
	if len(known) == 0 {
		return line{slope: 1}
	}
	var x, y, weights []float64
	for _, c := range known {
		x, y = append(x, c.nominal), append(y, c.usual())
		weights = append(weights, float64(c.known)/(c.nominal*c.nominal)) // relative errors are alike
	}
	first, last := &known[0], &known[len(known)-1]
	if last.nominal >= wideRange*first.nominal {
		if fixed, slope := stat.LinearRegression(x, y, weights, false); slope > 0 && fixed >= 0 {
			return line{fixed, slope, math.Hypot(first.doubt*first.usual(), last.doubt*last.usual()) / (last.nominal - first.nominal) / slope}
		}
	}
	_, slope := stat.LinearRegression(x, y, weights, true)
	if k == ofLatency && last.nominal < wideRange*first.nominal && slope > 1 {
		return line{(slope - 1) * last.nominal, 1, math.Hypot(last.doubt, (slope-1)/2)}
	}
	return line{0, slope, last.doubt}
}

// tooLong is how many times as long as the line through shorter measurements those of a length may be.
const tooLong = 1.5

// fitLine finds the line through all lengths that are known. Those that take much longer than the line through shorter ones
// has it are forgotten: no protocol of a library does that, but one slow link that all of them cross, as between two racks.
func (r *measurements) fitLine(k kind, all []class) {
	var known []class
	for i := range all {
		c := &all[i]
		if r.w.specified[k] && len(known) > 0 && c.usual() > tooLong*lineOf(k, known).at(c.nominal) {
			c.offset = math.NaN()
		}
		if !math.IsNaN(c.offset) {
			known = append(known, *c)
		}
	}
	r.line[k] = lineOf(k, known)
}

// compareAlike finds what measurements usually take that are alike, by those of the first part, and how much more each
// does. The load of their groups is taken out before.
func (r *measurements) compareAlike(k kind, ids []int, load []float64) {
	ratio := func(s *sample) float64 { return math.Log(s.value/s.nominal) - load[s.group] }
	var all []class
	if r.w.graph == nil {
		all = r.peaks(k, ids, ratio)
	} else {
		all = r.classes(k, ids, ratio)
	}
	middle := stats.MiddleMedian(r.ofScreened(ids, ratio))
	if !r.w.load && r.w.graph != nil {
		r.fitLine(k, all)
	}
	for i := range all {
		c := &all[i]
		switch {
		case !math.IsNaN(c.offset):
		case r.w.load:
			c.offset = middle
		default:
			c.offset, c.doubt = math.Log(r.line[k].at(c.nominal)/c.nominal), r.line[k].doubt
		}
		for _, id := range c.ids {
			s := &r.samples[id]
			s.usual, s.doubt, s.excess = s.nominal*math.Exp(c.offset), c.doubt, ratio(s)-c.offset
		}
	}
	if !r.w.load {
		r.weigh(k)
	}
}

// weigh finds by how much of their usual time samples depend on links: a link makes its own time, not that of the ends. Two
// weights are uncertain. What seems to be a slow cable may be its host, whose overhead is slow, too. And latencies in a long message,
// as of a library that asks before it sends, are no part of what the rate of a link makes.
func (r *measurements) weigh(k kind) {
	for c := range r.c.wires {
		atHost := k == ofLatency && r.c.all[c].v < 0
		for s, cr := range r.ofAll(c) {
			if s.kind != k {
				continue
			}
			own, ofHost := cr.nominal*r.line[k].slope*s.nominal, 0.0
			if atHost {
				ofHost = r.line[k].fixed / 2
			}
			cr.weight, cr.most = min(1, own/s.usual), min(1, (own+ofHost)/s.usual)
			cr.least = cr.weight
			if own < ofHost {
				cr.weight = cr.most // or rather what the host takes itself
			}
			if s.short >= 0 {
				latencies := shortInLong * r.samples[s.short].usual
				cr.least = min(cr.weight, max(leastWeight, 1-latencies/s.usual))
			}
		}
	}
}

// leastWeight is the share of a long message that the rate of a link makes at least, where latencies may make all of it.
const leastWeight = 0.1
