package oneway

import (
	"math"
	"slices"

	"gonum.org/v1/gonum/mat"
	"gonum.org/v1/gonum/stat"

	"github.com/topocast/topocast/internal/stats"
)

// The clocks of the ranks are fitted in two steps. Each finds a value per rank of which differences over
// pairs explain what was measured, all but a few. The drifts come first, from what the repetitions of
// a pair differ by: what a pair is always off by is not in there, and what is left is the noise. Then the
// leads come from the means of the pairs.

// A trip is what one repetition has found of a pair, in s: t_ij and t_ji by the clocks of the ranks.
type trip struct {
	from, to    int // from stamps at
	repetition  int
	at          float64 // by the clock of from
	there, back float64
}

// half is half the round trip, free of clocks.
func (t *trip) half() float64 { return (t.there + t.back) / 2 }

// lead is half the asymmetry of the pair plus the lead of the clock of to.
func (t *trip) lead() float64 { return (t.there - t.back) / 2 }

// A pair is what all repetitions together say.
type pair struct {
	from, to int
	half     float64   // s, half the round trip
	leads    []float64 // s, of each repetition, without the rough clocks and the drift
	when     []float64 // from -1 to 1 in the course of the measurement
	weight   float64   // in the fit of the clocks; 0: a third rank explains its round trip

	spread float64 // s, standard deviation of what the leads say together
	excess float64 // s, by which from > to takes longer than half
	doubt  float64 // s, of excess; +Inf with too few repetitions
}

// lead is what the repetitions say together, in s, when the drift is out of them.
func (x *pair) lead() float64 { return stats.MiddleMedian(slices.Clone(x.leads)) }

// pairsOf joins the repetitions of each pair, which follow each other, and takes out rough clocks.
func pairsOf(n int, trips []trip, oneClock bool) []pair {
	rough := make([]float64, n)
	if !oneClock {
		rough = roughLeads(n, trips)
	}
	first, last := math.Inf(1), math.Inf(-1)
	for i := range trips {
		at := trips[i].at - rough[trips[i].from]
		first, last = min(first, at), max(last, at)
	}
	var pairs []pair
	var halves []float64 // of the last pair
	for k := range trips {
		t := &trips[k]
		if k == 0 || trips[k-1].from != t.from || trips[k-1].to != t.to {
			pairs, halves = append(pairs, pair{from: t.from, to: t.to}), nil
		}
		x, when := &pairs[len(pairs)-1], 0.0
		if last > first {
			when = (2*(t.at-rough[t.from]) - first - last) / (last - first)
		}
		x.leads, x.when = append(x.leads, t.lead()-(rough[t.to]-rough[t.from])), append(x.when, when)
		halves = append(halves, t.half())
		x.half = stats.MiddleMedian(halves)
	}
	return pairs
}

// roughLeads takes the leads along pairs from rank 0, so that what is left is small.
func roughLeads(n int, trips []trip) []float64 {
	rough, known := make([]float64, n), make([]bool, n)
	known[0] = true
	for more := true; more; {
		more = false
		for i := range trips {
			t := &trips[i]
			switch {
			case known[t.from] && !known[t.to]:
				rough[t.to] = rough[t.from] + t.lead()
			case known[t.to] && !known[t.from]:
				rough[t.from] = rough[t.to] - t.lead()
			default:
				continue
			}
			known[t.from], known[t.to], more = true, true, true
		}
	}
	return rough
}

// takeDrift takes a constant drift of each clock out of the pairs.
func takeDrift(n int, pairs []pair) {
	var terms []term
	for i := range pairs {
		x := &pairs[i]
		lead, when := stat.Mean(x.leads, nil), stat.Mean(x.when, nil)
		for k := range x.leads {
			terms = append(terms, term{x.from, x.to, x.leads[k] - lead, x.when[k] - when, x.half, 1})
		}
	}
	fast := potentials(n, terms, 0)
	for i := range pairs {
		x := &pairs[i]
		for k := range x.leads {
			x.leads[k] -= (fast[x.to] - fast[x.from]) * x.when[k]
		}
	}
}

