package check

import (
	"math"
	"slices"

	"github.com/topocast/topocast/internal/stats"
)

// A kind of reading.
type kind int8

const (
	ofLatency kind = iota
	ofRate         // the time of a long message one way, answered by a short one
	kinds
)

// A sample is one reading with what it crossed.
type sample struct {
	kind    kind
	from    int
	to      int
	value   float64 // s
	nominal float64 // s, as the graph has it; NaN without one
	share   float64 // of a long message's time, what the transfer makes
	first   int32   // its crossings are readings.crossings[first:last]
	last    int32
	usual   float64 // s, what such readings take here
	excess  float64 // ln(value/usual), less what faults that were found explain
}

// A crossing says how a sample depends on a candidate.
type crossing struct {
	candidate int32
	weight    float64 // d ln(time) / d ln(the candidate's time)
	full      float64 // of an arc: how full its rate was; below 1 a part of a slowdown is not seen
	pull      float64 // weight in scores: of what a candidate of half its speed would show
}

// readings are all samples so far.
type readings struct {
	w         *wiring
	c         *candidates
	bytes     float64
	samples   []sample
	crossings []crossing
	screened  int // samples before the narrowing down
	pairs     int
	sigma     [kinds]float64 // spread of the excess of a healthy machine
	mean      [kinds]float64 // of what clip leaves, in sigma
	variance  [kinds]float64
}

// add takes over the readings of a round.
func (r *readings) add(p *planner, pairs [][2]int, read []Reading) {
	var x path
	for i, pair := range pairs {
		r.pairs++
		a, b := pair[0], pair[1]
		r.w.find(&x, a, b)
		r.addSample(p, &x, ofLatency, a, b, read[i].Latency, 0, nil)
		r.addSample(p, &x, ofRate, a, b, read[i].Forward, 0, x.there)
		r.addSample(p, &x, ofRate, b, a, read[i].Back, 1, x.back)
	}
}

func (r *readings) addSample(p *planner, x *path, k kind, from, to int, value float64, way int, arcs []int32) {
	if !(value > 0) || math.IsInf(value, 1) {
		return
	}
	s := sample{kind: k, from: from, to: to, value: value, nominal: math.NaN(), first: int32(len(r.crossings))}
	if r.w.graph != nil {
		s.nominal = r.w.oneWay(x)
		if k == ofRate {
			transfer := r.bytes / r.w.slowest(arcs)
			s.nominal = 2*s.nominal + transfer
			s.share = transfer / s.nominal
		}
	}
	switch {
	case k == ofLatency && s.nominal == 0:
		return // over links that take no time, as the graph has it: there is nothing to hold it against
	case k == ofLatency:
		total := 2 * s.nominal
		for _, arcs := range [...][]int32{x.there, x.back} {
			for _, e := range arcs {
				r.cross(&s, r.c.ofLink(r.w.link[e]), r.w.latency[e]/total, 1)
			}
		}
		r.cross(&s, r.c.ofHost(from, slowAnswer), 1, 1)
		r.cross(&s, r.c.ofHost(to, slowAnswer), 1, 1)
	default:
		for _, e := range arcs {
			full := p.load[way][e] / r.w.rate[e]
			if full >= fullEnough {
				r.cross(&s, r.c.ofArc(e), s.share, full)
			}
		}
		r.cross(&s, r.c.ofHost(from, slowSend), 1, 1)
		r.cross(&s, r.c.ofHost(to, slowReceive), 1, 1)
	}
	s.last = int32(len(r.crossings))
	r.samples = append(r.samples, s)
}

// fullEnough is how full a link must be for its rate to be read: one at half its rate begins to
// show at 0.5.
const fullEnough = 0.6

// cross notes a crossing; a link that is crossed there and back adds up.
func (r *readings) cross(s *sample, candidate int32, weight, full float64) {
	if candidate < 0 || !(weight > 0) {
		return
	}
	for i := int(s.first); i < len(r.crossings); i++ {
		if r.crossings[i].candidate == candidate {
			r.crossings[i].weight += weight
			r.crossings[i].pull += weight
			return
		}
	}
	r.crossings = append(r.crossings, crossing{candidate, weight, full, weight * math.Log2(2*min(1, full))})
}

const (
	fewAlike  = 24   // samples whose median is what such readings take, at least
	manyAlike = 512  // and at most: a machine of unequal links has no gaps between lengths
	gapAlike  = 0.02 // of the nominal time, between readings that are not alike
)

