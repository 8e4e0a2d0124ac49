package check

import (
	"math"
	"testing"
)

// slowUplink are the transfers of 20 rounds. Two of each round go over the suspect, the uplink of the first switch: these take
// through times as long as they should, and the others others times.
func slowUplink(t *testing.T, through, others float64) (r *readings, suspect int32) {
	r = busyReadings(t, "tree:4x4 rate=10Gbps,10Gbps")
	suspect = uplinkOf(r, 0)
	transfers := [][2]int{{0, 4}, {1, 8}, {12, 5}, {13, 14}, {14, 15}, {9, 10}}
	for range 20 {
		if err := r.busy.add(transfers, []float64{1, 1, 1, 1, 1, 1}); err != nil {
			t.Fatal(err)
		}
	}
	for i := range r.samples {
		s := &r.samples[i]
		s.excess = math.Log(others)
		if r.crossingOf(s, suspect) != nil {
			s.excess = math.Log(through)
		}
	}
	r.sigma[ofRate] = 0.01
	return r, suspect
}

// The p-value of a suspect is multiplied by the number of those that are tested (Bonferroni): 20 differences above 0 have
// 2^-20 by signed ranks (Wilcoxon 1945), twice that for the better one of two tests, and four times that among four.
func TestPValuesAreCorrectedForTheNumberTested(t *testing.T) {
	for _, others := range []int{0, 3} {
		r, suspect := slowUplink(t, 4, 1)
		targets := []int32{suspect}
		for k := range others {
			targets = append(targets, uplinkOf(r, 4*(k+1)))
		}
		effects := r.judge(targets, 0.1, 0.005)
		want := math.Exp2(-20) * 2 * float64(len(targets))
		if e := effects[0]; e.candidate != suspect || math.Abs(e.P-want) > 1e-9*want {
			t.Errorf("among %d the first is %d with p %g, want %d and %g", len(targets), e.candidate, e.P, suspect, want)
		}
	}
}

// What is slower for all at one time is load: a suspect is held against controls of the same round.
func TestLoadOnAllIsNoFault(t *testing.T) {
	for _, load := range []float64{1, 1.5, 4} { // times as long
		r, suspect := slowUplink(t, load, load)
		if e := r.judge([]int32{suspect}, 0.1, 0.005)[0]; e.P != 1 || e.Factor > 1.01 {
			t.Errorf("load of %g on all links: factor %g with p %g, want 1 at most, and 1", load, e.Factor, e.P)
		}
	}
}
