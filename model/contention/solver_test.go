package contention

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"
)

var nan = math.NaN()

// near tells whether two values agree to a relative tolerance.
func near(got, want, tolerance float64) bool {
	return got == want || math.Abs(got-want) <= tolerance*math.Max(math.Abs(got), math.Abs(want))
}

// testFlow is a flow as given to Add.
type testFlow struct {
	data, reverse []int32
	bound, share  float64
}

// slowRates is progressive filling as the doc of Solver writes it down, round
// by round over everything; with a Coupling between 0 and 1 three times over, as Sharing has it.
func slowRates(capacity []float64, flows []testFlow, s Sharing) []float64 {
	if s.Coupling == 0 || s.Coupling == 1 {
		rates, _ := slowFilling(capacity, flows, s)
		return rates
	}
	fair, _ := slowFilling(capacity, flows, Sharing{})
	asymmetric, stops := slowFilling(capacity, flows, s)
	bounded := slices.Clone(flows)
	for i, f := range flows {
		onItsPath := slices.ContainsFunc(stops[i], func(c int) bool { return slices.Contains(f.data, int32(c)) })
		if len(stops[i]) > 0 && !onItsPath {
			mixed := math.Pow(fair[i], 1-s.Coupling) * math.Pow(asymmetric[i], s.Coupling)
			bounded[i].bound = math.Min(f.bound, mixed)
		}
	}
	rates, _ := slowFilling(capacity, bounded, Sharing{})
	return rates
}

// slowFilling also tells which channels are used up when a flow stops.
func slowFilling(capacity []float64, flows []testFlow, s Sharing) (rates []float64, stops [][]int) {
	levels := make([]float64, len(flows))
	stops = make([][]int, len(flows))
	rising := make([]bool, len(flows))
	used := make([]float64, len(capacity))
	left := len(flows)
	for i := range rising {
		rising[i] = true
	}
	weight := func(f testFlow, c int) float64 {
		w := 0.0
		if slices.Contains(f.data, int32(c)) {
			w += f.share
		}
		if s.Coupling > 0 && slices.Contains(f.reverse, int32(c)) {
			w += s.AckWeight * f.share
		}
		return w
	}
	isMember := func(f testFlow, c int) bool {
		return slices.Contains(f.data, int32(c)) || s.Coupling > 0 && slices.Contains(f.reverse, int32(c))
	}
	for left > 0 {
		level := make([]float64, len(capacity))
		least := math.Inf(1)
		for c := range capacity {
			w := 0.0
			for i, f := range flows {
				if rising[i] {
					w += weight(f, c)
				}
			}
			level[c] = math.Inf(1)
			if w > 0 {
				level[c] = math.Max(0, capacity[c]-used[c]) / w
			}
			least = math.Min(least, level[c])
		}
		for i, f := range flows {
			if rising[i] {
				least = math.Min(least, f.bound/f.share)
			}
		}
		var stop []int
		for i, f := range flows {
			if !rising[i] {
				continue
			}
			stopped := f.bound/f.share <= least*(1+1e-9)
			for c := range capacity {
				if level[c] <= least*(1+1e-9) && isMember(f, c) {
					stopped = true
					stops[i] = append(stops[i], c)
				}
			}
			if stopped {
				stop = append(stop, i)
			}
		}
		for _, i := range stop {
			rising[i] = false
			levels[i] = least
			left--
			for c := range capacity {
				used[c] += weight(flows[i], c) * least
			}
		}
	}
	for i := range levels {
		levels[i] *= flows[i].share
	}
	return levels, stops
}

// randomFlow picks a few data channels and other reverse ones. Few distinct
// capacities and shares make many ties.
func randomFlow(r *rand.Rand, channels int, plain bool) testFlow {
	order := r.Perm(channels)
	d, v := 1+r.IntN(min(4, channels)), r.IntN(4)
	f := testFlow{bound: math.Inf(1), share: 1}
	for _, c := range order[:d] {
		f.data = append(f.data, int32(c))
	}
	for _, c := range order[d:min(d+v, channels)] {
		f.reverse = append(f.reverse, int32(c))
	}
	if !plain && r.IntN(3) == 0 {
		f.bound = float64(1+r.IntN(5)) * 7
	}
	if !plain && r.IntN(3) == 0 {
		f.share = []float64{0.5, 1, 2}[r.IntN(3)]
	}
	return f
}

