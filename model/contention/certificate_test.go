package contention

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/topocast/topocast/internal/tooltest"
)

// certify checks a rate vector without solving anything: the certificate of max-min fairness.
//
//   - No channel carries more than its capacity.
//   - Each flow runs at its bound, or has a bottleneck: a full channel on which no flow has a
//     higher level. The level of a flow is its rate divided by its share.
//
// With a coupling below 1, the certificate holds for the bounded fair problem that is solved last.
// Its bounds are the ones that the coupling set.
func certify(s *Solver, capacity []float64, live map[int]testFlow, tolerance float64) error {
	ids := sortedIDs(live)
	used, top := make([]float64, len(capacity)), make([]float64, len(capacity))
	isMember := s.sharing.Coupling == 1 // of its reverse channels, too
	for _, id := range ids {
		f, rate := live[id], s.Rate(id)
		for _, c := range f.data {
			used[c] += rate
			top[c] = max(top[c], rate/f.share)
		}
		if isMember {
			for _, c := range f.reverse {
				used[c] += s.sharing.AckWeight * rate
				top[c] = max(top[c], rate/f.share)
			}
		}
	}
	for c := range used {
		if used[c] > capacity[c]*(1+tolerance) {
			return fmt.Errorf("channel %d carries %g of %g B/s", c, used[c], capacity[c])
		}
	}
	for _, id := range ids {
		f, rate := live[id], s.Rate(id)
		stops := func(channels []int32) bool {
			for _, c := range channels {
				if used[c] >= capacity[c]*(1-tolerance) && top[c] <= rate/f.share*(1+tolerance) {
					return true
				}
			}
			return false
		}
		bound := math.Inf(1)
		if c := s.main.flows[id].bound; c != s.main.nothing {
			bound = s.main.channels[c].capacity
		}
		if !(rate >= bound*(1-tolerance)) && !stops(f.data) && !(isMember && stops(f.reverse)) {
			return fmt.Errorf("flow %d has no bottleneck at %g B/s", id, rate)
		}
	}
	return nil
}

// Flows come, go and are joined by others. After each change the rates are certified.
func TestRatesAreMaxMin(t *testing.T) {
	for _, tolerance := range []float64{0, 0.001} {
		for trial := range 200 {
			r := rand.New(rand.NewPCG(uint64(trial), 21))
			channels := 2 + r.IntN(20)
			capacity := randomCapacities(r, channels)
			sharing := sharings[trial%len(sharings)]
			if trial%5 == 0 {
				sharing.Coupling = r.Float64()
			}
			sharing.Tolerance = tolerance
			s, err := NewSolver(capacity, &sharing)
			if err != nil {
				t.Fatal(err)
			}
			live := map[int]testFlow{}
			for step := range 60 {
				if ids := sortedIDs(live); len(ids) > 0 && r.IntN(40) < len(ids) {
					id := ids[r.IntN(len(ids))]
					s.Remove(id)
					delete(live, id)
				} else {
					addTestFlow(t, s, live, randomFlow(r, channels, trial%2 == 0))
				}
				s.Solve(nil)
				if err := certify(s, capacity, live, 1e-8+2*tolerance); err != nil {
					t.Fatalf("tolerance %g, trial %d, step %d, sharing %+v: %v", tolerance, trial, step, sharing, err)
				}
			}
		}
	}
}

// A tolerance leaves channels out of line, and two of them do not visit each other for ever: with 0.01 that came in one of 1,500
// random networks.
func TestSolvingEnds(t *testing.T) {
	ended := make(chan int)
	go func() {
		for trial := range 3000 {
			solveRandom(t, trial)
			ended <- trial
		}
		close(ended)
	}()
	last := -1
	for {
		select {
		case trial, on := <-ended:
			if !on {
				return
			}
			last = trial
		case <-time.After(time.Minute):
			t.Fatalf("trial %d does not end", last+1)
		}
	}
}

// solveRandom solves after each of 80 changes of the flows of a random network.
func solveRandom(t *testing.T, trial int) {
	r := rand.New(rand.NewPCG(uint64(trial), 21))
	channels := 2 + r.IntN(40)
	sharing := sharings[trial%len(sharings)]
	sharing.Tolerance = 0.01
	s, err := NewSolver(randomCapacities(r, channels), &sharing)
	if err != nil {
		t.Error(err)
		return
	}
	var live []int
	for range 80 {
		if n := len(live); n > 0 && r.IntN(100) < n {
			i := r.IntN(n)
			s.Remove(live[i])
			live[i] = live[n-1]
			live = live[:n-1]
		} else {
			f := randomFlow(r, channels, trial%2 == 0)
			id, err := s.Add(f.data, f.reverse, f.bound, f.share)
			if err != nil {
				t.Error(err)
				return
			}
			live = append(live, id)
		}
		s.Solve(nil)
	}
}

