package compare

import (
	"math"

	"github.com/topocast/topocast/internal/stats"
)

// What makes a difference, and of what. BenchmarkCompareLinks shows what is found,
// and what else is said, of machines with one link slower or two hosts exchanged; for
// each number stands between which factors nothing changes there and in the tests.
const (
	// sigmas is how many robust standard deviations a link may be off: of 1,000 normal
	// ones all are within. With 2 a run with 5 % of noise names one link more that is as it
	// was; with 18 a link of half the speed is missed in half of the runs.
	sigmas = 6

	// latencyFloor is the least difference of a latency, as a logarithm: what nobody would
	// look into. With 0.033 other links are named with 5 % of noise; with 0.3 no link that is 1.3
	// times as slow.
	latencyFloor = 0.1

	// bandwidthFloor is the same of bandwidths; one pair of hosts gives a bandwidth,
	// many a latency. 0.05 to 0.45.
	bandwidthFloor = 0.15

	// insideFloor is the same of latencies inside a host, which vary with what else
	// its caches hold: cores of one class differ by up to 40 %. 0.1 to 0.9.
	insideFloor = 0.3

	// classFloor is the same of a whole class against all others: an MPI library that takes
	// longer per message weighs on short links more than on long ones. 0.08 to 0.75.
	classFloor = 0.25

	// unseen is the share of the latencies across a link below which its own is none that
	// they show: half a percent of them is the error of a fit to readings of 3 %
	// noise (fit.Latencies). 0.0017 to 0.015.
	unseen = 0.005

	// manyLinks of a class show its spread; fewer may agree by chance. With 3 nothing
	// changes, with 24 a tenth of the links that are 1.3 times as slow is missed.
	manyLinks = 8

	// manyPairs are as many as count: of many readings over one link those with the
	// nearest hosts tell most. With 5 a sixth fewer of the links that are 1.3 times as slow are found
	// in 5 % of noise, 48 changes nothing.
	manyPairs = 16
)

// An entry is one quantity under judgement.
type entry struct {
	q        *Quantity
	class    int
	slowness float64 // measured against the reference; NaN if it says nothing
	value    float64 // the measured slowness itself: s, or s/B
	sigma    float64 // of ln value, as the readings have it
}

// judge compares the quantities of all links, and draws the conclusions.
func (c *linkComparer) judge() {
	var latencies, rates []entry
	for i := range c.links {
		l := &c.links[i]
		if l.missing {
			l.state.Latency.Measured = math.NaN()
			continue
		}
		if l.doubtful {
			continue
		}
		q := &l.state.Latency
		if q.Measured >= 0 {
			least := unseen * l.distance
			q.Unseen = q.Measured < least
			e := entry{q: q, class: l.state.Class, value: max(q.Measured, least), slowness: math.NaN()}
			if q.Reference >= 0 && e.value > 0 {
				e.slowness = e.value / max(q.Reference, least)
			}
			e.sigma = c.noise * l.distance / math.Sqrt(float64(min(manyPairs, max(1, l.pairs)))) / e.value
			if q.Reference > e.value {
				e.sigma *= e.value / q.Reference
			}
			if e.value > 0 {
				latencies = append(latencies, e)
			}
		}
		for way := range l.state.Bandwidth {
			if q := &l.state.Bandwidth[way]; q.Measured > 0 {
				rates = append(rates, entry{q: q, class: l.state.Class, value: 1 / q.Measured, slowness: q.Reference / q.Measured, sigma: c.noise})
			}
		}
	}
	c.out.Latency = c.judgeEach(latencies, false, latencyFloor, func(k *LinkClass) (middle, spread *float64) { return &k.Latency, &k.LatencySpread })
	c.out.Bandwidth = c.judgeEach(rates, true, bandwidthFloor, func(k *LinkClass) (middle, spread *float64) { return &k.Bandwidth, &k.BandwidthSpread })
	c.conclude()
}

