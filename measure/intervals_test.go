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
		r.readings = append(r.readings, Reading{Repetition: repetition, From: from, To: to, Summary: pingpong.Summary{Median: median}})
	}
	for k, v := range []float64{9, 1, 2} {
		add(k, 0, 1, v)
		add(k, 1, 0, v/4+4)
	}
	add(3, 1, 2, 7)
	got := r.pairIntervals(0)
	// Of 1, 2, 4.25, 4.5, 6.25, 9 the median is between 4.25 and 4.5.
	if len(got) != 2 || got[0] != (pairInterval{A: 0, B: 1, Readings: 6, Median: 4.375, Low: 1, High: 9}) {
		t.Fatalf("PairIntervals = %+v", got)
	}
	if p := got[1]; p.A != 1 || p.B != 2 || p.Readings != 1 || p.Median != 7 || !math.IsNaN(p.Low) || p.precise(1e9) {
		t.Errorf("PairIntervals = %+v", p)
	}
	for _, p := range []pairInterval{{Median: 4, Low: 3, High: 4}, {Median: 4, Low: 4, High: 5}} {
		if p.precise(0.2) || !p.precise(0.25) {
			t.Errorf("%+v: within 20 %% %t, 25 %% %t", p, p.precise(0.2), p.precise(0.25))
		}
	}
	if !got[0].precise(1.1) || got[0].precise(1) {
		t.Errorf("an interval from 1 to 9 about 4.375: within 100 %% %t, 110 %% %t", got[0].precise(1), got[0].precise(1.1))
	}
}
