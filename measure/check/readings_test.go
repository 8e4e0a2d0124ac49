package check

import (
	"math"
	"testing"
)

// lengths are readings of latency, each with what the graph has for it and by which factor it takes longer here; the
// first ones, as many as screened, are of the first part.
func lengths(n, screened int, of func(i int) (nominal, factor float64)) *readings {
	r := &readings{screened: screened}
	for i := range n {
		nominal, factor := of(i)
		r.samples = append(r.samples, sample{nominal: nominal, value: nominal * factor})
	}
	return r
}

// What readings usually take is the median of those of their length: excesses by hand.
func TestReadingsOfOneLengthAreAlike(t *testing.T) {
	const many = manyAlike + 88
	for _, c := range []struct {
		name     string
		readings *readings
		want     func(i int) float64 // ln of the factor
	}{
		// The median of 600 factors, of which the first 512 are 1.
		{"all of one length", lengths(many, many, func(i int) (float64, float64) {
			return 1, []float64{1, 2}[i/manyAlike]
		}), func(i int) float64 { return []float64{0, math.Ln2}[i/manyAlike] }},
		// 512 are enough for a median of their own where the next one is any longer.
		{"lengths without a gap", lengths(many, many, func(i int) (float64, float64) {
			return 1 + 1e-6*float64(i), []float64{1, 2}[i/manyAlike]
		}), func(int) float64 { return 0 }},
		{"two lengths", lengths(2*fewAlike, 2*fewAlike, func(i int) (float64, float64) {
			return []float64{1, 1.03}[i%2], []float64{1, 2}[i%2]
		}), func(int) float64 { return 0 }},
		{"two lengths that are nearly one", lengths(2*fewAlike+1, 2*fewAlike+1, func(i int) (float64, float64) {
			return []float64{1, 1.015}[i%2], []float64{1, 2}[i%2]
		}), func(i int) float64 { return []float64{0, math.Ln2}[i%2] }},
		{"too few of a length", lengths(fewAlike+23, fewAlike+23, func(i int) (float64, float64) {
			return []float64{1, 3}[i/fewAlike], []float64{1, 2}[i/fewAlike]
		}), func(i int) float64 { return []float64{0, math.Ln2}[i/fewAlike] }},
		// Half of the second length were read in the second part, so they are too few for a median.
		{"measurements of the second part", lengths(3*fewAlike, 2*fewAlike-1, func(i int) (float64, float64) {
			return []float64{1, 3, 3}[i/fewAlike], []float64{1, 2, 2}[i/fewAlike]
		}), func(i int) float64 { return []float64{0, math.Ln2, math.Ln2}[i/fewAlike] }},
		{"what is longer in the second part", lengths(3*fewAlike, 2*fewAlike, func(i int) (float64, float64) {
			return []float64{1, 3, 3}[i/fewAlike], []float64{1, 2, 5}[i/fewAlike]
		}), func(i int) float64 { return []float64{0, 0, math.Log(2.5)}[i/fewAlike] }},
	} {
		ids := make([]int, len(c.readings.samples))
		for i := range ids {
			ids[i] = i
		}
		c.readings.compareByLength(ids)
		for i, s := range c.readings.samples {
			if want := c.want(i); math.Abs(s.excess-want) > 1e-9 || math.Abs(s.usual*math.Exp(want)-s.value) > 1e-9 {
				t.Errorf("%s: measurement %d is longer by exp(%g) than %g s, want by exp(%g)", c.name, i, s.excess, s.usual, want)
				break
			}
		}
	}
}

// Readings that scatter more than their spread says are trusted less, and none more.
func TestMomentsOfClippedReadings(t *testing.T) {
	for _, c := range []struct {
		name           string
		excess         []float64 // in sigma
		screened       int
		mean, variance float64
	}{
		{"none", nil, 0, 0, 1},
		{"one tells no spread", []float64{2}, 1, 0, 1},
		{"no scatter", []float64{0.5, 0.5}, 2, 0.5, 1},
		{"as the spread says", []float64{0, 2}, 2, 1, 1},
		{"outliers are clipped at three", []float64{-50, 7}, 2, 0, 9},
		{"the second part has no say", []float64{-2, 2, 3, 3, 3}, 2, 0, 4},
	} {
		r := &readings{screened: c.screened}
		var ids []int
		r.sigma[ofRate] = 0.1
		for i, x := range c.excess {
			r.samples = append(r.samples, sample{kind: ofRate, excess: 0.1 * x})
			ids = append(ids, i)
		}
		if r.moments(ofRate, ids); math.Abs(r.mean[ofRate]-c.mean) > 1e-12 || math.Abs(r.variance[ofRate]-c.variance) > 1e-12 {
			t.Errorf("%s: mean %g, variance %g, want %g and %g", c.name, r.mean[ofRate], r.variance[ofRate], c.mean, c.variance)
		}
	}
}

// What a reading says of a factor undoes what the factor does to a reading; of an arc that was half full nothing shows
// up to a factor of two.
func TestFactorsAndShifts(t *testing.T) {
	for _, weight := range []float64{0.1, 0.5, 1} {
		for _, full := range []float64{0.5, 1} {
			cr := crossing{weight: weight, full: full}
			for _, factor := range []float64{1, 1.5, 2, 5} {
				if got, want := cr.factor(cr.shift(factor)), max(factor, 1/full); math.Abs(got-want) > 1e-12*want {
					t.Errorf("weight %g, full %g: factor %g shows as %g, want %g", weight, full, factor, got, want)
				}
			}
		}
	}
	// A fifth of the time that takes five times as long: 0.8 + 0.2*5.
	if got, want := (&crossing{weight: 0.2, full: 1}).shift(5), math.Log(1.8); math.Abs(got-want) > 1e-12 {
		t.Errorf("shift of a fifth by 5 = %g, want %g", got, want)
	}
}

// The tail of the binomial distribution, summed up.
func TestMostPositive(t *testing.T) {
	for n := 1; n <= 12; n++ {
		for positive := 0; positive <= n; positive++ {
			d := make([]float64, n)
			for i := range positive {
				d[i] = 1
			}
			want, choose := 0.0, 1.0 // n over k
			for k := 0; k <= n; k++ {
				if k >= positive {
					want += choose * math.Pow(beyondWiring, float64(k)) * math.Pow(1-beyondWiring, float64(n-k))
				}
				choose *= float64(n-k) / float64(k+1)
			}
			if got := mostPositive(d); math.Abs(got-want) > 1e-12 {
				t.Errorf("%d of %d: %g, want %g", positive, n, got, want)
			}
		}
	}
}