func randomCapacities(r *rand.Rand, channels int) []float64 {
	capacity := make([]float64, channels)
	for c := range capacity {
		capacity[c] = []float64{100, 100, 100, 250, 1000, 33.7}[r.IntN(6)]
	}
	return capacity
}

var sharings = []Sharing{{}, {Coupling: 1}, {Coupling: 1, AckWeight: 0.05}, {Coupling: 1, AckWeight: 0.5}}

// treeFlow is between two hosts of a tree of racks: up, to the other rack and down, and back
// for its acknowledgements. Channels of one host or rack alternate between up and down. Many of them
// carry the same flows, and so are used up together.
func treeFlow(r *rand.Rand, racks, hosts int) testFlow {
	f := testFlow{bound: math.Inf(1), share: []float64{1, 1, 1, 0.6}[r.IntN(4)]}
	src := r.IntN(racks * hosts)
	dst := (src + 1 + r.IntN(racks*hosts-1)) % (racks * hosts)
	f.data, f.reverse = []int32{int32(2 * src)}, []int32{int32(2*src + 1)}
	if from, to := racks*hosts+src/hosts, racks*hosts+dst/hosts; from != to {
		f.data = append(f.data, int32(2*from), int32(2*to+1))
		f.reverse = append(f.reverse, int32(2*from+1), int32(2*to))
	}
	f.data, f.reverse = append(f.data, int32(2*dst+1)), append(f.reverse, int32(2*dst))
	return f
}

// treeCapacity are the channels of treeFlow: 100 B/s of each host, and uplinks.
func treeCapacity(racks, hosts int, uplink float64) []float64 {
	capacity := make([]float64, 2*(racks*hosts+racks))
	for c := range capacity {
		capacity[c] = 100
		if c >= 2*racks*hosts {
			capacity[c] = uplink
		}
	}
	return capacity
}

// The flows come together, as those of Solver.Times do, and go one by one.
func TestSolverFollowsFlowsThatEndOnATree(t *testing.T) {
	for trial := range 120 {
		r := rand.New(rand.NewPCG(uint64(trial), 7))
		racks, hosts := 1+r.IntN(4), 2+r.IntN(4)
		capacity := treeCapacity(racks, hosts, []float64{100, 150, 400}[trial%3])
		sharing := sharings[trial%len(sharings)]
		if trial%2 == 0 {
			sharing.Coupling = []float64{0.05, 0.3, 0.7, r.Float64(), 0.95}[trial/2%5]
		}
		s, err := NewSolver(capacity, &sharing)
		if err != nil {
			t.Fatal(err)
		}
		live := map[int]testFlow{}
		for range 2 + r.IntN(30) {
			f := treeFlow(r, racks, hosts)
			id, err := s.Add(f.data, f.reverse, f.bound, f.share)
			if err != nil {
				t.Fatal(err)
			}
			live[id] = f
		}
		for step := 0; len(live) > 0; step++ {
			s.Solve(nil)
			ids := sortedIDs(live)
			flows := make([]testFlow, len(ids))
			for i, id := range ids {
				flows[i] = live[id]
			}
			want := slowRates(capacity, flows, sharing)
			for i, id := range ids {
				if got := s.Rate(id); !near(got, want[i], 1e-8) {
					t.Fatalf("trial %d, step %d, sharing %+v: Rate(%d) = %.12g, want %.12g", trial, step, sharing, id, got, want[i])
				}
			}
			id := ids[r.IntN(len(ids))]
			s.Remove(id)
			delete(live, id)
		}
	}
}

