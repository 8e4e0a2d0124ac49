package linkage_test

import (
	"math"
	"slices"
	"testing"
)

func near(a, b float64) bool { return math.Abs(a-b) <= 1e-12*max(math.Abs(a), math.Abs(b)) }

// The latencies are sums over the ways, by hand.
func TestLatenciesByHand(t *testing.T) {
	type pair struct {
		i, j int
		want float64
	}
	for _, tt := range []struct {
		name   string
		l      *layout
		pairs  []pair
		groups [][]int
		steps  []float64
	}{
		{
			"two racks of two leaves of two", even([]int{2, 2, 2}, []float64{3, 2, 1}).layout(),
			[]pair{{0, 1, 1}, {0, 2, 2}, {1, 3, 2}, {3, 4, 3}, {0, 7, 3}},
			[][]int{{0, 1, 2, 3}, {4, 5, 6, 7}, {0, 1}, {2, 3}, {4, 5}, {6, 7}},
			[]float64{1.5, 1.5, 2, 2, 2, 2},
		},
		{
			"a host on the inner switch, and one on the root",
			(&node{level: 4, hosts: 1, kids: []*node{{level: 2, hosts: 1, kids: []*node{{level: 1, hosts: 2}}}}}).layout(),
			[]pair{{0, 1, 4}, {0, 3, 4}, {1, 2, 2}, {1, 3, 2}, {2, 3, 1}},
			[][]int{{1, 2, 3}, {2, 3}},
			[]float64{2, 2},
		},
		{
			"a chain of three switches, links of hosts 1 and of switches 0.5", lattice([]int{3}, false, 2, 1, 0.5).layout(),
			[]pair{{0, 1, 2}, {1, 2, 2.5}, {0, 5, 3}},
			[][]int{{0, 1}, {2, 3}, {4, 5}},
			[]float64{1.25, 1.25, 1.25},
		},
		{
			"a ring of five hosts", lattice([]int{5}, true, 1, 1, 0.5).layout(),
			[]pair{{0, 1, 2.5}, {0, 2, 3}, {0, 3, 3}, {0, 4, 2.5}},
			nil, nil,
		},
		{
			"a mesh of three times three hosts", lattice([]int{3, 3}, false, 1, 1, 0.5).layout(),
			[]pair{{0, 1, 2.5}, {0, 3, 2.5}, {0, 4, 3}, {2, 6, 4}},
			nil, nil,
		},
		{
			// Global links join routers 0 and 2, 1 and 4, 3 and 5, which have a host each.
			"a dragonfly of three groups of two routers", dragonfly(3, 2, 1, 1, 1, 0.5, 2).layout(),
			[]pair{{0, 1, 2.5}, {0, 2, 4}, {1, 2, 4.5}, {0, 3, 4.5}, {1, 3, 5}, {1, 4, 4}, {3, 5, 4}, {0, 5, 5}},
			[][]int{{0, 1}, {2, 3}, {4, 5}},
			[]float64{1.6, 1.6, 1.6},
		},
		{
			"two chassis of two routers", cascade(1, 2, 2, 1, 1, 0.5, 0.75, 9).layout(),
			[]pair{{0, 1, 2.5}, {0, 2, 2.75}, {1, 3, 2.75}, {0, 3, 3.25}},
			[][]int{{0, 1}, {2, 3}},
			[]float64{1.1, 1.1},
		},
		{
			"points three, four and five apart", points([][]float64{{0, 0}, {3, 0}, {3, 4}}, 1, 2),
			[]pair{{0, 1, 7}, {1, 2, 9}, {0, 2, 11}},
			nil, nil,
		},
	} {
		for _, p := range tt.pairs {
			if got := tt.l.at(p.i, p.j); !near(got, p.want) || got != tt.l.at(p.j, p.i) {
				t.Errorf("%s: hosts %d and %d are %g apart, want %g", tt.name, p.i, p.j, got, p.want)
			}
		}
		groups := tt.l.distinct()
		if !slices.EqualFunc(groups, tt.groups, slices.Equal) {
			t.Errorf("%s: groups %v, want %v", tt.name, groups, tt.groups)
			continue
		}
		for k, g := range groups {
			if inside, outside := tt.l.margins(g); !near(outside/inside, tt.steps[k]) {
				t.Errorf("%s: step %g of %v, want %g", tt.name, outside/inside, g, tt.steps[k])
			}
		}
	}
}

