package contention

import (
	"math"
	"math/rand/v2"
	"testing"
)

func TestCoupling(t *testing.T) {
	// One NIC of 940: two flows in (channel 0), one out (channel 1). Zhu 2014,
	// section 5.2: fair 470 470 940, asymmetric 470 470 470.
	flows := []testFlow{
		{data: []int32{0}, reverse: []int32{1}, bound: math.Inf(1), share: 1},
		{data: []int32{0}, reverse: []int32{1}, bound: math.Inf(1), share: 1},
		{data: []int32{1}, reverse: []int32{0}, bound: math.Inf(1), share: 1},
	}
	for _, c := range []struct{ kappa, want float64 }{
		{0, 940}, {1, 470}, {0.5, math.Sqrt(940 * 470)}, {0.25, math.Pow(940, 0.75) * math.Pow(470, 0.25)},
	} {
		rates := solveAll(t, []float64{940, 940}, flows, &Sharing{Coupling: c.kappa})
		for i, want := range []float64{470, 470, c.want} {
			if !near(rates[i], want, 1e-12) {
				t.Errorf("coupling %g: rate of flow %d = %g, want %g", c.kappa, i, rates[i], want)
			}
		}
	}
}

// With coupling, what a history of changes leads to is what the flows that
// are left would get had they come at once. In trial 209 a channel on a flow's own path takes it over from one on the
// way back, or gives it up to one, at the very rate that it has; progressive filling agrees there.
func TestCoupledSolverForgetsHistory(t *testing.T) {
	for trial := range 151 {
		if trial == 150 {
			trial = 209
		}
		r := rand.New(rand.NewPCG(uint64(trial), 6))
		channels := 2 + r.IntN(12)
		capacity := randomCapacities(r, channels)
		sharing := Sharing{Coupling: []float64{0.05, 0.3, 0.8, 0.95}[r.IntN(4)]}
		s, err := NewSolver(capacity, &sharing)
		if err != nil {
			t.Fatal(err)
		}
		live := map[int]testFlow{}
		for step := range 40 {
			if ids := sortedIDs(live); len(ids) > 0 && r.IntN(5) < 2 {
				id := ids[r.IntN(len(ids))]
				s.Remove(id)
				delete(live, id)
			} else {
				f := randomFlow(r, channels, false)
				id, err := s.Add(f.data, f.reverse, f.bound, f.share)
				if err != nil {
					t.Fatal(err)
				}
				live[id] = f
			}
			s.Solve(nil)
			ids := sortedIDs(live)
			flows := make([]testFlow, len(ids))
			for i, id := range ids {
				flows[i] = live[id]
			}
			want := solveAll(t, capacity, flows, &sharing)
			if trial == 209 {
				want = slowRates(capacity, flows, sharing)
			}
			for i, id := range ids {
				if got := s.Rate(id); !near(got, want[i], 1e-8) {
					t.Fatalf("trial %d, step %d: Rate(%d) = %.12g, want %.12g", trial, step, id, got, want[i])
				}
			}
		}
	}
}

// With a tolerance no channel is over-committed by more, however long the history of changes.
func TestToleranceBoundsUse(t *testing.T) {
	const tolerance = 0.001
	for trial := range 60 {
		r := rand.New(rand.NewPCG(uint64(trial), 7))
		channels := 2 + r.IntN(12)
		capacity := randomCapacities(r, channels)
		sharing := Sharing{Coupling: r.Float64(), Tolerance: tolerance}
		s, err := NewSolver(capacity, &sharing)
		if err != nil {
			t.Fatal(err)
		}
		live := map[int]testFlow{}
		for step := range 300 {
			if ids := sortedIDs(live); len(ids) > 0 && r.IntN(80) < len(ids) {
				id := ids[r.IntN(len(ids))]
				s.Remove(id)
				delete(live, id)
			} else {
				f := randomFlow(r, channels, false)
				id, err := s.Add(f.data, f.reverse, f.bound, f.share)
				if err != nil {
					t.Fatal(err)
				}
				live[id] = f
			}
			s.Solve(nil)
			used := make([]float64, channels)
			for id, f := range live {
				for _, c := range f.data {
					used[c] += s.Rate(id)
				}
			}
			for c := range used {
				if used[c] > capacity[c]*(1+tolerance+1e-9) {
					t.Fatalf("trial %d, step %d: channel %d carries %g of %g", trial, step, c, used[c], capacity[c])
				}
			}
		}
	}
}
