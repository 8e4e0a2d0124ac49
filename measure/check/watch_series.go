package check

import (
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/stat"

	"github.com/topocast/topocast/internal/hostlist"
)

// A series is what a pair, host or link took in each run.
type series struct {
	name     string
	from, to string    // of a pair
	of       []int     // pairs of a host or link
	weights  []float64 // by what share a change of it makes each of these take longer
	x        []float64 // logarithms, NaN where missing
	scale    float64   // of its noise, against other series of the family
}

// pairSeries sorts the points of a kind by pairs. Several of one pair in a run, as there and back,
// are one sample: their mean, or the least if they disagree.
func pairSeries(runs []Run, kind PointKind) ([]series, error) {
	index := map[[2]string]int{}
	var all []series
	for t, run := range runs {
		points := map[int][]float64{} // logarithms, by pair
		for _, p := range run.Points {
			if !(p.Seconds > 0) || math.IsInf(p.Seconds, 1) {
				return nil, fmt.Errorf("check: watch: run %d, %s %s-%s: %g s: want above 0 and finite", t, p.Kind, p.From, p.To, p.Seconds)
			}
			if p.Kind != kind || p.From == p.To {
				continue
			}
			from, to := p.From, p.To
			if kind == PointLatency && hostlist.Naturally(to, from) < 0 {
				from, to = to, from
			}
			i, ok := index[[2]string{from, to}]
			if !ok {
				i = len(all)
				index[[2]string{from, to}] = i
				name := "latency " + from + " - " + to
				if kind == PointLong {
					name = "long messages " + from + " > " + to
				}
				all = append(all, series{name: name, from: from, to: to, x: missing(len(runs)), scale: 1})
			}
			points[i] = append(points[i], math.Log(p.Seconds))
		}
		for i, x := range points {
			all[i].x[t] = stat.Mean(x, nil)
			if least := slices.Min(x); all[i].x[t]-least > disagree {
				all[i].x[t] = least
			}
		}
	}
	return all, nil
}

// disagree is by how much the mean of points may be above the least one, as a logarithm: with
// outliers among them, the least one counts.
const disagree = 0.1

func missing(n int) []float64 {
	return slices.Repeat([]float64{math.NaN()}, n)
}

// polish takes out of all series what each run has added to most, and their medians.
func polish(all []series, runs int) {
	for step := range polishSteps {
		for i := range all {
			m := medianOf(all[i].x)
			for t := range all[i].x {
				all[i].x[t] -= m
			}
		}
		if len(all) < fewSeries || step == polishSteps-1 {
			continue
		}
		for t := range runs {
			column := make([]float64, 0, len(all))
			for i := range all {
				column = append(column, all[i].x[t])
			}
			if m := medianOf(column); !math.IsNaN(m) {
				for i := range all {
					all[i].x[t] -= m
				}
			}
		}
	}
}

// fill finds what a host or link has added in each run, by least squares of what its pairs took, which are clipped: an
// outlier is nobody's fault.
func (s *series) fill(pairs []series, clipped float64) {
	s.x = missing(len(pairs[0].x))
	for t := range s.x {
		sum, squares, n := 0.0, 0.0, 0
		for k, i := range s.of {
			if v := pairs[i].x[t]; !math.IsNaN(v) {
				sum += s.weights[k] * clip(v, clipped)
				squares += s.weights[k] * s.weights[k]
				n++
			}
		}
		if n >= pairsOfShared {
			s.x[t] = sum / squares
		}
	}
}
