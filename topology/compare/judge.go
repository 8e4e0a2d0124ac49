package compare

import (
	"fmt"
	"math"

	"github.com/topocast/topocast/internal/stats"
)

// What makes a difference; BenchmarkCompareLinks shows what it buys.
const (
	sigmas = 6 // robust standard deviations that a link may be off: of 1,000 normal ones all are within

	// Least differences, as logarithms.
	latencyFloor   = 0.1  // of a latency: what nobody would look into
	bandwidthFloor = 0.15 // of a bandwidth, which one pair of hosts gives, and a latency many
	insideFloor    = 0.3  // inside a host, where latencies vary with what else caches hold
	classFloor     = 0.25 // of a class against all others: a longer overhead counts more on short links

	// unseen is the share of the latencies across a link below which its own is none that
	// they show.
	unseen = 0.005

	manyLinks = 8  // links of a class that show its spread: fewer may agree by chance
	manyPairs = 16 // pairs of hosts that count: of many over one link the nearest hosts tell most
)

// An entry is one quantity under judgement.
type entry struct {
	q        *Quantity
	class    int
	slowness float64 // measured against the reference; NaN if it says nothing
	value    float64 // the measured slowness itself: s, or s/B
	sigma    float64 // of ln value, as the measurements have it
}

// judge compares the quantities of all links.
func (c *linkComparer) judge() {
	var latencies, rates []entry
	for _, l := range c.links {
		if l.state.Verdict == LinkMissing {
			l.state.Latency.Measured = math.NaN()
			continue
		}
		if l.doubtful {
			continue
		}
		if e := c.latencyEntry(l); e.value > 0 {
			latencies = append(latencies, e)
		}
		for direction := range l.state.Bandwidth {
			if q := &l.state.Bandwidth[direction]; q.Measured > 0 {
				rates = append(rates, entry{q: q, class: l.state.Class, value: 1 / q.Measured, slowness: q.Reference / q.Measured, sigma: c.noise})
			}
		}
	}
	c.out.Latency = c.judgeEach(latencies, false, func(k int) *Shared { return &c.out.Classes[k].Latency })
	c.out.Bandwidth = c.judgeEach(rates, true, func(k int) *Shared { return &c.out.Classes[k].Bandwidth })
}

// latencyEntry is the latency of a link; its value is not above 0 if there is none. What is too short to be seen counts
// as what can be seen just so.
func (c *linkComparer) latencyEntry(l *checked) entry {
	q := &l.state.Latency
	e := entry{q: q, class: l.state.Class, slowness: math.NaN()}
	if !(q.Measured >= 0) {
		return e
	}
	least := unseen * l.distance
	q.Unseen = q.Measured < least
	e.value = max(q.Measured, least)
	length := e.value                // of the measured latency and that of the reference
	if max(q.Reference, least) > 0 { // of two that are 0 neither is slower
		e.slowness = e.value / max(q.Reference, least)
		length = max(length, q.Reference)
	}
	e.sigma = c.noise * l.distance / math.Sqrt(float64(min(manyPairs, max(1, l.pairs)))) / length
	return e
}

// judgeEach gives the entries, which are rates or latencies, their verdicts and the
// classes what their links have in common, and returns the middle of all.
//
// A link is held against the middle of its class. If the reference says something of too few links of the class,
// it is held against the reference, and if of none against the others. Of two links none tells which is usual: what all links
// have in common they may have too, or not, as another library takes longer at the hosts and not in the switches.
func (c *linkComparer) judgeEach(entries []entry, rates bool, inCommon func(class int) *Shared) float64 {
	slowness := func(e entry) float64 { return e.slowness }
	byClass, widest := make([][]entry, len(c.out.Classes)), 0.0
	var judged []entry // insides of hosts have a library's shared memory in common, and nothing with the rest
	for _, e := range entries {
		byClass[e.class] = append(byClass[e.class], e)
		if e.class != c.inside {
			judged = append(judged, e)
		}
	}
	common := sharedOf(judged, slowness).Slower
	excused, floor := common, latencyFloor // another library changes latencies, and no rate of a link
	if rates {
		excused, floor = 1, bandwidthFloor
	}
	for k, own := range byClass {
		shared := sharedOf(own, slowness)
		*inCommon(k) = shared
		if !math.IsNaN(shared.Spread) && k != c.inside {
			widest = max(widest, shared.Spread)
		}
	}
	for k, own := range byClass {
		shared := *inCommon(k)
		peers := sharedOf(own, func(e entry) float64 { return e.value })
		known, hidden := 0, 0
		for _, e := range own {
			if !math.IsNaN(e.slowness) {
				known++
				if e.q.Unseen {
					hidden++
				}
			}
		}
		for _, e := range own {
			var off, sigma float64
			switch {
			case known >= fewLinks && !math.IsNaN(e.slowness):
				off, sigma = math.Log(e.slowness/shared.Slower), shared.Spread
			case !math.IsNaN(e.slowness):
				off, sigma = apartFrom(e.slowness, excused), widest
			case len(own) >= fewLinks:
				off, sigma = math.Log(e.value/peers.Slower), peers.Spread
			default:
				continue
			}
			if len(own) < manyLinks {
				sigma = max(sigma, e.sigma)
			}
			least := floor
			if k == c.inside {
				least = insideFloor
			}
			e.q.Slower = math.Exp(off)
			e.q.Verdict = verdictOf(off, c.tolerance(max(least, sigmas*sigma)))
		}
		off := apartFrom(shared.Slower, excused)
		if k != c.inside && known >= fewLinks && math.Abs(off) > c.tolerance(max(classFloor, sigmas*shared.Spread/math.Sqrt(float64(known)))) {
			times := math.Exp(off)
			f := Finding{Kind: foundClass, What: "all " + c.out.Classes[k].Name, Times: times}
			if rates {
				f.Reason = fmt.Sprintf("bandwidth %s as in the reference", timesAs(times, false))
			} else {
				f.Reason = fmt.Sprintf("latency %s as all others have become, or as in the reference", timesAs(times, 2*hidden > known))
			}
			c.add(f)
		}
	}
	return common
}

// tolerance is what the settings say, as a logarithm, or else what the measurements do.
func (c *linkComparer) tolerance(measured float64) float64 {
	if c.settings.Tolerance > 0 {
		return math.Log1p(c.settings.Tolerance)
	}
	return measured
}

func verdictOf(off, tolerance float64) Verdict {
	switch {
	case off > tolerance:
		return LinkSlow
	case off < -tolerance:
		return LinkFast
	}
	return LinkSame
}

// sharedOf is the lower median of what is known, and the spread about it.
func sharedOf(entries []entry, of func(entry) float64) Shared {
	var values []float64
	for _, e := range entries {
		if x := of(e); !math.IsNaN(x) {
			values = append(values, x)
		}
	}
	s := Shared{stats.Median(values), math.NaN()}
	if len(values) >= fewLinks {
		for i, x := range values {
			values[i] = math.Log(x / s.Slower)
		}
		s.Spread = stats.SigmaAbout(0, values)
	}
	return s
}

// apartFrom is by how much, as a logarithm, a slowness lies outside what is
// between none and the common one.
func apartFrom(slowness, common float64) float64 {
	if math.IsNaN(common) {
		common = 1
	}
	return math.Log(slowness / min(max(slowness, min(1, common)), max(1, common)))
}