// 100,000 flows, or a fifth in the short form, come at once to 1,024 hosts in 32 racks. The rates are certified then, and after
// each of two hundredths of the flows has gone.
func TestRatesOfManyFlowsAreMaxMin(t *testing.T) {
	const racks, hosts = 32, 32
	count := 20000
	if tooltest.Long() {
		count = 100000
	}
	capacity := treeCapacity(racks, hosts, 100*hosts)
	for _, sharing := range append(sharings, Sharing{Tolerance: 0.001}) {
		r := rand.New(rand.NewPCG(1, 22))
		s, err := NewSolver(capacity, &sharing)
		if err != nil {
			t.Fatal(err)
		}
		live := map[int]testFlow{}
		for range count {
			addTestFlow(t, s, live, treeFlow(r, racks, hosts))
		}
		for step := range 3 {
			s.Solve(nil)
			if err := certify(s, capacity, live, 1e-8+2*sharing.Tolerance); err != nil {
				t.Fatalf("sharing %+v, step %d: %v", sharing, step, err)
			}
			for range count / 100 {
				id := r.IntN(count)
				if _, isLive := live[id]; isLive {
					s.Remove(id)
					delete(live, id)
				}
			}
		}
	}
}

// Rates are exact again once a crowd has gone, whose rates were not. Flows leave one by one.
func TestRatesAreExactAfterACrowd(t *testing.T) {
	const racks, hosts, count = 16, 8, crowd + 100
	capacity := treeCapacity(racks, hosts, 100)
	for _, sharing := range sharings {
		r := rand.New(rand.NewPCG(1, 25))
		s, err := NewSolver(capacity, &sharing)
		if err != nil {
			t.Fatal(err)
		}
		live := map[int]testFlow{}
		for range count {
			addTestFlow(t, s, live, treeFlow(r, racks, hosts))
		}
		for id := range count {
			if s.relax(); !s.crowded {
				break
			}
			s.Solve(nil)
			s.Remove(id)
			delete(live, id)
		}
		if s.underWay() < count/2 {
			t.Fatalf("sharing %+v: %d flows are a crowd", sharing, s.underWay())
		}
		s.Solve(nil)
		if err := certify(s, capacity, live, 1e-8); err != nil {
			t.Errorf("sharing %+v: after the crowd: %v", sharing, err)
		}
	}
}

// Two channels tie within a tolerance, and the one that is a little lower leaves the flow of both to the other. Without
// the tolerance, it takes the flow over.
func TestTiesWithinATolerance(t *testing.T) {
	s, err := NewSolver([]float64{99, 200}, nil)
	if err != nil {
		t.Fatal(err)
	}
	s.tolerate(0.001)
	both, other := testFlow{data: []int32{0, 1}, bound: math.Inf(1), share: 1}, testFlow{data: []int32{1}, bound: math.Inf(1), share: 1}
	live := map[int]testFlow{}
	addTestFlow(t, s, live, both)
	addTestFlow(t, s, live, other)
	s.Solve(nil)
	if err := s.SetCapacity(0, 100.04); err != nil {
		t.Fatal(err)
	}
	s.Solve(nil)
	if got, want := s.Rate(0), 100.04; !near(got, want, 1e-9) {
		t.Errorf("with a tolerance the flow of both runs at %g, want %g", got, want)
	}
	s.tolerate(0)
	s.main.refine()
	s.Solve(nil)
	for flow := range 2 {
		if got, want := s.Rate(flow), 100.0; !near(got, want, 1e-9) {
			t.Errorf("without one, flow %d runs at %g, want %g", flow, got, want)
		}
	}
}

func addTestFlow(t *testing.T, s *Solver, live map[int]testFlow, f testFlow) {
	t.Helper()
	id, err := s.Add(f.data, f.reverse, f.bound, f.share)
	if err != nil {
		t.Fatal(err)
	}
	live[id] = f
}

// Proof that certify can fail: a rate that is halved has no bottleneck, one that is doubled
// fills its channel beyond its capacity.
func TestCertifyRefusesWrongRates(t *testing.T) {
	for _, factor := range []float64{0.5, 2} {
		s, err := NewSolver([]float64{100}, nil)
		if err != nil {
			t.Fatal(err)
		}
		live := map[int]testFlow{}
		addTestFlow(t, s, live, testFlow{data: []int32{0}, bound: math.Inf(1), share: 1})
		s.Solve(nil)
		s.main.channels[0].level *= factor
		if certify(s, []float64{100}, live, 1e-8) == nil {
			t.Errorf("rates times %g are certified", factor)
		}
	}
}
