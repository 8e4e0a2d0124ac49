package contention

import (
	"math"
	"math/rand/v2"
	"testing"
)

// A tolerance moves the times of fair playback by as little as the doc of Sharing says. 2,500 flows begin at once on 128
// hosts in 16 racks, whose uplinks carry half of what the hosts do.
func TestToleranceMovesTimesLittle(t *testing.T) {
	const racks, hosts, count = 16, 8, 2500
	capacity := make([]float64, 2*(racks*hosts+racks))
	for c := range capacity {
		capacity[c] = 100
		if c >= 2*racks*hosts {
			capacity[c] = 100 * hosts / 2
		}
	}
	r := rand.New(rand.NewPCG(1, 23))
	flows := make([]Flow, count)
	for i := range flows {
		f := treeFlow(r, racks, hosts)
		flows[i] = Flow{Data: f.data, Reverse: f.reverse, Bytes: 10 + 90*r.Float64()}
	}
	play := func(tolerance float64) []float64 {
		s, err := NewSolver(capacity, &Sharing{Tolerance: tolerance})
		if err != nil {
			t.Fatal(err)
		}
		times, err := NewPlayback(s).Times(nil, flows)
		if err != nil {
			t.Fatal(err)
		}
		return times
	}
	exact := play(0)
	for _, tolerance := range []float64{0.001, 0.01} {
		worst, sum := 0.0, 0.0
		for i, got := range play(tolerance) {
			off := got/exact[i] - 1
			worst, sum = max(worst, math.Abs(off)), sum+off
		}
		t.Logf("tolerance %g: worst %.2g, mean %.2g", tolerance, worst, sum/count)
		if worst > 10*tolerance || math.Abs(sum/count) > tolerance/4 {
			t.Errorf("tolerance %g: the worst time is off by %.2g, the mean by %.2g", tolerance, worst, sum/count)
		}
	}
}

// A crowd is played with a tolerance of 0.001, and exactly once it has gone. 12,000 flows begin at once on 128 hosts.
// The first half of them end while they are a crowd.
func TestACrowdIsPlayedWithATolerance(t *testing.T) {
	const racks, hosts, count = 16, 8, 12000
	capacity := make([]float64, 2*(racks*hosts+racks))
	for c := range capacity {
		capacity[c] = 100
	}
	r := rand.New(rand.NewPCG(1, 24))
	flows := make([]Flow, count)
	for i := range flows {
		f := treeFlow(r, racks, hosts)
		flows[i] = Flow{Data: f.data, Reverse: f.reverse, Bytes: 10 + 90*r.Float64()}
	}
	play := func(flows []Flow, tolerance float64) []float64 {
		s, err := NewSolver(capacity, &Sharing{Tolerance: tolerance})
		if err != nil {
			t.Fatal(err)
		}
		times, err := NewPlayback(s).Times(nil, flows)
		if err != nil {
			t.Fatal(err)
		}
		return times
	}
	worstOf := func(flows []Flow) float64 {
		exact, worst := play(flows, 1e-12), 0.0
		for i, got := range play(flows, 0) {
			worst = max(worst, math.Abs(got/exact[i]-1))
		}
		return worst
	}
	if worst := worstOf(flows); worst == 0 || worst > 0.01 {
		t.Errorf("in a crowd, the worst time is off by %.2g: want above 0, at most 0.01", worst)
	}
	if worst := worstOf(flows[:crowd]); worst > 1e-9 {
		t.Errorf("without a crowd, the worst time is off by %.2g", worst)
	}
}