func TestHostsAreNumberedAsDealt(t *testing.T) {
	l := even([]int{2, 3}, []float64{2, 1}).layout()
	l.order = cyclic
	l.offsets()[3] = 7 // first host of the second group
	l.number(testDraw())
	if want := [][]int{{0, 2, 4}, {1, 3, 5}}; !slices.EqualFunc(l.distinct(), want, slices.Equal) {
		t.Errorf("groups %v, want %v", l.distinct(), want)
	}
	if l.at(0, 2) != 1 || l.at(0, 1) != 2 || l.offset[1] != 7 {
		t.Errorf("latencies %v and offsets %v did not move with the hosts", l.latency, l.offset)
	}
	l = even([]int{4, 5}, []float64{2, 1}).layout()
	l.order = shuffled
	l.number(testDraw())
	for _, g := range l.distinct() {
		if inside, outside := l.margins(g); inside != 1 || outside != 2 {
			t.Errorf("shuffled: group %v has %g inside and %g outside, want 1 and 2", g, inside, outside)
		}
	}
}

// Every two seats meet in one round, and no seat twice in a round.
func TestCircleMethod(t *testing.T) {
	for _, n := range []int{2, 3, 8, 9} {
		met := map[[2]int]bool{}
		for a := range n {
			for b := range a {
				r := meeting(a, b, n)
				if r != meeting(b, a, n) || r < 0 || r >= n-1+n%2 {
					t.Fatalf("%d seats: %d and %d meet in round %d", n, a, b, r)
				}
				if met[[2]int{r, a}] || met[[2]int{r, b}] {
					t.Errorf("%d seats: %d or %d sits twice in round %d", n, a, b, r)
				}
				met[[2]int{r, a}], met[[2]int{r, b}] = true, true
			}
		}
	}
}

// factors are the measurements of one switch over its latency, both directions.
func factors(m *measurement) []float64 {
	const n = 200
	l := flat(n, 2e-6)
	var out []float64
	for _, r := range m.read(testDraw(), l) {
		for i := range n {
			for j := range n {
				if i != j {
					out = append(out, r.At(i, j)/2e-6)
				}
			}
		}
	}
	return out
}

func moments(xs []float64) (mean, sigma float64) {
	for _, x := range xs {
		mean += x / float64(len(xs))
	}
	for _, x := range xs {
		sigma += (x - mean) * (x - mean) / float64(len(xs))
	}
	return mean, math.Sqrt(sigma)
}

// Noise has the size that is asked for: 80,000 measurements give it within some per cent.
func TestNoiseHasItsSize(t *testing.T) {
	share := func(xs []float64, f func(x float64) bool) float64 {
		count := 0.0
		for _, x := range xs {
			if f(x) {
				count++
			}
		}
		return count / float64(len(xs))
	}
	within := func(name string, got, want, tolerance float64) {
		t.Helper()
		if !(math.Abs(got-want) <= tolerance) {
			t.Errorf("%s: %g, want %g within %g", name, got, want, tolerance)
		}
	}
	mean, sigma := moments(factors(noisy(0.05, 2)))
	within("mean", mean, 1, 0.001)
	within("sigma", sigma, 0.05, 0.001)
	m := noisy(0, 2)
	m.outliers = 0.02
	within("outliers", share(factors(m), func(x float64) bool { return x >= leastOutlier && x <= mostOutlier }), 0.02, 0.002)
	m = noisy(0, 2)
	m.tail = func(d *draw) float64 { return 0.1 * d.ExpFloat64() }
	mean, sigma = moments(factors(m)) // both are 0.1, above 1
	within("mean of a tail", mean, 1.1, 0.003)
	within("sigma of a tail", sigma, 0.1, 0.003)
	m = noisy(0.1, 1)
	m.tick = 0.3e-6
	for _, x := range factors(m) {
		if ticks := x * 2e-6 / m.tick; math.Abs(ticks-math.Round(ticks)) > 1e-9 {
			t.Fatalf("measurement of %g ticks", ticks)
		}
	}
	m = noisy(0, 2)
	m.slowRounds = 0.3
	within("slow rounds", share(factors(m), func(x float64) bool { return x >= 1.2 && x < 2 }), 0.3, 0.08) // of 398 rounds
	m = noisy(0, 2)
	m.drift = func(t float64) float64 { return 1 + t }
	within("last round of a drift", slices.Max(factors(m)), 2, 0.01)
	within("first round of a drift", slices.Min(factors(m)), 1, 1e-9)
	l := flat(200, 1)
	spread(testDraw(), l, 0.2)
	var logs []float64
	for i := range l.n {
		for j := range i {
			logs = append(logs, math.Log(l.pair[i*l.n+j]))
		}
	}
	mean, sigma = moments(logs)
	within("mean of ln of a spread", mean, 0, 0.01)
	within("sigma of ln of a spread", sigma, 0.2, 0.005)
}

