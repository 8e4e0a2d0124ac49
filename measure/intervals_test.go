package measure

import (
	"math"
	"testing"

	"github.com/topocast/topocast/measure/pingpong"
	"github.com/topocast/topocast/measure/record"
)

// TestPairIntervals: three repetitions of one pair, 1, 2 and 9 us one way and 4, 5
// and 6 the other. All six values are needed for 95 % (1 - 2/64).
func TestPairIntervals(t *testing.T) {
	r := &Result{Header: record.Header{Ranks: 3}, Sizes: []int{8}, Repetitions: 4}
	add := func(repetition, from, to int, median float64) {
		r.measurements = append(r.measurements, Measurement{Repetition: repetition, From: from, To: to, Summary: pingpong.Summary{Median: median}})
	}
	for k, v := range []float64{9, 1, 2} {
		add(k, 0, 1, v)
		add(k, 1, 0, v/4+4)
	}
	add(3, 1, 2, 7)
	pairs := r.byPair(0)
	if len(pairs) != 2 || len(pairs[0].all) != 6 || len(pairs[1].all) != 1 || pairs[0].a != 0 || pairs[0].b != 1 || pairs[1].a != 1 || pairs[1].b != 2 {
		t.Fatalf("pairs %+v", pairs)
	}
	// Of 1, 2, 4.25, 4.5, 6.25, 9 the median is between 4.25 and 4.5.
	if low, median, high := pairs[0].interval(); low != 1 || median != 4.375 || high != 9 {
		t.Errorf("interval %g, %g, %g", low, median, high)
	}
	if low, median, _ := pairs[1].interval(); !math.IsNaN(low) || median != 7 || pairs[1].precise(1e9) {
		t.Errorf("interval of one measurement %g, %g", low, median)
	}
	if !pairs[0].precise(1.1) || pairs[0].precise(1) {
		t.Errorf("an interval from 1 to 9 about 4.375: within 100 %% %t, 110 %% %t", pairs[0].precise(1), pairs[0].precise(1.1))
	}
	// Six values of which the least or the largest is a quarter off.
	for _, off := range []float64{3, 5} {
		p := pairTimes{}
		for _, v := range []float64{4, 4, 4, 4, 4, off} {
			p.all = append(p.all, &Measurement{Summary: pingpong.Summary{Median: v}})
		}
		if p.precise(0.2) || !p.precise(0.25) {
			t.Errorf("4 and %g: within 20 %% %t, 25 %% %t", off, p.precise(0.2), p.precise(0.25))
		}
	}
}
