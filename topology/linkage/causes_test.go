package linkage_test

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/topocast/topocast/topology"
	"github.com/topocast/topocast/topology/linkage"
	"gonum.org/v1/gonum/mat"
)

// A cause is a small machine that shows one way to go wrong.
type cause struct {
	name        string
	hosts       int
	latency     func(i, j int) float64 // us
	noise       float64                // relative standard deviation of a measurement
	repetitions int
	tick        float64                // us: measurements are multiples of it; 0: exact
	jitter      func(i, j int) float64 // us: mean of an exponential time that each measurement has more; nil: none
	groups      [][]int                // that must be found
	misses      int                    // draws of all in which one of them may be missed: too noisy to tell
	needs       string                 // a correction without which more are missed, or a confident group does not exist
}

// TestSmallestMachinesOfEachCause draws noise on machines that came out wrong. No group that
// does not exist may be confident.
func TestSmallestMachinesOfEachCause(t *testing.T) {
	const draws = 24
	// 1 us between two ranks of a host, 10 us on one rail, 20 us from rail to rail.
	rails := func(i, j int) float64 {
		switch {
		case i/2 == j/2:
			return 1
		case i%2 == j%2:
			return 10
		}
		return 20
	}
	// Racks of as many hosts, 1 us inside and 1.35 us from rack to rack.
	racks := func(size int) func(i, j int) float64 {
		return func(i, j int) float64 {
			if i/size == j/size {
				return 1
			}
			return 1.35
		}
	}
	// Noise of what the last host measures hides the racks.
	farFromAll := func(of func(i, j int) float64, last int, us float64) func(i, j int) float64 {
		return func(i, j int) float64 {
			if max(i, j) == last {
				return us
			}
			return of(i, j)
		}
	}
	slower := func(of func(i, j int) float64, host int, us float64) func(i, j int) float64 {
		return func(i, j int) float64 {
			if i == host || j == host {
				return of(i, j) + us
			}
			return of(i, j)
		}
	}
	ticks := func(i, j int) float64 {
		if i/20 == j/20 {
			return 32
		}
		return 64
	}
	// Hosts with a daemon on their first of four cores: 0.5 us in a host, 2 us from host to host, 2.4 us for a first core.
	firstCores := func(i, j int) float64 {
		us := 2.0
		if i/4 == j/4 {
			us = 0.5
		}
		for _, h := range []int{i, j} {
			if h%4 == 0 {
				us += 2.4
			}
		}
		return us
	}
	// Racks of 31 and 5 hosts, and three of one host.
	unevenRack := func(h int) int {
		switch {
		case h < 31:
			return 0
		case h < 36:
			return 1
		}
		return h
	}
	unevenRacks := func(i, j int) float64 {
		if unevenRack(i) == unevenRack(j) {
			return 2.6
		}
		return 4
	}
	// Three racks of eight desktops, and two wireless ones.
	wireless := func(h int) float64 {
		if h >= 24 {
			return 2000
		}
		return 0
	}
	desktops := func(i, j int) float64 {
		if i/8 == j/8 && i < 24 && j < 24 {
			return 120
		}
		return 200 + wireless(i) + wireless(j)
	}
	// Three racks of 12; hosts 3 and 16 have slow interfaces whose noise hides in which rack they are.
	noisy := func(h int) float64 {
		if h == 3 || h == 16 {
			return 1000
		}
		return 0
	}
	noisyInRacks := func(i, j int) float64 {
		us := 200 + noisy(i) + noisy(j)
		if i/12 == j/12 {
			us -= 80
		}
		return us
	}
	// The messages of host 3 take longer, each by another time. This noise is larger than the step between racks, so
	// that any rack may be its own.
	hostJitter := func(us float64) func(i, j int) float64 {
		return func(i, j int) float64 {
			if i == 3 || j == 3 {
				return us
			}
			return 0
		}
	}
	// Sites at places in the plane, 0.1 ms in a site.
	siteOf := func(h int) int {
		return slices.IndexFunc([]int{5, 13, 15, 27, 30}, func(end int) bool { return h < end })
	}
	sites := func(i, j int) float64 {
		a, b := siteOf(i), siteOf(j)
		if a == b {
			return 0.1
		}
		x, y := []float64{9, 7, 14, 3, 14}, []float64{4, 15, 13, 1, 8}
		return 0.5 + math.Hypot(x[a]-x[b], y[a]-y[b])
	}
	// Groups of three hosts, two groups to a rack. A detour delays one pair of a group.
	detour := func(i, j int) float64 {
		switch {
		case min(i, j) == 0 && max(i, j) == 2:
			return 47
		case i/3 == j/3:
			return 10
		case i/6 == j/6:
			return 14
		}
		return 27
	}
	for _, c := range []cause{
		{name: "a detour in a group of three", hosts: 36, latency: detour, noise: 0.02, repetitions: 1, groups: slices.Concat(consecutive(36, 3), consecutive(36, 6))},
		{name: "the first of four cores is slow", hosts: 40, latency: firstCores, noise: 0.02, repetitions: 1, groups: consecutive(40, 4)},
		{name: "a host alone in its rack, beside a large one", hosts: 39, latency: unevenRacks, noise: 0.01, repetitions: 3, groups: [][]int{consecutive(31, 31)[0], {31, 32, 33, 34, 35}}},
		{name: "hosts with much noise of their own", hosts: 26, latency: desktops, noise: 0.02, repetitions: 3, groups: consecutive(24, 8), misses: 7, needs: "hosts set aside", jitter: func(i, j int) float64 { return 0.2 * (wireless(i) + wireless(j)) }},
		{name: "noise hides in which rack a host is", hosts: 36, latency: noisyInRacks, noise: 0.02, repetitions: 3, groups: consecutive(36, 12), misses: 1, jitter: func(i, j int) float64 { return 0.2 * (noisy(i) + noisy(j)) }},
		{name: "a slow host with much noise in one of five racks", hosts: 40, latency: slower(racks(8), 3, 16), noise: 0.02, repetitions: 3, groups: consecutive(40, 8), misses: 24, jitter: hostJitter(6)},
		{name: "a host with much noise in one of three racks", hosts: 24, latency: racks(8), noise: 0.02, repetitions: 1, groups: consecutive(24, 8), misses: 24, needs: "lone hosts", jitter: hostJitter(4)},
		{name: "sites far from each other", hosts: 30, latency: sites, noise: 0.01, repetitions: 1, groups: [][]int{{0, 1, 2, 3, 4}, {5, 6, 7, 8, 9, 10, 11, 12}, {13, 14}, {15, 16, 17, 18, 19, 20, 21, 22, 23, 24, 25, 26}, {27, 28, 29}}},
		{name: "two ranks of a host on two rails, exact", hosts: 6, latency: rails, repetitions: 1, groups: consecutive(6, 2)},
		{name: "two ranks of a host on two rails", hosts: 6, latency: rails, noise: 0.03, repetitions: 1, groups: consecutive(6, 2)},
		{name: "eight hosts on two rails", hosts: 16, latency: rails, noise: 0.03, repetitions: 1, groups: consecutive(16, 2)},
		{name: "a host at 20 us from all", hosts: 9, latency: farFromAll(racks(4), 8, 20), noise: 0.02, repetitions: 1, groups: consecutive(8, 4), misses: 6},
		{name: "a host at 10 us from all", hosts: 65, latency: farFromAll(racks(8), 64, 10), noise: 0.03, repetitions: 1, groups: consecutive(64, 8), misses: 3, needs: "hosts set aside"},
		{name: "a host slower by 9 us", hosts: 64, latency: slower(racks(8), 11, 9), noise: 0.03, repetitions: 1, groups: consecutive(64, 8), misses: 6},
		{name: "one tick of the clock, hardly any exception", hosts: 79, latency: ticks, noise: 0.1, repetitions: 4, tick: 32, groups: consecutive(79, 20)},
		{name: "one tick of the clock, exceptions", hosts: 79, latency: ticks, noise: 0.15, repetitions: 4, tick: 32, groups: consecutive(79, 20)},
	} {
		misses, invented := c.try(t, &linkage.Robust{}, draws)
		if invented != nil {
			t.Errorf("%s: confident group %v, which does not exist", c.name, invented)
		}
		if misses > c.misses {
			t.Errorf("%s: in %d of %d draws a group was missed, want %d at most", c.name, misses, draws, c.misses)
		}
		if c.needs != "" {
			if misses, invented := c.try(t, linkage.Without(c.needs), draws); misses <= c.misses && invented == nil {
				t.Errorf("%s: right without %s, too", c.name, c.needs)
			}
		}
	}
}

