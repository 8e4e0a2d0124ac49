package linkage_test

import (
	"math"

	"gonum.org/v1/gonum/mat"
)

// leastTicks is how many ticks of the clock a step must have to be told from rounding.
const leastTicks = 1.5

// leastSigmas is how many standard errors of the mean measurement between a member and the others a
// step must have: with fewer, one host in some thousand looks as if it were another
// group's.
const leastSigmas = 5

// Most and least factor of an outlier.
const (
	leastOutlier = 1.5
	mostOutlier  = 10
)

// A measurement says how a layout is read. Each repetition reads both
// directions of each pair, in rounds of disjoint pairs by the circle method.
type measurement struct {
	repetitions int
	sigma       float64                 // standard deviation of a measurement's factor, drawn anew for each
	outliers    float64                 // share of measurements slower by a factor of 1.5 to 10
	tail        func(*draw) float64     // share by which something slows a measurement down; nil: nothing
	mirrored    bool                    // one measurement counts for both directions
	seats       func(*draw, int) []int  // place of each rank in the circle, drawn for each repetition; nil: that of its number
	mixed       bool                    // rounds take place in random order
	slowRounds  float64                 // share of rounds that are slow
	drift       func(t float64) float64 // factor at time t of the whole measurement, 0 to 1; nil: none
	blur        float64                 // standard deviation of what drift does to a pair whose rounds nobody knows
	tick        float64                 // s: measurements are multiples of it; 0: exact
	missing     []bool                  // pairs not measured, by final number; nil: none
	gap         func(*draw, int) []bool // makes missing
}

// relabelled seats the ranks at random, as package measure does.
func relabelled(d *draw, n int) []int { return d.Perm(n) }

// meeting is the round of the circle method in which seats a and b of n meet.
func meeting(a, b, n int) int {
	m := n - 1 + n%2
	switch {
	case a == m:
		a = b
	case b == m:
		b = a
	}
	return (a + b) % m
}

// read makes the repetitions.
func (m *measurement) read(d *draw, l *layout) []mat.Matrix {
	n := l.n
	if m.gap != nil {
		m.missing = m.gap(d, n)
	}
	exact := make([]float64, n*n)
	for i := range n {
		for j := range n {
			s := l.latency[i*n+j]
			if l.offset != nil {
				s += l.offset[i] + l.offset[j]
			}
			if l.factor != nil {
				s *= l.factor[i] * l.factor[j]
			}
			if l.pair != nil {
				s *= l.pair[i*n+j]
			}
			exact[i*n+j] = s
		}
	}
	out := make([]mat.Matrix, max(1, m.repetitions))
	for k := range out {
		pace := m.paces(d, n, k)
		seat := make([]int, n)
		for i := range seat {
			seat[i] = i
		}
		if m.seats != nil {
			seat = m.seats(d, n)
		}
		r := make([]float64, n*n)
		for i := range n {
			r[i*n+i] = math.NaN()
			for j := range i {
				p := pace[meeting(seat[i], seat[j], n)]
				r[i*n+j] = m.measurement(d, p*exact[i*n+j])
				r[j*n+i] = r[i*n+j]
				if !m.mirrored {
					r[j*n+i] = m.measurement(d, p*exact[j*n+i])
				}
			}
		}
		for at := range m.missing {
			if m.missing[at] {
				r[at] = math.NaN()
			}
		}
		out[k] = mat.NewDense(n, n, r)
	}
	return out
}

// drowned says whether the step of a group is too small for the clock, or for the errors of the
// measurements of one of its members: noise, which is a share of the measurement, overhead
// included, and what all measurements of a pair have in common.
func (m *measurement) drowned(l *layout, hosts []int, inside, outside float64) bool {
	if outside-inside < leastTicks*m.tick {
		return true
	}
	directions := 2
	if m.mirrored {
		directions = 1
	}
	others := float64(len(hosts) - 1)
	measurements := others * float64(directions*max(1, m.repetitions))
	share := math.Sqrt(m.sigma*m.sigma/measurements + (m.blur*m.blur+l.spread*l.spread)/others)
	for _, h := range hosts {
		measurement := inside
		if l.offset != nil {
			measurement += l.offset[h]
		}
		if share*measurement > (outside-inside)/leastSigmas {
			return true
		}
	}
	return false
}

// paces is the factor of each round of repetition k.
func (m *measurement) paces(d *draw, n, k int) []float64 {
	pace := make([]float64, n-1+n%2)
	when := make([]int, len(pace))
	for r := range when {
		when[r] = r
	}
	if m.mixed {
		when = d.Perm(len(pace))
	}
	total := float64(len(pace) * max(1, m.repetitions))
	for r := range pace {
		pace[r] = 1
		if m.slowRounds > 0 && d.chance(m.slowRounds) {
			pace[r] = d.between(1.2, 2)
		}
		if m.drift != nil {
			pace[r] *= m.drift(float64(k*len(pace)+when[r]) / total)
		}
	}
	return pace
}

// measurement is one measurement of a latency of s.
func (m *measurement) measurement(d *draw, s float64) float64 {
	if m.sigma > 0 {
		s *= max(0.5, 1+m.sigma*d.NormFloat64())
	}
	if m.tail != nil {
		s *= 1 + m.tail(d)
	}
	if m.outliers > 0 && d.chance(m.outliers) {
		s *= d.between(leastOutlier, mostOutlier)
	}
	if m.tick > 0 {
		s = m.tick * math.Round(s/m.tick)
	}
	return s
}

// noisy is a measurement by noise and number of repetitions, without outliers.
func noisy(sigma float64, repetitions int) *measurement {
	return &measurement{sigma: sigma, repetitions: repetitions}
}

// usual is the noise of a measurement in which something else is hard: 1 to 3 %, one to
// three repetitions.
func usual(d *draw) *measurement {
	m := noisy(pick(d, 0.01, 0.02, 0.03), d.whole(1, 3))
	if m.repetitions > 1 && d.chance(0.5) {
		m.outliers = 0.01
	}
	return m
}