// judgeEach gives the entries, which are rates or latencies, their verdicts and the
// classes their middles, and returns the middle of all.
func (c *linkComparer) judgeEach(entries []entry, rates bool, floor float64, of func(*LinkClass) (middle, spread *float64)) float64 {
	var all []float64
	byClass := make([][]entry, len(c.out.Classes))
	for _, e := range entries {
		byClass[e.class] = append(byClass[e.class], e)
		if e.class != c.inside && !math.IsNaN(e.slowness) {
			all = append(all, e.slowness)
		}
	}
	common := math.NaN()
	if len(all) > 0 {
		common = stats.LowerMedian(all)
	}
	excused := common // what all links may have in common: another library changes latencies, and no rate of a link
	if rates {
		excused = 1
	}
	widest := 0.0
	for k, own := range byClass {
		middle, spread := of(&c.out.Classes[k])
		*middle, *spread = middleOf(own, func(e entry) float64 { return e.slowness })
		if !math.IsNaN(*spread) && k != c.inside {
			widest = max(widest, *spread)
		}
	}
	for k, own := range byClass {
		middle, spread := of(&c.out.Classes[k])
		peers, apart := middleOf(own, func(e entry) float64 { return e.value })
		known, unseen := 0, 0
		for _, e := range own {
			if !math.IsNaN(e.slowness) {
				known++
				if e.q.Unseen {
					unseen++
				}
			}
		}
		for _, e := range own {
			var off, sigma float64
			switch {
			case known >= fewLinks && !math.IsNaN(e.slowness):
				off, sigma = math.Log(e.slowness / *middle), *spread
			case !math.IsNaN(e.slowness):
				// Two links do not tell which is usual. What all links have in
				// common they may have too, or not: another library takes
				// longer at the hosts and not in the switches.
				off, sigma = apartFrom(e.slowness, excused), widest
			case len(own) >= fewLinks:
				off, sigma = math.Log(e.value/peers), apart
			default:
				continue
			}
			if len(own) < manyLinks {
				sigma = max(sigma, e.sigma)
			}
			tolerance := max(floor, sigmas*sigma)
			if k == c.inside {
				tolerance = max(tolerance, insideFloor)
			}
			if c.settings.Tolerance > 0 {
				tolerance = math.Log1p(c.settings.Tolerance)
			}
			e.q.Slower = math.Exp(off)
			switch {
			case off > tolerance:
				e.q.Verdict = LinkSlow
			case off < -tolerance:
				e.q.Verdict = LinkFast
			default:
				e.q.Verdict = LinkSame
			}
		}
		off := apartFrom(*middle, excused)
		tolerance := max(classFloor, sigmas**spread/math.Sqrt(float64(known)))
		if c.settings.Tolerance > 0 {
			tolerance = math.Log1p(c.settings.Tolerance)
		}
		if known >= fewLinks && k != c.inside && math.Abs(off) > tolerance {
			c.out.Findings = append(c.out.Findings, Finding{Kind: FoundClass, Link: -1, Class: k, Rates: rates, Times: math.Exp(off), Unseen: 2*unseen > known})
		}
	}
	return common
}

// middleOf is the lower median of what is known, and the spread about it: the median
// of |ln x/middle|, as the standard deviation of a normal distribution. NaN if
// nothing is known, the spread of fewer than three, too.
func middleOf(entries []entry, of func(entry) float64) (middle, spread float64) {
	var values []float64
	for _, e := range entries {
		if x := of(e); !math.IsNaN(x) {
			values = append(values, x)
		}
	}
	if len(values) == 0 {
		return math.NaN(), math.NaN()
	}
	middle = stats.LowerMedian(values)
	if len(values) < fewLinks {
		return middle, math.NaN()
	}
	for i, x := range values {
		values[i] = math.Log(x / middle)
	}
	return middle, stats.SigmaAbout(0, values)
}

// apartFrom is by how much, as a logarithm, a slowness lies outside what is
// between none and the common one.
func apartFrom(slowness, common float64) float64 {
	if math.IsNaN(common) {
		common = 1
	}
	return math.Log(slowness / min(max(slowness, min(1, common)), max(1, common)))
}