// try counts the draws in which the method misses a group, and returns the last confident group that does not exist.
func (c *cause) try(t *testing.T, method *linkage.Robust, draws int) (misses int, invented []int) {
	for seed := range uint64(draws) {
		r, err := method.Reconstruct(c.measure(seed)...)
		if err != nil {
			t.Fatal(err)
		}
		found := 0
		for _, g := range r.Hierarchy.Groups()[1:] {
			exists := slices.ContainsFunc(c.groups, func(hosts []int) bool { return slices.Equal(hosts, g.Hosts) })
			switch {
			case exists:
				found++
			case g.Confidence >= topology.ConfidentFrom:
				invented = g.Hosts
			}
		}
		if found < len(c.groups) {
			misses++
		}
	}
	return misses, invented
}

// namedFamily is the family of that name.
func namedFamily(name string) family {
	all := families()
	return all[slices.IndexFunc(all, func(f family) bool { return f.Name == name })]
}

// TestMachinesThatNeedACorrection: each correction has a machine that comes out right with it, and wrong
// without it. Those of "hosts set aside" and "lone hosts" are in TestSmallestMachinesOfEachCause,
// which draws them more than once.
func TestMachinesThatNeedACorrection(t *testing.T) {
	type machine struct {
		correction, family string
		instance           int
		missed             int // groups that are not found with all corrections, either
	}
	machines := []machine{
		{"slow hosts", "slow-hosts-added", 0, 0},
		{"unequal links", "unequal-inner", 3, 0},
		{"hosts moved", "cloud-zones", 7, 0},
		{"elimination", "coarse-clock-tree", 67, 0},
		{"missing pairs", "holes-pairs", 4, 0},
		{"siblings", "endpoint-tails", 5, 0},
	}
	for _, m := range machines {
		f := namedFamily(m.family)
		right := func(s familyScore) bool { return s.demanded-s.found <= m.missed && s.confidentFalse == 0 }
		if s := scoreMachine(&linkage.Robust{}, f, m.instance); !right(s) {
			t.Errorf("with all corrections: %s", s.wrong)
		}
		if s := scoreMachine(linkage.Without(m.correction), f, m.instance); right(s) {
			t.Errorf("%s %d is right without %s, too", m.family, m.instance, m.correction)
		}
	}
	for _, c := range linkage.Corrections() {
		if c != "hosts set aside" && c != "lone hosts" && !slices.ContainsFunc(machines, func(m machine) bool { return m.correction == c }) {
			t.Errorf("%s has no machine that needs it", c)
		}
	}
}