// The directions of a pair are read apart, unless one measurement counts for both.
func TestDirectionsAreReadApart(t *testing.T) {
	for _, mirrored := range []bool{false, true} {
		m := noisy(0.05, 2)
		m.mirrored = mirrored
		l := flat(40, 1e-6)
		reps := m.read(testDraw(), l)
		for i := range l.n {
			for j := range i {
				if r := reps[0]; (r.At(i, j) == r.At(j, i)) != mirrored || r.At(i, j) == reps[1].At(i, j) {
					t.Fatalf("mirrored %v: hosts %d and %d: %g there, %g back, %g again", mirrored, i, j, r.At(i, j), r.At(j, i), reps[1].At(i, j))
				}
			}
		}
	}
}

// What is wrong with hosts and pairs reaches the measurements: (2 + 1 + 0) times 3 times 5.
func TestMeasurementsOfFaultyHosts(t *testing.T) {
	l := flat(3, 2)
	l.offsets()[0] = 1
	l.factors()[1] = 3
	l.pairs()[0*3+1] = 5
	r := noisy(0, 1).read(testDraw(), l)[0]
	for _, tt := range []struct {
		i, j int
		want float64
	}{{0, 1, 45}, {1, 0, 9}, {0, 2, 3}, {1, 2, 6}, {2, 1, 6}} {
		if got := r.At(tt.i, tt.j); got != tt.want {
			t.Errorf("measurement of %d and %d is %g, want %g", tt.i, tt.j, got, tt.want)
		}
	}
}

func TestHiddenGroups(t *testing.T) {
	l := even([]int{4, 3}, []float64{2, 1.5}).layout()
	missing := make([]bool, l.n*l.n)
	leave := func(i, j int) { missing[i*l.n+j], missing[j*l.n+i] = true, true }
	leave(0, 1) // host 0 is joined to its group by a pair less than two
	for h := 6; h < 11; h++ {
		leave(h, 11) // host 11 by none, and apart from all but three outside
	}
	for k, want := range []bool{false, true, true, false} {
		if got := l.told(l.groups[k], missing); got != want {
			t.Errorf("group %v told: %v, want %v", l.groups[k], got, want)
		}
	}
	for _, tt := range []struct {
		name string
		m    measurement
		want bool
	}{
		{"exact", measurement{}, false},
		{"a tick of a quarter of the step", measurement{tick: 0.125}, false},
		{"a tick as large as the step", measurement{tick: 0.5}, true},
		// Two others, two directions: a standard error of 0.1 / 2 of 1.5 s is 0.075 s.
		{"noise of a seventh of the step", measurement{sigma: 0.1}, false},
		{"noise of a quarter of the step", measurement{sigma: 0.16}, true},
	} {
		if got := tt.m.drowned(l, l.groups[0], 1.5, 2); got != tt.want {
			t.Errorf("%s: drowned: %v, want %v", tt.name, got, tt.want)
		}
	}
	l.offsets()[1] = 2 // its measurements have 3.5 s and noise of them
	if m := noisy(0.1, 1); !m.drowned(l, l.groups[0], 1.5, 2) || m.drowned(l, l.groups[1], 1.5, 2) {
		t.Error("the overhead of host 1 hides its group, and no other")
	}
}

// Pairs are left out at the share that is said: at most 40 %, both directions.
func TestGapsHaveTheirSize(t *testing.T) {
	for _, f := range gaps() {
		for instance := range 10 {
			m := f.machine(instance)
			holes := 0
			for i := range m.Hosts {
				for j := range i {
					hole := math.IsNaN(m.Repetitions[0].At(i, j))
					if hole != math.IsNaN(m.Repetitions[0].At(j, i)) {
						t.Fatalf("%s %d: one direction of %d and %d is missing", f.Name, instance, i, j)
					}
					if hole {
						holes++
					}
				}
			}
			share := float64(holes) / float64(m.Hosts*(m.Hosts-1)/2)
			if share > 0.45 || holes == 0 {
				t.Errorf("%s %d: %.2f of the pairs are missing", f.Name, instance, share)
			}
		}
	}
}
