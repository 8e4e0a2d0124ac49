package measure

import (
	"testing"

	"github.com/topocast/topocast/measure/pingpong"
	"github.com/topocast/topocast/measure/record"
)

// TestObservationsAreOfTheLowerHalf: of four and of five repetitions the mean of the two lowest lower
// quartiles. Measurements of 0 do not
// count, and directions and sizes are apart.
func TestObservationsAreOfTheLowerHalf(t *testing.T) {
	r := &Result{Header: record.Header{Ranks: 3}, Sizes: []int{8, 1 << 20}, Repetitions: 6}
	for _, x := range []struct {
		from, to, size int
		quartiles      []float64
	}{
		{0, 1, 0, []float64{5, 3, 9, 4}},
		{1, 0, 0, []float64{5, 3, 9, 4, 7}},
		{0, 2, 0, []float64{0, 8, 0, 6, 7, 9}},
		{0, 1, 1, []float64{50}},
		{2, 1, 0, []float64{0}},
	} {
		for k, q := range x.quartiles {
			r.measurements = append(r.measurements, Measurement{
				From: x.from, To: x.to, Size: x.size, Repetition: k, Summary: pingpong.Summary{
					Count: 20, Batch: 1,
					Min: q / 2, Q1: q, Median: 2 * q, Q3: 3 * q, Max: 4 * q,
				},
			})
		}
	}
	want := []struct {
		src, dst int
		bytes    int64
		seconds  float64
	}{{0, 1, 8, 3.5}, {1, 0, 8, 3.5}, {0, 2, 8, 6.5}, {0, 1, 1 << 20, 50}}
	got := r.Observations()
	if len(got) != len(want) {
		t.Fatalf("%d observations, want %d: %+v", len(got), len(want), got)
	}
	for i, w := range want {
		o := got[i]
		if tr := o.Transfers[0]; len(o.Transfers) != 1 || tr.Src != w.src || tr.Dst != w.dst || tr.Bytes != w.bytes || o.Seconds[0] != w.seconds {
			t.Errorf("observation %d is %+v, want %+v", i, o, w)
		}
	}
}