// compare finds what readings of each length usually take here, by those of the
// first part, and how much more each sample is. With a graph, readings are alike whose
// nominal times are; what all of these have in common is the machine's own: overheads, or
// a protocol of the library.
func (r *readings) compare() {
	for k := range kinds {
		var ids []int
		for i := range r.samples {
			if r.samples[i].kind == k {
				ids = append(ids, i)
			}
		}
		if len(ids) == 0 {
			continue
		}
		if r.w.graph == nil {
			r.compareByPeaks(ids)
		} else {
			r.compareByLength(ids)
		}
		var off []float64
		for _, i := range ids {
			if s := &r.samples[i]; i < r.screened {
				off = append(off, math.Abs(s.excess))
			}
		}
		r.sigma[k] = max(stats.Sigma(off), leastSigma)
		r.moments(k, ids)
	}
}

// leastSigma stands for a spread that is nothing: readings of a simulation without noise.
const leastSigma = 1e-4

func (r *readings) compareByLength(ids []int) {
	slices.SortStableFunc(ids, func(a, b int) int {
		switch x, y := r.samples[a].nominal, r.samples[b].nominal; {
		case x < y:
			return -1
		case x > y:
			return 1
		}
		return a - b
	})
	starts, known := []int{0}, 0
	for i, id := range ids {
		if known >= fewAlike {
			before, now := r.samples[ids[i-1]].nominal, r.samples[id].nominal
			if now-before > gapAlike*before || known >= manyAlike && now > before*roundingUp {
				starts, known = append(starts, i), 0
			}
		}
		if id < r.screened {
			known++
		}
	}
	if last := len(starts) - 1; known < fewAlike && last > 0 {
		starts = starts[:last] // too few left for a median of their own
	}
	starts = append(starts, len(ids))
	for n, start := range starts[:len(starts)-1] {
		block := ids[start:starts[n+1]]
		var ratios []float64
		for _, i := range block {
			if s := &r.samples[i]; i < r.screened {
				ratios = append(ratios, math.Log(s.value/s.nominal))
			}
		}
		offset := 0.0
		if len(ratios) > 0 {
			offset = stats.MiddleMedian(ratios)
		}
		for _, i := range block {
			s := &r.samples[i]
			s.usual = s.nominal * math.Exp(offset)
			s.excess = math.Log(s.value / s.usual)
		}
	}
}

// compareByPeaks does the same without a graph: readings belong to the next peak of their
// density that lies below, to twice their spread.
func (r *readings) compareByPeaks(ids []int) {
	logs := make([]float64, 0, len(ids))
	for _, i := range ids {
		if i < r.screened {
			logs = append(logs, math.Log(r.samples[i].value))
		}
	}
	spread := r.spreadOfPairs()
	class := stats.Classes(logs, nil, peakWidth*spread)
	members := make([][]float64, slices.Max(class)+1)
	for i, c := range class {
		members[c] = append(members[c], logs[i])
	}
	var peaks []float64
	fewest := max(fewInPeak, hostsInPeak/float64(r.w.hosts))
	for _, m := range members {
		if float64(len(m)) >= fewest*float64(len(logs)) {
			peaks = append(peaks, stats.MiddleMedian(m))
		}
	}
	if len(peaks) == 0 {
		peaks = []float64{stats.MiddleMedian(logs)}
	}
	for _, i := range ids {
		s := &r.samples[i]
		x := math.Log(s.value)
		at := peaks[0]
		for _, p := range peaks {
			if p <= x+2*spread {
				at = p
			}
		}
		s.usual, s.excess = math.Exp(at), x-at
	}
}

const (
	peakWidth   = 0.6  // of the spread of readings: the bandwidth of the density
	fewInPeak   = 0.05 // of all readings; fewer are faults, not a level of the machine
	hostsInPeak = 2.5  // a host is in 2/n of all readings, and no level by itself
)

// spreadOfPairs is the spread of single readings, by long messages of the same pair there and back.
func (r *readings) spreadOfPairs() float64 {
	var off []float64
	for i := 1; i < r.screened; i++ {
		if a, b := &r.samples[i-1], &r.samples[i]; a.kind == ofRate && b.kind == ofRate && a.from == b.to && a.to == b.from {
			off = append(off, math.Log(a.value/b.value))
		}
	}
	if len(off) == 0 {
		return leastSigma
	}
	for i := range off {
		off[i] = math.Abs(off[i])
	}
	return max(leastSigma, stats.SigmaOfOne(off))
}

// clipAt bounds what one sample says, in sigma: an outlier is nobody's fault.
const clipAt = 3

func clip(x float64) float64 { return max(-clipAt, min(clipAt, x)) }

// moments are the mean and variance of clipped samples.
func (r *readings) moments(k kind, ids []int) {
	sum, squares, n := 0.0, 0.0, 0.0
	for _, i := range ids {
		if i < r.screened {
			x := clip(r.samples[i].excess / r.sigma[k])
			sum, squares, n = sum+x, squares+x*x, n+1
		}
	}
	r.mean[k], r.variance[k] = 0, 1
	if n > 1 {
		r.mean[k] = sum / n
		r.variance[k] = max(1, squares/n-r.mean[k]*r.mean[k])
	}
}
