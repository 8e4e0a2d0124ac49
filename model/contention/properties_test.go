package contention

import (
	"math"
	"math/rand/v2"
	"testing"
)

func TestSolverProperties(t *testing.T) {
	for trial := range 300 {
		r := rand.New(rand.NewPCG(uint64(trial), 2))
		channels := 2 + r.IntN(20)
		capacity := randomCapacities(r, channels)
		flows := make([]testFlow, 1+r.IntN(40))
		for i := range flows {
			flows[i] = randomFlow(r, channels, false)
		}
		sharing := sharings[trial%len(sharings)]
		if trial%5 == 0 {
			sharing.Coupling = r.Float64()
		}
		isMixed := sharing.Coupling > 0 && sharing.Coupling < 1
		rates := solveAll(t, capacity, flows, &sharing)

		used := make([]float64, channels)
		for i, f := range flows {
			for _, c := range f.data {
				used[c] += rates[i]
			}
			if sharing.Coupling == 1 {
				for _, c := range f.reverse {
					used[c] += sharing.AckWeight * rates[i]
				}
			}
		}
		for c := range used {
			if used[c] > capacity[c]*(1+1e-9) {
				t.Fatalf("trial %d: channel %d carries %g of %g", trial, c, used[c], capacity[c])
			}
		}
		if !isMixed {
			for i, f := range flows {
				stopped := rates[i] >= f.bound*(1-1e-9)
				for _, c := range f.data {
					stopped = stopped || used[c] >= capacity[c]*(1-1e-8)
				}
				for _, c := range f.reverse {
					stopped = stopped || sharing.Coupling == 1 && used[c] >= capacity[c]*(1-1e-8)
				}
				if !stopped {
					t.Fatalf("trial %d: nothing stops flow %d at %g", trial, i, rates[i])
				}
			}
		}

		// The order of flows and the numbers of channels do not matter.
		order, relabel := r.Perm(len(flows)), r.Perm(channels)
		other := make([]testFlow, len(flows))
		capacity2 := make([]float64, channels)
		for c := range capacity {
			capacity2[relabel[c]] = capacity[c]
		}
		for i, at := range order {
			f := flows[i]
			g := testFlow{bound: f.bound, share: f.share}
			for _, c := range f.data {
				g.data = append(g.data, int32(relabel[c]))
			}
			for _, c := range f.reverse {
				g.reverse = append(g.reverse, int32(relabel[c]))
			}
			other[at] = g
		}
		again := solveAll(t, capacity2, other, &sharing)
		for i, at := range order {
			if !near(again[at], rates[i], 1e-9) {
				t.Fatalf("trial %d: flow %d has %g, relabelled %g", trial, i, rates[i], again[at])
			}
		}
	}
}

func TestAddingAFlowNeverSpeedsAnotherUpOnOneBottleneck(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 3))
	s, err := NewSolver([]float64{1000}, nil)
	if err != nil {
		t.Fatal(err)
	}
	before := map[int]float64{}
	for range 50 {
		bound := math.Inf(1)
		if r.IntN(2) == 0 {
			bound = 1 + 50*r.Float64()
		}
		id, err := s.Add([]int32{0}, nil, bound, 1)
		if err != nil {
			t.Fatal(err)
		}
		s.Solve(nil)
		for other, rate := range before {
			if s.Rate(other) > rate*(1+1e-12) {
				t.Fatalf("flow %d rose from %g to %g when %d came", other, rate, s.Rate(other), id)
			}
			before[other] = s.Rate(other)
		}
		before[id] = s.Rate(id)
	}
}