// TestHostsOutsideAreNotSlow: six racks of nine hosts, of which some have cards that make every message longer. The
// slower card of two decides, so that between two such hosts it counts once. Taken for slow hosts, whose times add
// up, they would be put next to each other, and racks would be lost.
func TestHostsOutsideAreNotSlow(t *testing.T) {
	const hosts, size = 54, 9
	for _, slower := range []int{3, 6} { // hosts with such cards, each the first of its rack
		for _, us := range []float64{2, 5} {
			for seed := range uint64(6) {
				rng := rand.New(rand.NewPCG(seed, 7))
				m := mat.NewDense(hosts, hosts, nil)
				for i := range hosts {
					for j := range i {
						x := 1.5
						if i/size == j/size {
							x = 1
						}
						if i%size == 0 && i/size < slower || j%size == 0 && j/size < slower {
							x += us
						}
						x *= 1e-6 * math.Exp(0.02*rng.NormFloat64())
						m.Set(i, j, x)
						m.Set(j, i, x)
					}
				}
				r, err := linkage.Reconstruct(m)
				if err != nil {
					t.Fatal(err)
				}
				found := 0
				for _, g := range r.Hierarchy.Groups()[1:] {
					switch {
					case len(g.Hosts) >= size-1 && g.Hosts[0]/size == g.Hosts[len(g.Hosts)-1]/size:
						found++ // with its slower host or without
					case g.Confident():
						t.Errorf("%d cards slower by %g us, seed %d: confident group %v, which does not exist", slower, us, seed, g.Hosts)
					}
				}
				if found != hosts/size {
					t.Errorf("%d cards slower by %g us, seed %d: %d racks found, want %d", slower, us, seed, found, hosts/size)
				}
			}
		}
	}
}

// TestHostsBesideBlocksAreLeftAsTheyAre: links of hosts are unequal, and some hosts are on inner switches. The fitted link of
// such a host holds the uplink, too. Were it made as long as those of its neighbours in racks, racks would be lost.
func TestHostsBesideBlocksAreLeftAsTheyAre(t *testing.T) {
	for _, instance := range []int{12, 19} {
		if s := scoreMachine(&linkage.Robust{}, namedFamily("unequal-inner"), instance); s.right == 0 {
			t.Error(s.wrong)
		}
	}
}

// TestHostsMoveBeforeAndAfterLinksAreUnequal: links have long tails, and a host with a long one is proposed beside its rack.
// Its link can be told only in its rack (endpoint-tails 10), or its rack only when the links of others are told (all-at-once
// 34). A host on an inner switch is near to all racks, and belongs to none (unequal-inner 21). In each case a confident
// group would be false.
func TestHostsMoveBeforeAndAfterLinksAreUnequal(t *testing.T) {
	for family, instance := range map[string]int{"endpoint-tails": 10, "all-at-once": 34, "unequal-inner": 21} {
		if s := scoreMachine(&linkage.Robust{}, namedFamily(family), instance); s.confidentFalse > 0 {
			t.Error(s.wrong)
		}
	}
}

// measure draws the repetitions.
func (c *cause) measure(seed uint64) []mat.Matrix {
	rng := rand.New(rand.NewPCG(seed, 37))
	var all []mat.Matrix
	for range c.repetitions {
		m := mat.NewDense(c.hosts, c.hosts, nil)
		for i := range c.hosts {
			for j := range c.hosts {
				if i != j {
					x := c.latency(i, j) * math.Exp(c.noise*rng.NormFloat64())
					if c.jitter != nil {
						x += c.jitter(i, j) * rng.ExpFloat64()
					}
					if c.tick > 0 {
						x = c.tick * math.Round(x/c.tick)
					}
					m.Set(i, j, 1e-6*x)
				}
			}
		}
		all = append(all, m)
	}
	return all
}

// consecutive divides hosts 0 to n-1 into groups of equal size.
func consecutive(n, size int) [][]int {
	var groups [][]int
	for k := range n {
		if k%size == 0 {
			groups = append(groups, nil)
		}
		groups[k/size] = append(groups[k/size], k)
	}
	return groups
}