func TestSolverFollowsEveryChange(t *testing.T) {
	for trial := range 400 {
		r := rand.New(rand.NewPCG(uint64(trial), 1))
		channels := 1 + r.IntN(25)
		capacity := randomCapacities(r, channels)
		sharing := sharings[trial%len(sharings)]
		if trial%3 == 0 {
			sharing.Coupling = []float64{0.05, 0.4, r.Float64(), 0.95}[r.IntN(4)]
		}
		s, err := NewSolver(capacity, &sharing)
		if err != nil {
			t.Fatal(err)
		}
		live := map[int]testFlow{}
		reported := map[int]float64{}
		for step := range 60 {
			for range 1 + r.IntN(3) {
				switch k := r.IntN(10); {
				case k < 5 || len(live) == 0:
					f := randomFlow(r, channels, trial%2 == 0)
					id, err := s.Add(f.data, f.reverse, f.bound, f.share)
					if err != nil {
						t.Fatal(err)
					}
					live[id] = f
				case k < 9:
					ids := sortedIDs(live)
					id := ids[r.IntN(len(ids))]
					s.Remove(id)
					delete(live, id)
					delete(reported, id)
				default:
					c := r.IntN(channels)
					capacity[c] = []float64{50, 100, 200}[r.IntN(3)]
					if err := s.SetCapacity(c, capacity[c]); err != nil {
						t.Fatal(err)
					}
				}
			}
			for _, id := range s.Solve(nil) {
				reported[id] = s.Rate(id)
			}
			ids := sortedIDs(live)
			flows := make([]testFlow, len(ids))
			for i, id := range ids {
				flows[i] = live[id]
			}
			want := slowRates(capacity, flows, sharing)
			for i, id := range ids {
				if got := s.Rate(id); !near(got, want[i], 1e-8) {
					t.Fatalf("trial %d, step %d, sharing %+v: Rate(%d) = %.12g, want %.12g", trial, step, sharing, id, got, want[i])
				}
				if !near(reported[id], s.Rate(id), 1e-10) {
					t.Fatalf("trial %d, step %d: last reported rate of %d is %g, but Rate is %g", trial, step, id, reported[id], s.Rate(id))
				}
			}
		}
	}
}

func sortedIDs(m map[int]testFlow) []int {
	var ids []int
	for id := range m {
		ids = append(ids, id)
	}
	slices.Sort(ids)
	return ids
}

// solveAll returns the rates of flows that come all at once.
func solveAll(t testing.TB, capacity []float64, flows []testFlow, s *Sharing) []float64 {
	t.Helper()
	solver, err := NewSolver(capacity, s)
	if err != nil {
		t.Fatal(err)
	}
	rates := make([]float64, len(flows))
	ids := make([]int, len(flows))
	for i, f := range flows {
		if ids[i], err = solver.Add(f.data, f.reverse, f.bound, f.share); err != nil {
			t.Fatal(err)
		}
	}
	solver.Solve(nil)
	for i, id := range ids {
		rates[i] = solver.Rate(id)
	}
	return rates
}

func TestSolverRefuses(t *testing.T) {
	for _, c := range []struct {
		name     string
		capacity []float64
		s        Sharing
	}{
		{"a NaN capacity", []float64{1, nan}, Sharing{}},
		{"a capacity of zero", []float64{0}, Sharing{}},
		{"a negative weight", []float64{1}, Sharing{Coupling: 1, AckWeight: -1}},
		{"a coupling above 1", []float64{1}, Sharing{Coupling: 1.5}},
		{"a coupling of NaN", []float64{1, 1}, Sharing{Coupling: nan}},
	} {
		if _, err := NewSolver(c.capacity, &c.s); err == nil {
			t.Errorf("NewSolver accepts %s", c.name)
		}
	}
	s, _ := NewSolver([]float64{1}, nil)
	for _, f := range []testFlow{
		{data: []int32{1}, bound: 1, share: 1},
		{data: []int32{-1}, bound: 1, share: 1},
		{data: []int32{0}, bound: nan, share: 1},
		{data: []int32{0}, bound: 0, share: 1},
		{data: []int32{0}, bound: 1, share: 0},
	} {
		if _, err := s.Add(f.data, f.reverse, f.bound, f.share); err == nil {
			t.Errorf("Add accepts %+v", f)
		}
	}
}