// noiseOf is the standard deviation of one repetition, relative to the half round trip.
func noiseOf(pairs []pair) float64 {
	var deviations []float64
	for i := range pairs {
		x := &pairs[i]
		if count := float64(len(x.leads)); count > 1 {
			mean := stat.Mean(x.leads, nil)
			for _, lead := range x.leads {
				deviations = append(deviations, (lead-mean)/x.half*math.Sqrt(count/(count-1)))
			}
		}
	}
	if len(deviations) == 0 {
		return leastNoise
	}
	return max(leastNoise, stats.SigmaAbout(0, deviations))
}

// takeLeads sets what the leads of the clocks do not explain of the pairs: their excess.
func takeLeads(n int, pairs []pair) {
	var terms []term
	for i := range pairs {
		x := &pairs[i]
		terms = append(terms, term{x.from, x.to, x.lead(), 1, x.spread, x.weight})
	}
	ahead := potentials(n, terms, 1)
	for i := range pairs {
		x := &pairs[i]
		x.excess = terms[i].value - (ahead[x.to] - ahead[x.from])
	}
}

// A term says that slope times (value of to - value of from) is near value.
type term struct {
	from, to     int
	value, slope float64
	scale        float64 // of what it may be off by
	weight       float64
}

const (
	fitRounds  = 100  // in which values settle
	settled    = 1e-3 // of the noise, by which they then change
	leastNoise = 1e-4 // relative; times that agree better are a simulation without noise
	damping    = 1e-9 // of the diagonal: values are known up to a common one
)

// potentials finds the values of n ranks for which the sum of weight sqrt(1 + (r / (noise scale))^2) is least.
// Here r is what a term is off by: nearly least absolute deviations, of which few terms are off by much. Noise 0
// stands for the one that the terms show. Steps are those of iteratively reweighted least squares. O(n^3).
func potentials(n int, terms []term, noise float64) []float64 {
	values := make([]float64, n)
	off := func(t *term) float64 { return t.value - t.slope*(values[t.to]-values[t.from]) }
	bend := math.Inf(1) // the first step is least squares
	for range fitRounds {
		h, g := mat.NewSymDense(n, nil), mat.NewVecDense(n, nil)
		add := func(i, j int, v float64) { h.SetSym(i, j, h.At(i, j)+v) }
		for k := range terms {
			t := &terms[k]
			r := off(t)
			w := t.weight / (t.scale * t.scale * math.Sqrt(1+math.Pow(r/(bend*t.scale), 2)))
			add(t.from, t.from, w*t.slope*t.slope)
			add(t.to, t.to, w*t.slope*t.slope)
			add(t.from, t.to, -w*t.slope*t.slope)
			g.SetVec(t.from, g.AtVec(t.from)-w*t.slope*r)
			g.SetVec(t.to, g.AtVec(t.to)+w*t.slope*r)
		}
		for i := range n {
			add(i, i, damping*h.At(i, i)+math.SmallestNonzeroFloat64)
		}
		var solver mat.Cholesky
		var step mat.VecDense
		if !solver.Factorize(h) || solver.SolveVecTo(&step, g) != nil {
			return values // nothing is known of some rank
		}
		var deviations []float64
		moved := 0.0 // the most, in scales
		for k := range terms {
			if t := &terms[k]; t.weight > 0 {
				shift := t.slope * (step.AtVec(t.to) - step.AtVec(t.from))
				deviations = append(deviations, (off(t)-shift)/t.scale)
				moved = max(moved, math.Abs(shift)/t.scale)
			}
		}
		for i := range values {
			values[i] += step.AtVec(i)
		}
		if bend = noise; noise == 0 {
			bend = max(leastNoise, stats.SigmaAbout(0, deviations))
		}
		if moved < settled*bend {
			break
		}
	}
	return values
}
