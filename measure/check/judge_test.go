package check

import (
	"math"
	"slices"
	"testing"
)

// slowUplink are the transfers of 20 rounds. Two of each round go over the suspect, the uplink of the first switch: these take
// through times as long as they should, and the others others times.
func slowUplink(t *testing.T, through, others float64) (r *measurements, suspect int32) {
	r = busyMeasurements(t, "tree:4x4 rate=10Gbps,10Gbps")
	suspect = uplinkOf(r, 0)
	transfers := [][2]int{{0, 4}, {1, 8}, {12, 5}, {13, 14}, {14, 15}, {9, 10}}
	for range 20 {
		if err := r.add(transfers, slices.Repeat([]measurement{{Forward: 1}}, len(transfers)), func([]float64) {}); err != nil {
			t.Fatal(err)
		}
	}
	for i := range r.samples {
		r.samples[i].excess = math.Log(others)
	}
	for s := range r.ofAll(suspect) {
		s.excess = math.Log(through)
	}
	r.sigma[ofRate] = 0.01
	return r, suspect
}

// The p-value of a suspect is corrected for the number of those that are tested (weighted Bonferroni): 20 differences above 0
// have 2^-20 by signed ranks (Wilcoxon 1945), and twice that for the better one of two tests. Among four targets the shares
// of the false alarms are as 1 to 1/2 to 1/3 to 1/4, and 25/12 in all.
func TestPValuesAreCorrectedForTheNumberTested(t *testing.T) {
	for _, k := range []struct {
		before, after int // targets of the screening
		want          float64
	}{
		{0, 0, 1},
		{0, 3, 25. / 12},
		{1, 2, 2 * 25. / 12},
		{3, 0, 4 * 25. / 12},
	} {
		r, suspect := slowUplink(t, 4, 1)
		var targets []int32
		for at := range k.before + k.after {
			if at == k.before {
				targets = append(targets, suspect)
			}
			targets = append(targets, uplinkOf(r, 4*(at+1)))
		}
		if k.after == 0 {
			targets = append(targets, suspect)
		}
		effects := r.judge(targets, 0.1, 0.005)
		want := math.Exp2(-20) * 2 * k.want
		if e := effects[0]; e.candidate != suspect || math.Abs(e.P-want) > 1e-9*want {
			t.Errorf("after %d and before %d others the first is %d with p %g, want %d and %g", k.before, k.after, e.candidate, e.P, suspect, want)
		}
	}
}

// All targets together have one chance of a false alarm, and equal ones where pairs are measured one by one.
func TestSharesOfFalseAlarmsAddUp(t *testing.T) {
	for _, n := range []int{1, 2, doubtful, doubtful + 2*intermittent} {
		for _, r := range []*measurements{{w: &wiring{}}, {w: &wiring{load: true}}} {
			shares := 0.0
			for rank := range n {
				shares += 1 / r.correction(rank, n)
			}
			if math.Abs(shares-1) > 1e-12 || !r.w.load && r.correction(0, n) != float64(n) {
				t.Errorf("under load %t: the shares of %d targets make %g, the first is corrected by %g", r.w.load, n, shares, r.correction(0, n))
			}
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
