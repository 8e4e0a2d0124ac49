package topology

import (
	"math"

	"github.com/topocast/topocast/internal/stats"
)

// What makes a difference, and of what.
const (
	sigmas         = 6     // robust standard deviations that a link may be off: of 1,000 normal ones all are within
	latencyFloor   = 0.1   // of the logarithm: what nobody would look into
	bandwidthFloor = 0.15  // the same; one pair of hosts gives a bandwidth, many a latency
	insideFloor    = 0.3   // the same of latencies inside a host, which vary with what else its caches hold
	classFloor     = 0.25  // the same of a whole class, against all others
	unseen         = 0.005 // of the latencies across a link: its own share below is none that they show
	manyLinks      = 8     // of a class show its spread; fewer may agree by chance
	fewLinks       = 3     // of a class have a middle
	oddHost        = 0.1   // mean of |ln measured/fitted| of a host that no place explains
	misfitFloor    = 0.1   // median of the same over all
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
			e := entry{q: q, class: l.state.Class, value: max(q.Measured, least), slowness: math.NaN()}
			if q.Reference >= 0 && e.value > 0 {
				e.slowness = e.value / max(q.Reference, least)
			}
			// Of many readings over one link those with the nearest hosts
			// tell most: more than 16 do not make it surer.
			e.sigma = c.noise * l.distance / math.Sqrt(float64(min(16, max(1, l.pairs)))) / e.value
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
	c.out.Latency = c.judgeEach(latencies, latencyFloor, func(k *LinkClass) (middle, spread *float64) { return &k.Latency, &k.LatencySpread })
	c.out.Bandwidth = c.judgeEach(rates, bandwidthFloor, func(k *LinkClass) (middle, spread *float64) { return &k.Bandwidth, &k.BandwidthSpread })
	c.conclude()
}

// judgeEach gives the entries their verdicts and the classes their middles, and
// returns the middle of all.
func (c *linkComparer) judgeEach(entries []entry, floor float64, of func(*LinkClass) (middle, spread *float64)) float64 {
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
		known := 0
		for _, e := range own {
			if !math.IsNaN(e.slowness) {
				known++
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
				off, sigma = apartFrom(e.slowness, common), widest
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
		off := apartFrom(*middle, common)
		if known >= fewLinks && k != c.inside && math.Abs(off) > max(classFloor, sigmas**spread/math.Sqrt(float64(known))) {
			c.out.Findings = append(c.out.Findings, Finding{Kind: FoundClass, Link: -1, Class: k, Times: math.Exp(off)})
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
		values[i] = math.Abs(math.Log(x / middle))
	}
	return middle, stats.SigmaPerMAD * stats.LowerMedian(values)
}

// apartFrom is by how much, as a logarithm, a slowness lies outside what is
// between none and the common one.
func apartFrom(slowness, common float64) float64 {
	if math.IsNaN(common) {
		common = 1
	}
	return math.Log(slowness / min(max(slowness, min(1, common)), max(1, common)))
}