func TestSolverDoesNotAllocateOnceWarm(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 4))
	capacity := randomCapacities(r, 40)
	s, err := NewSolver(capacity, &Sharing{Coupling: 1, AckWeight: 0.05})
	if err != nil {
		t.Fatal(err)
	}
	flows := make([]testFlow, 60)
	ids := make([]int, len(flows))
	for i := range flows {
		flows[i] = randomFlow(r, 40, true)
	}
	var changed []int
	run := func() {
		for i, f := range flows {
			ids[i], _ = s.Add(f.data, f.reverse, f.bound, f.share)
		}
		changed = s.Solve(changed[:0])
		for _, id := range ids {
			s.Remove(id)
			changed = s.Solve(changed[:0])
		}
	}
	for range 50 {
		run()
	}
	if got := testing.AllocsPerRun(20, run); got != 0 {
		t.Errorf("%g allocations per run of %d flows, want 0", got, len(flows))
	}
}

// By hand: two channels of 100 carry the same four flows, of which a third channel holds one to 10;
// the others have 30 each. Which of the two stops them is open, and stays so when the third
// changes by less than what a channel counts as used up by.
func TestTwoChannelsUsedUpByTheSameFlows(t *testing.T) {
	s, err := NewSolver([]float64{100, 100, 10}, &Sharing{Coupling: 1})
	if err != nil {
		t.Fatal(err)
	}
	var ids []int
	for i := range 4 {
		data := []int32{0, 1}
		if i == 3 {
			data = []int32{0, 1, 2}
		}
		id, err := s.Add(data, nil, math.Inf(1), 1)
		if err != nil {
			t.Fatal(err)
		}
		ids = append(ids, id)
	}
	for _, third := range []float64{10, 10 - 1e-8, 10 + 1e-8, 10, 10 - 3e-9, 4} {
		if err := s.SetCapacity(2, third); err != nil {
			t.Fatal(err)
		}
		s.Solve(nil)
		for i, want := range []float64{(100 - third) / 3, (100 - third) / 3, (100 - third) / 3, third} {
			if got := s.Rate(ids[i]); !near(got, want, 1e-13) {
				t.Errorf("third channel of %.10g: flow %d has %.15g, want %.15g", third, i, got, want)
			}
		}
	}
}

func TestAChannelWithoutLimitGetsOne(t *testing.T) {
	inf := math.Inf(1)
	s, err := NewSolver([]float64{inf, inf}, nil)
	if err != nil {
		t.Fatal(err)
	}
	a, _ := s.Add([]int32{0}, nil, inf, 1)
	b, _ := s.Add([]int32{0, 1}, nil, inf, 1)
	s.Solve(nil)
	for _, c := range []struct {
		capacity []float64
		a, b     float64
	}{{[]float64{100, inf}, 50, 50}, {[]float64{100, 20}, 80, 20}, {[]float64{inf, 20}, inf, 20}, {[]float64{inf, inf}, inf, inf}, {[]float64{60, inf}, 30, 30}} {
		for channel, x := range c.capacity {
			if err := s.SetCapacity(channel, x); err != nil {
				t.Fatal(err)
			}
		}
		s.Solve(nil)
		if s.Rate(a) != c.a || s.Rate(b) != c.b {
			t.Errorf("capacities %v: rates %g and %g, want %g and %g", c.capacity, s.Rate(a), s.Rate(b), c.a, c.b)
		}
	}
}

// A channel without a limit gets one while flows cross it that nothing else stops: they share it.
func TestLimitOfUnlimitedFlows(t *testing.T) {
	for seed := range uint64(500) {
		r := rand.New(rand.NewPCG(seed, 26))
		s, err := NewSolver([]float64{math.Inf(1)}, nil)
		if err != nil {
			t.Fatal(err)
		}
		live := map[int]testFlow{}
		for range 5 {
			f := testFlow{data: []int32{0}, bound: math.Inf(1), share: math.Exp(8*r.Float64() - 4)}
			if r.IntN(4) == 0 {
				f.bound = 10 * r.Float64()
			}
			addTestFlow(t, s, live, f)
			s.Solve(nil)
		}
		if err := s.SetCapacity(0, 4); err != nil {
			t.Fatal(err)
		}
		s.Solve(nil)
		if err := certify(s, []float64{4}, live, 1e-8); err != nil {
			t.Fatalf("seed %d: %v", seed, err)
		}
	}
}
